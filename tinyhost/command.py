"""Run one command with a deadline, bounded output, and a process group of its own."""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping, Sequence

import attrs
import trio

from .process import Process, describe_status, read_rest, spawn

KEPT = 64 * 1024  # bytes kept of each output stream; the rest is read and dropped
GRACE = 1.0  # seconds between SIGTERM and SIGKILL
DRAIN = 0.5  # seconds for output that is still on its way when the command has ended

# By its full path: the working directory may be a project's, and PATH may lead there.
SHELL = "/bin/sh"


@attrs.frozen(kw_only=True)
class Outcome:
    """How a command ended.

    returncode: exit status, or minus the number of the signal that ended it.
    stdout: its first bytes, stdout_cut when there was more; stderr: its last KEPT bytes.
    """

    returncode: int
    timed_out: bool
    stdout: bytes
    stdout_cut: bool
    stderr: bytes

    @property
    def ok(self) -> bool:
        """Whether the command ended by itself, in time, with status 0."""
        return self.returncode == 0 and not self.timed_out

    @property
    def status(self) -> str:
        """How it ended, in words."""
        return describe_status(self.returncode)


async def run(
    command: Sequence[str],
    *,
    owner: str,
    env: Mapping[str, str],
    directory: str,
    stdin: bytes = b"",
    timeout: float = math.inf,
    most: int = KEPT,
    stop_when_full: bool = False,
) -> Outcome:
    """Run a program and give it `stdin`. `owner` is named in errors.

    most: bytes kept of standard output; what comes after is dropped, or ends the command.

    What the command leaves running in its process group is ended with it, also when the
    caller is cancelled. A process that left the group and keeps the output open is not waited
    for. Raises LoadError when the command cannot be started.
    """
    process = spawn(owner, command, env=env, directory=directory)
    to_command = trio.lowlevel.FdStream(process.to_plugin)
    stdout = trio.lowlevel.FdStream(process.from_plugin)
    stderr = trio.lowlevel.FdStream(process.stderr)
    head, tail = _Kept(most), _Kept(KEPT, last=True)
    timed_out, ended = False, False
    try:
        async with trio.open_nursery() as nursery:
            finished = trio.Event()
            nursery.start_soon(_feed, to_command, stdin)
            nursery.start_soon(_collect, {stdout: head, stderr: tail}, finished)
            if stop_when_full:
                nursery.start_soon(_end_when_full, head, process)
            timed_out = not await _wait(process, timeout)
            ended = True
            process.signal_group(signal.SIGKILL)
            with trio.move_on_after(DRAIN):
                await finished.wait()
            nursery.cancel_scope.cancel()
        for stream, kept in ((stdout, head), (stderr, tail)):
            for chunk in read_rest(stream.fileno()):
                kept.add(chunk)
    finally:
        if not ended:  # cancelled
            with trio.CancelScope(shield=True):
                await _terminate(process)
        process.reap()
        for stream in (to_command, stdout, stderr):
            stream.close()
    assert process.returncode is not None
    return Outcome(
        returncode=process.returncode,
        timed_out=timed_out,
        stdout=bytes(head.data),
        stdout_cut=head.dropped > 0,
        stderr=bytes(tail.data),
    )


async def _wait(process: Process, timeout: float) -> bool:
    """Wait for the end; after the timeout, bring it about. Whether it came in time."""
    with trio.move_on_after(timeout):
        await process.wait()
        return True
    await _terminate(process)
    return False


async def _terminate(process: Process) -> None:
    process.signal_group(signal.SIGTERM)
    with trio.move_on_after(GRACE):
        await process.wait()


async def _feed(stream: trio.lowlevel.FdStream, data: bytes) -> None:
    try:
        await stream.send_all(data)
    except trio.BrokenResourceError:
        pass  # The command need not read what it is given.
    stream.close()


class _Kept:
    """The first bytes of a stream, or the last."""

    def __init__(self, most: int, *, last: bool = False) -> None:
        self.data = bytearray()
        self.dropped = 0
        self.overflowed = trio.Event()
        self._most = most
        self._last = last

    def add(self, chunk: bytes) -> None:
        self.data += chunk
        over = len(self.data) - self._most
        if over > 0:
            self.dropped += over
            self.overflowed.set()
            del self.data[slice(over) if self._last else slice(self._most, None)]


async def _end_when_full(kept: _Kept, process: Process) -> None:
    await kept.overflowed.wait()
    process.signal_group(signal.SIGKILL)


async def _collect(streams: Mapping[trio.lowlevel.FdStream, _Kept], finished: trio.Event) -> None:
    async with trio.open_nursery() as nursery:
        for stream, kept in streams.items():
            nursery.start_soon(_read, stream, kept)
    finished.set()


async def _read(stream: trio.lowlevel.FdStream, kept: _Kept) -> None:
    while chunk := await stream.receive_some(KEPT):
        kept.add(chunk)
