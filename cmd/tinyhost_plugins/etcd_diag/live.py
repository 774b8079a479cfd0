"""Asking a running etcd, with etcdctl and what its environment says of endpoints and certificates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, Any

from tinyhost_sdk import HandlerError, ToolContext

from .._shared.table import cell
from . import cluster_state
from .cluster_state import ALARMS, CRITICAL, HEALTH, MEMBERS, OK, STATUS, WARN, State

# Each of them only reads. `endpoint health` reads one key, which needs a quorum.
_QUESTIONS = {
    MEMBERS: ("member", "list"),
    STATUS: ("endpoint", "status"),
    HEALTH: ("endpoint", "health"),
    ALARMS: ("alarm", "list"),
}
_FLAGS = ("--command-timeout=5s", "--dial-timeout=3s", "-w", "json")
# etcdctl refuses to start when a variable says what an option says, too.
_SHADOWED = ("ETCDCTL_COMMAND_TIMEOUT", "ETCDCTL_DIAL_TIMEOUT", "ETCDCTL_WRITE_OUT")
_SECONDS = 20.0
_STEP = 0.05
_MOST_READ = 4 * 1024 * 1024


def live(etcdctl: str, context: ToolContext) -> str:
    """What the etcd that etcdctl is set up for says of itself. Raises HandlerError."""
    program = shutil.which(etcdctl)
    if program is None:
        raise HandlerError(
            f'{cell(etcdctl, 200)} is not installed or not on PATH; the option "etcdctl" of'
            " etcd-diag names it. Without it, use the tools that take a must-gather or a snapshot."
        )
    context.progress("asking etcd with etcdctl")
    documents: dict[str, Any] = {}
    failures: list[str] = []
    for name, (output, said) in _ask(program, context).items():
        try:
            # endpoint health fails when one endpoint is ill, and says which in its output.
            documents[name] = json.loads(output)
        except (ValueError, RecursionError):
            words = " ".join(_QUESTIONS[name])
            failures.append(f"etcdctl {words}: {_last_line(said) or 'no answer'}")
    state = State(documents, {})
    if not _is_there(state):
        raise HandlerError(
            f"etcd does not answer: {(failures or ['no endpoint'])[0]}. ETCDCTL_ENDPOINTS,"
            " ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY say where it is; the settings of tinyhost"
            ' hand them to etcd-diag with "passEnv" or "env".'
        )
    return _render(state, failures)


def _is_there(state: State) -> bool:
    """Whether any endpoint has answered. For one that is away, etcdctl gives a row of health, too."""
    healthy = any(row.get("health") is True for row in state.rows(HEALTH))
    return healthy or bool(state.rows(STATUS)) or bool({MEMBERS, ALARMS} & set(state.documents))


def _render(state: State, failures: list[str]) -> str:
    found = cluster_state.findings(state)
    ratings = [finding.rating for finding in found] + [WARN] * bool(failures)
    worst = next((rating for rating in (CRITICAL, WARN) if rating in ratings), OK)
    lines = [f"overall: {worst}", ""]
    lines += [f"[{finding.rating}] {finding.name}: {cell(finding.said, 300)}" for finding in found]
    lines += [f"[{WARN}] {cell(failure, 300)}" for failure in failures]
    members = cluster_state.members_table(state)
    return "\n".join((*lines, "", members) if members else lines)


def _ask(program: str, context: ToolContext) -> dict[str, tuple[bytes, bytes]]:
    """Standard output and error for each question, all asked at once.

    Raises HandlerError when cancelled, or when the program does not start.
    """
    with ExitStack() as stack:
        # Files, for pipes would have to be emptied while waiting for a cancel.
        files = {
            name: (stack.enter_context(TemporaryFile()), stack.enter_context(TemporaryFile()))
            for name in _QUESTIONS
        }
        started: list[subprocess.Popen[bytes]] = []
        stack.callback(_end, started)
        for name, (out, said) in files.items():
            started.append(_start((program, *_QUESTIONS[name], *_FLAGS), out, said))
        end = time.monotonic() + _SECONDS
        while any(process.poll() is None for process in started) and time.monotonic() < end:
            if context.wait(_STEP):
                raise HandlerError("cancelled while asking etcd")
        _end(started)
        return {name: (_content(out), _content(said)) for name, (out, said) in files.items()}


def _start(command: tuple[str, ...], out: IO[bytes], said: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _SHADOWED}
    # Older ones speak version 2 unless they are told, which knows neither these words nor the keys.
    environment["ETCDCTL_API"] = "3"
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=said, env=environment
        )
    except OSError as error:
        raise HandlerError(f"cannot start {command[0]}: {error.strerror or error}") from None


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(_MOST_READ)


def _last_line(said: bytes) -> str:
    """The error of etcdctl, which comes after its log lines."""
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith("{")]
    return cell((plain or lines or [""])[-1], 200)
