"""Runs `oc`, or `kubectl` where there is no `oc`, without touching what the person has set up.

Commands get a folder of the caller's for the home and for what they keep. Each has a deadline
of its own and a bound on what it prints. Every failure is an OcError whose text is made to be
shown; it holds no secrets. The person's kubeconfig is only ever copied: see kubeconfig.py.
"""

from __future__ import annotations

import copy
import json
import math
import os
import re
import selectors
import shutil
import signal
import subprocess
import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .._shared.http_answers import maskable, one_line
from .options import API_TOKEN, OFFLINE_TOKEN

PROGRAMS = ("oc", "kubectl")
_POLL = 0.05  # seconds between looks at whether the caller gave up
_CHUNK = 64 * 1024
_MOST_SAID = 64 * 1024  # bytes kept of standard error
_LOG_LINE = re.compile(r"[IWEF]\d{4} \d\d:")  # of the client library, before the error itself
# How the error itself begins; explanations and hints may follow it.
_ERROR = re.compile(r"(?i)error: |Error from server|Unable to connect|The connection to the server")
_NOT_FOUND, _FORBIDDEN = "(NotFound)", "(Forbidden)"


class OcError(Exception):
    """A command did not do its work; the text says which, and why."""


class MissingProgram(OcError):
    """There is neither oc nor kubectl."""


class Cancelled(OcError):
    """The caller gave up."""


