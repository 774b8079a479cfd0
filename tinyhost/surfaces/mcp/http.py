"""MCP over streamable HTTP, as an ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from ...running import RunningHost
from .crowd import Crowd
from .lines import MAX_LINE
from .server import ToolServer
from .taken import Taken

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_SESSIONS = 256  # then one that is not used makes room
_IDLE = 1800.0  # seconds after which a session that nobody uses is ended


class McpApp:
    """Serves requests for one path, whatever it is, while `run` is entered.

    hosts: the Host headers that are let in, as "127.0.0.1:*"; None where the app around this
    one has looked at them. sessions: how many there may be of those that nobody uses.
    """

    def __init__(
        self,
        running: RunningHost,
        *,
        hosts: Sequence[str] | None = None,
        sessions: int = _SESSIONS,
        **options: Any,
    ) -> None:
        server = ToolServer(running, **options)
        self._manager = StreamableHTTPSessionManager(
            server.protocol,
            security_settings=_security(hosts),
            max_request_body_size=MAX_LINE,
            session_idle_timeout=_IDLE,
            max_sessions=2 * sessions,  # where all are in use
        )
        self._crowd = Crowd(Taken(self._manager.handle_request), sessions)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Sessions live within this; it can be entered once."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The app. Scopes other than "http" are not for it."""
        await self._crowd(scope, receive, send)


def _security(hosts: Sequence[str] | None) -> TransportSecuritySettings:
    if hosts is None:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=list(hosts),
        allowed_origins=[f"http://{host}" for host in hosts],
    )
