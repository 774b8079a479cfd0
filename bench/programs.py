"""Children that are talked to without the host: the floors, and drivers of other clients."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tinyhost import codec
from tinyhost_sdk import names

from .harness import Round
from .workspace import Workspace

_CHUNK = 64 * 1024
_NS = 1e9


class _Child:
    """A process on two blocking pipes; used with `with`."""

    def __init__(self, workspace: Workspace, command: Sequence[str]) -> None:
        self._command = command
        self._stderr = workspace.stderr
        with Path(self._stderr).open("ab") as stderr:
            self._process = subprocess.Popen(
                list(command),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=workspace.environment,
                cwd=workspace.root,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.pid = self._process.pid
        self._to = self._process.stdin.fileno()
        self._from = self._process.stdout.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._process.kill()
        self._process.communicate()

    def write(self, data: bytes) -> None:
        """Write all of it."""
        written = os.write(self._to, data)
        while written < len(data):
            written += os.write(self._to, data[written:])

    def read_line(self) -> bytes:
        """The next line; the child must have been asked for exactly one."""
        data = os.read(self._from, _CHUNK)
        if data.endswith(b"\n"):
            return data
        pieces = [data]
        while not pieces[-1].endswith(b"\n"):
            if not pieces[-1]:
                raise self._ended()
            pieces.append(os.read(self._from, _CHUNK))
        return b"".join(pieces)

    def _ended(self) -> Exception:
        tail = self._stderr.read_text(errors="replace")[-2000:]
        return RuntimeError(f"{' '.join(self._command)} ended early; standard error:\n{tail}")


class PingPong(_Child):
    """The floor: a blocking caller with one plugin, the host's codec, and nothing else.

    It writes the bytes that the host writes and reads as the host does, but has no
    deadlines, no other calls, no checks and no scheduler.
    """

    def __init__(self, workspace: Workspace, command: Sequence[str]) -> None:
        super().__init__(workspace, command)
        self._id = 0
        start = {"version": names.PROTOCOL_VERSION, "directory": str(workspace.root)}
        self.ask(names.INITIALIZE, start)

    def ask(self, method: str, params: object) -> Any:
        """One request and the result of its reply."""
        self._id += 1
        head = f'{{"jsonrpc":"2.0","id":{self._id},"method":"{method}","params":'
        self.write(f"{head}{codec.dumps(params)}}}\n".encode())
        return codec.loads(self.read_line())["result"]


class Driver(_Child):
    """A program that makes calls with a client of its own and takes the time itself.

    It reads a number of calls per line, makes them one by one, and answers with the median
    of their times in nanoseconds.
    """

    def rounds(self, count: int) -> Round:
        """Rounds of `count` calls."""

        async def round() -> float:
            self.write(f"{count}\n".encode())
            return int(self.read_line()) / _NS

        return round


def run_to_end(workspace: Workspace, command: Sequence[str], request: bytes = b"") -> bytes:
    """Start a program whose input is `request` and end-of-file; its output when it has ended.

    The request is in the pipe before the program starts, so it has to fit into one.
    """
    read_end, write_end = os.pipe()
    os.write(write_end, request)
    os.close(write_end)
    try:
        done = subprocess.run(
            list(command),
            stdin=read_end,
            capture_output=True,
            env=workspace.environment,
            cwd=workspace.root,
            check=False,
        )
    finally:
        os.close(read_end)
    if done.returncode != 0:
        tail = done.stderr.decode(errors="replace")[-2000:]
        text = f"{' '.join(command)} exited with status {done.returncode}"
        raise RuntimeError(f"{text}; standard error:\n{tail}")
    return done.stdout
