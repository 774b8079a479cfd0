"""HTTP as a surface of a running host: listens, answers, and ends with it."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Protocol

import attrs
import trio
from starlette.types import Receive, Scope, Send

from ...running import RunningHost
from .access import ensure_token, is_loopback, parse_bind, token_file
from .app import make_app
from .guard import Guard
from .server import HttpServer

_log = logging.getLogger(__name__)

_BACKLOG = 128


class MountedApp(Protocol):
    """An ASGI app that answers while `run` is entered."""

    def run(self) -> AbstractAsyncContextManager[None]:
        """What the app needs around it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""


MakeApp = Callable[[RunningHost], MountedApp]


@attrs.frozen(kw_only=True)
class HttpSurface:
    """bind: "HOST:PORT". mounts, pages, names: see http_surface."""

    bind: str
    running: RunningHost
    mounts: Mapping[str, MakeApp]
    pages: str | None
    names: tuple[str, ...]

    async def __call__(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve until cancelled, or until drained.

        Raises OSError for an address that cannot be listened at, and ConfigError for a token
        that others may read.
        """
        host, port = parse_bind(self.bind)
        file = token_file(self.running.host.environ)
        token = await trio.to_thread.run_sync(ensure_token, file)
        listener = await _listen(host, port)
        async with AsyncExitStack() as stack:
            stack.callback(listener.close)
            apps = {path: make(self.running) for path, make in self.mounts.items()}
            for mounted in apps.values():
                await stack.enter_async_context(mounted.run())
            app = make_app(self.running, token, apps, self.pages)
            guard = Guard(app, host, self.names)
            server = HttpServer(trio.SocketListener(listener), guard)
            await self._serve(server, _address(host, listener), str(file), task_status)

    async def _serve(
        self, server: HttpServer, address: str, file: str, task_status: trio.TaskStatus[None]
    ) -> None:
        if not is_loopback(parse_bind(self.bind)[0]):
            _log.warning("%s is reached from other machines, and nothing is encrypted", address)
        self.running.drains.append(server.drain)
        self.running.addresses |= {"http": address, "httpToken": file}
        try:
            await server.run(task_status=task_status)
        finally:
            self.running.drains.remove(server.drain)
            for name in ("http", "httpToken"):
                self.running.addresses.pop(name, None)


async def _listen(host: str, port: int) -> trio.socket.SocketType:
    try:
        found = await trio.socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, proto, _, address = found[0]
        with contextlib.ExitStack() as stack:
            listener = stack.enter_context(trio.socket.socket(family, kind, proto))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            await listener.bind(address)
            listener.listen(_BACKLOG)
            stack.pop_all()
    except OSError as error:
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        reason = f"HTTP cannot listen at {where}: {error.strerror or error}; name another HOST:PORT"
        raise OSError(reason) from None
    return listener


def _address(host: str, listener: trio.socket.SocketType) -> str:
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
