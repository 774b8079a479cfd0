"""Judging large commands in a child process, with limits.

On text made for the purpose the parser may take time that grows with the square of the
length, all memory, or the process down with it. A guard that fails this way would guard
nothing, so for all but short texts the work is done by a child, and a child that does not
come back with an answer counts as a reason not to run the command.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import time
import warnings
from typing import NoReturn

from .arguments import Command
from .catalog import Finding
from .policy import Policy

_CPU_SECONDS = 2
# A host waits 5 seconds for a hook.
_WAIT_SECONDS = 4.0
_MEMORY_BYTES = 1024 * 1024 * 1024


def judge_all(commands: list[Command], policy: Policy) -> list[Finding]:
    """The findings about all commands; "unchecked" when they cannot be had within the limits."""
    read_end, write_end = os.pipe()
    try:
        pid = _fork()
    except OSError as error:
        os.close(read_end)
        os.close(write_end)
        return [Finding("unchecked", f"no process to check it in: {error.strerror}")]
    if pid == 0:
        os.close(read_end)
        _child(write_end, commands, policy)
    os.close(write_end)
    try:
        answer = _read(read_end)
    finally:
        os.close(read_end)
        # It has answered, or never will.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not answer.endswith(b"\n"):
        return [Finding("unchecked", "a command that took too much time or memory to follow")]
    return [Finding(*fields) for fields in json.loads(answer)]


def _fork() -> int:
    with warnings.catch_warnings():
        # The child computes and leaves: it needs no lock that another thread may hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _child(write_end: int, commands: list[Command], policy: Policy) -> NoReturn:
    status = 1
    try:
        # That the parser may crash is the reason for this process, and nobody's news.
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        from .gate import judge_all

        answer = memoryview(json.dumps(judge_all(commands, policy)[:100]).encode() + b"\n")
        while answer:
            answer = answer[os.write(write_end, answer) :]
        status = 0
    finally:
        # Nothing of the parent's may run here: no handlers, no flushing, no reply.
        os._exit(status)


def _read(read_end: int) -> bytes:
    pieces: list[bytes] = []
    deadline = time.monotonic() + _WAIT_SECONDS
    poll = select.poll()
    poll.register(read_end, select.POLLIN | select.POLLHUP)
    while True:
        # What is there is read also when this process stood still until the time was over.
        left = max(deadline - time.monotonic(), 0)
        if not poll.poll(left * 1000):
            return b""
        piece = os.read(read_end, 65536)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
