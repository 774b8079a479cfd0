"""The place of the one host for a configuration: a socket, and two locks that say it is held.

A lock, not the socket's being there, says that a host runs, and goes with its process: a
socket that a dead host left behind is taken over. One lock is beside the socket, since two
hosts cannot share that. Runtime folders are cleaned by others, though, and a program
without XDG_RUNTIME_DIR looks elsewhere; so the other lock is in the state folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import socket
import stat
from collections.abc import Iterator

from .. import paths, runtime
from ..errors import TinyhostError

_log = logging.getLogger(__name__)

_BACKLOG = 64


class HostRunning(TinyhostError):
    """Another host runs with the same configuration.

    pid: its process, 0 if unknown. socket_path: where it listens; `wanted` is where we would.
    """

    def __init__(self, socket_path: str, pid: int, wanted: str) -> None:
        self.socket_path, self.pid = socket_path, pid
        who = f"process {pid}" if pid else "another process"
        kill = f", or with: kill {pid}" if pid else ""
        how = f"stop it with: tinyhost stop{kill}"
        if socket_path != wanted:
            how = (
                f"commands here would look for it at {wanted}. Set XDG_RUNTIME_DIR and"
                f" TINYHOST_RUNTIME_DIR as they were there, or stop it from there{kill}"
            )
        super().__init__(
            f"a host with this configuration is running already ({who}, {socket_path}); {how}"
        )


@contextlib.contextmanager
def claimed(path: str, state: str | None = None) -> Iterator[Place]:
    """Hold the place of the one host with that socket path, and listen there.

    state: the person's state folder. Where it cannot be used, that is logged, and the lock
    beside the socket has to do. Raises HostRunning, and OSError.
    """
    place = Place(path, state)
    try:
        place.take()
        yield place
    finally:
        place.leave()


class Place:
    """See claimed. listener: the socket that clients come to."""

    def __init__(self, path: str, state: str | None) -> None:
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self._state = state
        self._lock = _Lock(f"{path}.lock", path)
        self._second: _Lock | None = None
        self._made: tuple[int, ...] = ()

    def take(self) -> None:
        """Hold the place, or hold it again where it was lost. Raises HostRunning and OSError.

        `listener` is another from then on.
        """
        _private_folder(os.path.dirname(self.path))  # noqa: PTH120
        self._lock.take()
        if self._state is not None:
            self._take_second(self._state)
        self.listener.close()
        self.listener = _bound(self.path)
        self._made = _identity(self.path)
        self.listener.listen(_BACKLOG)

    def _take_second(self, state: str) -> None:
        # A home may be shared by machines, each of which has a host.
        key = os.path.basename(self.path).removesuffix(".sock")  # noqa: PTH119
        folder, machine = f"{state}/hosts", os.uname().nodename.replace("/", "_")
        lock = self._second or _Lock(f"{folder}/{key}.{machine}.lock", self.path)
        try:
            paths.make_private(folder)
            lock.take()
        except OSError as error:
            _log.warning("another host with this configuration may not be noticed: %s", error)
        self._second = lock

    def is_lost(self) -> bool:
        """Whether somebody has deleted the socket, or the lock beside it."""
        return not self._lock.is_held() or not self._is_made()

    def _is_made(self) -> bool:
        try:
            return _identity(self.path) == self._made
        except OSError:
            return False

    def leave(self) -> None:
        """Give the place up."""
        self.listener.close()
        # Not another host's socket, where ours had been deleted.
        if self._is_made():
            with contextlib.suppress(OSError):
                os.unlink(self.path)  # noqa: PTH108
        # Last the lock that whoever stops a host waits for.
        if self._second is not None:
            self._second.leave()
        self._lock.leave()


class _Lock:
    """A lock on a file that says who holds it: the process, and its socket in a second line."""

    def __init__(self, file: str, socket_path: str) -> None:
        self._file, self._socket_path = file, socket_path
        self._descriptor = -1

    def take(self) -> None:
        """Hold it, unless it is held already. Raises HostRunning and OSError."""
        if self.is_held():
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(self._file, flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(OSError):  # a full disk: it is a lock all the same
                os.ftruncate(lock, 0)
                os.pwrite(lock, os.fsencode(f"{os.getpid()}\n{self._socket_path}\n"), 0)
        except BlockingIOError:
            os.close(lock)
            raise self._other() from None
        except BaseException:
            os.close(lock)
            raise
        self.leave()
        self._descriptor = lock

    def _other(self) -> HostRunning:
        with open(self._file, "rb") as file:  # noqa: PTH123
            lines = file.read(10_000).splitlines()
        pid = int(lines[0]) if lines and lines[0].isdigit() else 0
        where = os.fsdecode(lines[1]) if len(lines) > 1 else self._socket_path
        return HostRunning(where, pid, self._socket_path)

    def is_held(self) -> bool:
        """Whether it is held, and its file is still there for others to see."""
        if self._descriptor < 0:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.lstat(self._file))
        except OSError:
            return False

    def leave(self) -> None:
        """Let go of it. The file stays: another may be about to lock it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _private_folder(folder: str) -> None:
    try:
        paths.make_private(folder)
    except OSError as error:
        raise OSError(
            f"there is no folder for the socket: {error.filename}: {error.strerror};"
            " TINYHOST_RUNTIME_DIR can name another"
        ) from error
    status = os.stat(folder)  # noqa: PTH116
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise PermissionError(
            f"{folder} must be yours alone, as sockets in it are trusted: chmod 700 {folder}"
        )


def _bound(path: str) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        with runtime.Address(path) as address:
            listener.bind(address)
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def _identity(path: str) -> tuple[int, ...]:
    status = os.lstat(path)
    return status.st_dev, status.st_ino, status.st_mtime_ns  # numbers are used again
