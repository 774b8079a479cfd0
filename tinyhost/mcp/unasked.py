"""What a server behind HTTP says unasked: a stream that it keeps for that, up to MCP 2025-11-25."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx2
import trio

from ..errors import cut
from .endpoint import EVENTS, Endpoint, content_type
from .http_call import LONGEST_RETRY, RETRY, Events

_OPENING = 1.0  # seconds at most until it is open, or refused


class Unasked:
    """headers: gives those of a request. take: reads events to their end, and notes the last.

    log: gets warnings.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        headers: Callable[[], dict[str, str]],
        take: Callable[[httpx2.Response, Events], Awaitable[object]],
        log: Callable[[str], None],
    ) -> None:
        self._endpoint = endpoint
        self._headers, self._take, self._log = headers, take, log
        self._tried = trio.Event()

    async def tried(self) -> None:
        """Wait a moment until it is open, or was refused."""
        with trio.move_on_after(_OPENING):
            await self._tried.wait()

    async def run(self) -> None:
        """Keep it open, where the server has one."""
        pause, events = RETRY, Events()
        while True:
            headers = self._headers()
            if events.last_id:
                headers["last-event-id"] = events.last_id
            try:
                async with self._endpoint.stream("GET", None, headers) as response:
                    self._tried.set()
                    if response.status_code >= 400 or content_type(response) != EVENTS:
                        return
                    pause = RETRY
                    await self._take(response, events)
            except (httpx2.HTTPError, ValueError) as error:
                self._tried.set()
                self._log(f"warning: the server's own stream failed: {cut(str(error), 300)}")
            await trio.sleep(max(pause, events.retry))
            pause = min(pause * 2, LONGEST_RETRY)
