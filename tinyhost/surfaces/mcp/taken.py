"""Answers to notifications over HTTP, given when the session has taken what was sent.

The package answers first, so that a client's next request could come before its notification,
and a client that ends its session at once gets a second answer, that of a failure, behind the
first.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

import anyio

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError)


class Taken:
    """Hands requests on to `app`; an answer of 202 is kept until the app is done."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """The app."""
        kept: list[Message] = []

        async def keeping(message: Message) -> None:
            begins = message["type"] == "http.response.start"
            if kept or (begins and message["status"] == HTTPStatus.ACCEPTED):
                kept.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, keeping)
        except _GONE:
            if not kept:
                raise
        for message in kept[:2]:  # the rest is of a session that ended meanwhile
            await send(message)


def _worth_a_line(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], _GONE))


# That a session ends while something is on its way to it is no fault of the host.
logging.getLogger("mcp.server.streamable_http").addFilter(_worth_a_line)
