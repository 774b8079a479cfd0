"""The control socket: a unix socket that only the person's own processes may use."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import socket
import stat
import struct
from collections.abc import Iterator, Mapping

import trio

from .. import paths, runtime
from ..errors import TinyhostError
from .accepting import accept
from .rpc_connection import Handler, RpcConnection

_log = logging.getLogger(__name__)

_BACKLOG = 64
_CLIENTS = 256


class HostRunning(TinyhostError):
    """Another host runs with the same configuration; `pid` is its process, 0 if unknown."""

    def __init__(self, socket_path: str, pid: int) -> None:
        self.socket_path, self.pid = socket_path, pid
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"a host with this configuration is running already ({who}, {socket_path});"
            " stop it with: tinyhost stop"
        )


@contextlib.contextmanager
def claimed(path: str) -> Iterator[socket.socket]:
    """Hold the place of the one host with that socket path, and listen there.

    A lock, not the socket's being there, says that a host runs: a socket that a dead host
    left behind is taken over. Raises HostRunning, and OSError.
    """
    _private_folder(os.path.dirname(path))  # noqa: PTH120
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HostRunning(path, _pid_in(lock)) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        with _listening(path) as listener:
            yield listener
    finally:
        os.close(lock)


def _private_folder(folder: str) -> None:
    paths.make_private(folder)
    status = os.stat(folder)  # noqa: PTH116
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise PermissionError(
            f"{folder} must be yours alone, as sockets in it are trusted: chmod 700 {folder}"
        )


def _pid_in(lock: int) -> int:
    text = os.pread(lock, 20, 0).strip()
    return int(text) if text.isdigit() else 0


@contextlib.contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    listener = socket.socket(socket.AF_UNIX)
    made: tuple[int, ...] = ()
    try:
        before = os.umask(0o177)
        try:
            with runtime.Address(path) as address:
                listener.bind(address)
        finally:
            os.umask(before)
        made = _identity(path)
        listener.listen(_BACKLOG)
        yield listener
    finally:
        listener.close()
        with contextlib.suppress(FileNotFoundError):
            # Another host's, where somebody had deleted ours.
            if _identity(path) == made:
                os.unlink(path)  # noqa: PTH108


def _identity(path: str) -> tuple[int, ...]:
    status = os.lstat(path)
    return status.st_dev, status.st_ino, status.st_mtime_ns  # numbers are used again


class ControlServer:
    """Answers clients on a listening socket. A client of another person is turned away."""

    def __init__(self, listener: socket.socket, methods: Mapping[str, Handler]) -> None:
        self._listener = listener
        self._methods = methods
        self._clients: set[RpcConnection] = set()
        self._accepting = trio.CancelScope()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Answer clients until cancelled, or until drained and the last one is gone."""
        sockets = trio.socket.from_stdlib_socket(self._listener)
        async with trio.open_nursery() as nursery:
            task_status.started()
            with self._accepting:
                while True:
                    client = await accept(sockets)
                    if len(self._clients) >= _CLIENTS:
                        _log.warning("more than %d clients; one was turned away", _CLIENTS)
                        client.close()
                    elif (uid := peer_uid(client)) not in (os.geteuid(), 0):
                        _log.warning("a process of user %d was turned away", uid)
                        client.close()
                    else:
                        nursery.start_soon(self._serve, client)
            sockets.close()  # who comes now goes on as where no host is running

    async def _serve(self, client: trio.socket.SocketType) -> None:
        connection = RpcConnection(trio.SocketStream(client), self._methods)
        self._clients.add(connection)
        try:
            await connection.serve()
        finally:
            self._clients.discard(connection)

    async def drain(self) -> None:
        """Take nothing new, and return when everything that was asked has been answered."""
        self._accepting.cancel()
        for client in self._clients:
            client.refuse("the host is stopping")
        for client in list(self._clients):
            await client.idle()


def peer_uid(client: trio.socket.SocketType) -> int:
    """The user of the process at the other end, or -1 where the system does not tell."""
    if (option := getattr(socket, "SO_PEERCRED", None)) is not None:
        _pid, uid, _gid = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, option, 12))
    elif (option := getattr(socket, "LOCAL_PEERCRED", None)) is not None:  # macOS and the BSDs
        _version, uid = struct.unpack("2I", client.getsockopt(0, option, 8))
    else:
        uid = -1
    return int(uid)
