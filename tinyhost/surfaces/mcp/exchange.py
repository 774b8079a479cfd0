"""One tools/call, and the way back to whoever makes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import mcp_types as types
import trio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from .requests import Answer, Request, answers_of
from .text import sound

Context: TypeAlias = ServerRequestContext[Any, Any]
_T = TypeVar("_T")

_BACKLOG = 100  # texts of progress that a slow client may be behind


def is_modern(context: Context) -> bool:
    """Whether each request stands for itself, as since 2026-07-28."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(context: Context) -> Connection:
    """The client's connection.

    Its `state` and `exit_stack` are meant for handlers; the package has no public way to it
    from their context yet.
    """
    return context.session._connection


class Exchange:
    """A call. context: of the request that waits for it now."""

    def __init__(self, context: Context, params: types.CallToolRequestParams) -> None:
        self.context = context
        self.call = (params.name, params.arguments or {})

    async def with_progress(self, run: Callable[[Callable[[str], None]], Awaitable[_T]]) -> _T:
        """Run something that reports progress in words; each becomes a progress notification.

        MCP wants numbers that grow: the words are counted.
        """
        send, receive = trio.open_memory_channel[str](_BACKLOG)

        def report(text: str) -> None:
            try:
                send.send_nowait(text)
            except trio.WouldBlock:
                pass  # progress is news, and what is too much is not missed

        async def pass_on() -> None:
            count = 0
            async for text in receive:
                count += 1
                await self.context.session.report_progress(count, message=sound(text) or None)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pass_on)
            with send:
                result = await run(report)
        return result

    async def put(self, requests: Mapping[str, Request]) -> Mapping[str, Answer]:
        """Ask by requests of our own, one after the other, as before 2026-07-28.

        Raises MCPError, also for an answer of the wrong form.
        """
        return {key: await self._put(request) for key, request in requests.items()}

    async def _put(self, request: Request) -> Answer:
        context, kind = self.context, answers_of(request)[-1]
        related = ServerMessageMetadata(related_request_id=context.request_id)
        try:
            return await context.session.send_request(request, kind, metadata=related)
        except ValidationError:
            reason = f"the client's answer to {request.method} is not of the right form"
            raise MCPError(types.INTERNAL_ERROR, reason) from None
