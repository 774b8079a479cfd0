"""A builtin's own commands: find the program, run it, end it with its group in any case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import attrs
import trio

from ..errors import LoadError, cut
from ..process import describe_status, spawn
from ..resolve import path_folders
from .base import ToolFailed

_CHUNK = 64 * 1024
_STDERR_MOST = 8 * 1024  # bytes kept
# What a process that left the group may hold open after the command itself has ended.
_GRACE = 1.0  # seconds


@attrs.frozen
class Finished:
    """How a command ended. full: it was ended because its output reached the limit."""

    status: int
    stdout: bytes
    stderr: bytes
    full: bool

    @property
    def complaint(self) -> str:
        """The first line of its standard error, or else its exit status in words."""
        lines = self.stderr.decode(errors="replace").split("\n")
        said = next((line.strip() for line in lines if line.strip()), "")
        return cut(said, 500) or f"it {describe_status(self.status)}"


def find_program(name: str, environ: Mapping[str, str]) -> str | None:
    """The path of a program, by the absolute entries of PATH alone."""
    for folder in path_folders(environ.get("PATH", "")):
        path = f"{folder.rstrip('/')}/{name}"
        if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
            return path
    return None


def pick(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables of these names that are set."""
    return {name: environ[name] for name in names if name in environ}


async def run(
    command: Sequence[str], *, env: Mapping[str, str], directory: str, most: int
) -> Finished:
    """Run a program to its end, with nothing on its standard input.

    most: bytes of standard output; a command that writes more is ended there. Deadlines are
    the caller's: when the call is cancelled, the command's process group is killed. Raises
    ToolFailed when the program cannot be started.
    """
    try:
        process = spawn(command[0], command, env=env, directory=directory)
    except LoadError as error:
        name = command[0].rpartition("/")[2]
        raise ToolFailed(f"{name} cannot be run: {error.reason}") from None
    os.close(process.to_plugin)
    stdout, stderr = _Pipe(process.from_plugin), _Pipe(process.stderr)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stdout.read, most, nursery.cancel_scope)
            nursery.start_soon(stderr.read, _STDERR_MOST, None)
            await process.wait()
            process.reap()
            nursery.cancel_scope.deadline = trio.current_time() + _GRACE
    finally:
        process.reap()
        os.close(process.from_plugin)
        os.close(process.stderr)
    assert process.returncode is not None
    return Finished(process.returncode, bytes(stdout.data), bytes(stderr.data), stdout.full)


class _Pipe:
    """Keeps the beginning of what comes out of a pipe."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.data = bytearray()
        self.full = False

    async def read(self, most: int, when_full: trio.CancelScope | None) -> None:
        """Read to the end; past `most` bytes cancel the scope, or drop the rest."""
        while chunk := await self._chunk():
            self.data += chunk
            if len(self.data) > most:
                del self.data[most:]
                self.full = True
                if when_full is not None:
                    when_full.cancel()
                    return

    async def _chunk(self) -> bytes:
        while True:
            try:
                return os.read(self._fd, _CHUNK)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self._fd)
