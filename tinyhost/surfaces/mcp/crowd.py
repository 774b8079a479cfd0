"""Sessions over HTTP that no client ends: the longest unused makes room for a new one.

The package would refuse new ones until half an hour has passed, and many clients never end
theirs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_ID = b"mcp-session-id"
_KEPT = (b"host", b"origin")  # headers that are looked at before the method


class Crowd:
    """Hands requests on to `app`, and ends sessions beyond `most` as their client would.

    A session with a request under way, as its stream of notifications is one, is not ended.
    """

    def __init__(self, app: App, most: int) -> None:
        self._app, self._most = app, most
        self._under_way: dict[bytes, int] = {}  # requests of each session; longest unused first

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """The app."""
        session = _id_in(scope["headers"])
        if session is None:
            await self._make_room(scope)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answered(scope, session, message)
            await send(message)

        self._use(session, 1)
        try:
            await self._app(scope, receive, watched)
        finally:
            self._use(session, -1)

    def _use(self, session: bytes | None, more: int) -> None:
        if session is not None and session in self._under_way:
            self._under_way[session] = self._under_way.pop(session) + more

    def _answered(self, scope: Message, session: bytes | None, start: Message) -> None:
        status, begun = start["status"], _id_in(start.get("headers", ()))
        if session is None:
            if status == 200 and begun is not None:
                self._under_way[begun] = 0
        elif status == 404 or (scope["method"] == "DELETE" and status == 200):
            self._under_way.pop(session, None)

    async def _make_room(self, scope: Message) -> None:
        while len(self._under_way) >= self._most:
            unused = next((id for id, count in self._under_way.items() if count == 0), None)
            if unused is None:
                return
            del self._under_way[unused]
            await self._end(scope, unused)

    async def _end(self, scope: Message, session: bytes) -> None:
        kept = [(name, value) for name, value in scope["headers"] if name in _KEPT]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unheard(_message: Message) -> None:
            pass

        request = {**scope, "method": "DELETE", "headers": [*kept, (_ID, session)]}
        await self._app(request, nothing, unheard)


def _id_in(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    return next((bytes(value) for name, value in headers if bytes(name).lower() == _ID), None)
