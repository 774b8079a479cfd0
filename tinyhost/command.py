"""Run one shell command with a deadline, bounded output, and a process group of its own."""

from __future__ import annotations

import signal
from collections.abc import Mapping

import attrs
import trio

from .process import Process, describe_status, spawn

KEPT = 64 * 1024  # bytes kept of each output stream; the rest is read and dropped
GRACE = 1.0  # seconds between SIGTERM and SIGKILL
DRAIN = 0.5  # seconds for output that is still on its way when the command has ended

# By its full path: the working directory may be a project's, and PATH may lead there.
_SHELL = "/bin/sh"


@attrs.frozen(kw_only=True)
class Outcome:
    """How a command ended.

    returncode: exit status, or minus the number of the signal that ended it.
    stdout: the first KEPT bytes, stdout_cut when there was more; stderr: the last KEPT bytes.
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


async def run_shell(
    command: str,
    *,
    owner: str,
    env: Mapping[str, str],
    directory: str,
    stdin: bytes,
    timeout: float,
) -> Outcome:
    """Run `sh -c command` and give it `stdin`. `owner` is named in errors.

    What the command leaves running in its process group is ended with it, also when the
    caller is cancelled. A process that left the group and keeps the output open is not waited
    for. Raises LoadError when the command cannot be started.
    """
    process = spawn(owner, (_SHELL, "-c", command), env=env, directory=directory)
    to_command = trio.lowlevel.FdStream(process.to_plugin)
    stdout = trio.lowlevel.FdStream(process.from_plugin)
    stderr = trio.lowlevel.FdStream(process.stderr)
    head, tail = _Kept(), _Kept(last=True)
    timed_out, ended = False, False
    try:
        async with trio.open_nursery() as nursery:
            finished = trio.Event()
            nursery.start_soon(_feed, to_command, stdin)
            nursery.start_soon(_collect, {stdout: head, stderr: tail}, finished)
            timed_out = not await _wait(process, timeout)
            ended = True
            process.signal_group(signal.SIGKILL)
            with trio.move_on_after(DRAIN):
                await finished.wait()
            nursery.cancel_scope.cancel()
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

    def __init__(self, *, last: bool = False) -> None:
        self.data = bytearray()
        self.dropped = 0
        self._last = last

    def add(self, chunk: bytes) -> None:
        self.data += chunk
        over = len(self.data) - KEPT
        if over > 0:
            self.dropped += over
            del self.data[slice(over) if self._last else slice(KEPT, None)]


async def _collect(streams: Mapping[trio.lowlevel.FdStream, _Kept], finished: trio.Event) -> None:
    async with trio.open_nursery() as nursery:
        for stream, kept in streams.items():
            nursery.start_soon(_read, stream, kept)
    finished.set()


async def _read(stream: trio.lowlevel.FdStream, kept: _Kept) -> None:
    while chunk := await stream.receive_some(KEPT):
        kept.add(chunk)
