"""Messages that get no answer, on their way to a server behind HTTP, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import trio

_MAX_WAITING = 256
_TIMEOUT = 5.0  # seconds for each to be taken


class Outgoing:
    """post: sends one message, and raises nothing."""

    def __init__(self, post: Callable[[bytes], Awaitable[None]]) -> None:
        self._post = post
        self._waiting: deque[bytes] = deque()
        self._wake, self._idle = trio.Event(), trio.Event()
        self._idle.set()
        self.dropped = 0

    def put(self, message: bytes) -> None:
        """Send it soon. When too many wait, as the server takes none, it is dropped."""
        if len(self._waiting) >= _MAX_WAITING:
            self.dropped += 1
            return
        if self._idle.is_set():
            self._idle = trio.Event()
        self._waiting.append(message)
        self._wake.set()

    async def flush(self) -> None:
        """Wait until all have been taken."""
        await self._idle.wait()

    async def run(self) -> None:
        """Send what is put in. Runs until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._waiting:
                with trio.move_on_after(_TIMEOUT):
                    await self._post(self._waiting[0])
                self._waiting.popleft()
            self._idle.set()