class Failed(OcError):
    """The command ended with an exit status but 0.

    said: its own words, one short line. is_not_found: the server has no such thing. is_forbidden:
    it does not tell this user.
    """

    def __init__(self, what: str, status: int, said: str) -> None:
        super().__init__(f"{what} failed with exit status {status}: {said or 'it did not say why'}")
        self.status = status
        self.said = said
        self.is_not_found = _NOT_FOUND in said
        self.is_forbidden = _FORBIDDEN in said


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one command. seconds: until it is ended. output: bytes on its standard output."""

    seconds: float = 20.0
    output: int = 32 * 1024 * 1024


DEFAULT_LIMITS = Limits()


def find(program: str = "") -> str:
    """The path of a program, by default of oc or else kubectl. Raises MissingProgram."""
    for name in (program,) if program else PROGRAMS:
        path = shutil.which(name)
        if path is not None:
            return path
    if program:
        raise MissingProgram(f"{one_line(program)} is not installed or not on PATH")
    raise MissingProgram("there is neither oc nor kubectl on PATH; install one of them")


def check_value(value: str) -> str:
    """Give a value back that may stand as a word of a command. Raises OcError."""
    if not value or not value.isprintable():
        raise OcError(f"{value!r:.80} cannot be given to oc: it is empty or not one line")
    if value.startswith("-"):
        raise OcError(f"{one_line(value)[:80]!r} cannot be given to oc: it begins with a dash")
    return value


class Oc:
    """Runs commands against the cluster of one kubeconfig.

    kubeconfig: as the variable KUBECONFIG. folder: where the program may keep what it wants.
    It is its home as well, for in the person's home it moves a kubeconfig of former times.
    secrets: masked in errors. cancelled: looked at all the time; True ends a command.
    deadline: of time.monotonic(), no command goes on after it.
    """

    def __init__(
        self,
        program: str,
        kubeconfig: str,
        folder: str,
        *,
        limits: Limits = DEFAULT_LIMITS,
        secrets: Sequence[str] = (),
        cancelled: Callable[[], bool] | None = None,
        deadline: float = math.inf,
    ) -> None:
        self.name = Path(program).name
        self._program = program
        self.kubeconfig = kubeconfig
        self._folder = folder
        self._home = folder
        self._limits = limits
        self._secrets = maskable(secrets)
        self._cancelled = cancelled
        self._deadline = deadline

    def at(self, kubeconfig: str, *, secrets: Sequence[str] = (), home: str = "") -> Self:
        """The same for another kubeconfig. home: for logins by a program that needs it."""
        other = copy.copy(self)
        other.kubeconfig = kubeconfig
        other._home = home or self._folder
        other._secrets = maskable(secrets)
        return other

    def run(
        self,
        *words: str,
        values: Sequence[str] = (),
        flags: Mapping[str, str | int] | None = None,
    ) -> str:
        """What a command prints on its standard output.

        words: the command, as it stands in the caller's code. values: words from elsewhere,
        none of which can become an option. flags: options by their long names.

        Raises Cancelled, Failed, OcError.
        """
        given = [check_value(value) for value in values]
        return self._run([*words, *given], flags or {}, " ".join((self.name, *words, *given)))

    def _run(self, words: Sequence[str], flags: Mapping[str, str | int], what: str) -> str:
        what = one_line(what, self._secrets)
        left = min(self._limits.seconds, self._deadline - time.monotonic())
        if left <= 0:
            raise OcError(f"{what} was not asked: there was no time left")
        command = [self._program, *words]
        command += [f"--{name}={value}" for name, value in flags.items()]
        command += [f"--cache-dir={self._folder}", f"--request-timeout={math.ceil(left)}s"]
        status, output, said = self._finish(self._start(command, what), what, left)
        if status:
            raise Failed(what, status, self._reason(said))
        return output.decode("utf-8", "replace")

    def json(
        self,
        *words: str,
        values: Sequence[str] = (),
        flags: Mapping[str, str | int] | None = None,
    ) -> Any:
        """The value that a command prints as JSON. Raises as run() does."""
        return _decoded(self.run(*words, values=values, flags=flags), f"{self.name} {words[0]}")

    def raw(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """The JSON value that the API server has at a path. Raises as run() does.

        One request, where `get RESOURCE` first asks for all that the server knows.
        """
        if not path.startswith("/"):
            raise ValueError(f"{path} is not a path")
        more = f"?{urllib.parse.urlencode(query)}" if query else ""
        what = f"{self.name} get {path}"
        return _decoded(self._run(["get"], {"raw": path + more}, what), what)

    def _start(self, command: list[str], what: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "KUBECONFIG": self.kubeconfig, "HOME": self._home}
        # They are for others, and the person's programs that log in would see them.
        for name in (API_TOKEN, OFFLINE_TOKEN):
            environment.pop(name, None)
        # Aliases and default options of the person's could change what a command does.
        environment |= {"KUBERC": "off", "KUBECTL_KUBERC": "false"}
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                process_group=0,  # so that it can be ended with what it has started
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its words are not text"
            raise OcError(f"{what} cannot be started: {why}") from None

    def _finish(
        self, process: subprocess.Popen[bytes], what: str, seconds: float
    ) -> tuple[int, bytes, bytes]:
        try:
            output, said = self._read(process, what, time.monotonic() + seconds, seconds)
            return process.wait(), output, said
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    def _read(
        self, process: subprocess.Popen[bytes], what: str, end: float, seconds: float
    ) -> tuple[bytes, bytes]:
        """All that the process prints. Raises Cancelled, OcError; the process then still runs."""
        output, said = bytearray(), bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout or 1, selectors.EVENT_READ, output)
            selector.register(process.stderr or 2, selectors.EVENT_READ, said)
            while selector.get_map() or process.poll() is None:
                if self._cancelled is not None and self._cancelled():
                    raise Cancelled(f"{what} was cancelled")
                if time.monotonic() >= end:
                    raise OcError(f"{what}: no answer within {seconds:.2g} s")
                # Looked at first: what it wrote before its end is then there to be read.
                ended = process.poll() is not None
                ready = selector.select(_POLL) if selector.get_map() else _pause()
                if ended and not ready:
                    break  # something that it started holds the pipe
                for key, _ in ready:
                    chunk = os.read(key.fd, _CHUNK)
                    key.data.extend(chunk)
                    if not chunk:
                        selector.unregister(key.fileobj)
                del said[: max(len(said) - _MOST_SAID, 0)]
                if len(output) > self._limits.output:
                    raise OcError(f"{what}: the answer exceeds {self._limits.output} bytes")
        return bytes(output), bytes(said)

    def _reason(self, said: bytes) -> str:
        """The line of standard error that tells the error, else the last that is no log line."""
        lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
        plain = [line for line in lines if not _LOG_LINE.match(line)]
        told = next(filter(_ERROR.match, plain), None)
        return one_line(told or (plain or lines or [""])[-1], self._secrets)


def _decoded(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        size = len(text)
        raise OcError(f"{what} printed {size} characters that are not JSON") from None


def _pause() -> list[tuple[selectors.SelectorKey, int]]:
    time.sleep(_POLL)
    return []
