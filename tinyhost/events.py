"""What happens in a running host, for those who watch: a bounded past and live followers."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

import trio

from . import codec

_PAST = 2000  # events kept,
_PAST_SIZE = 8 * 1024 * 1024  # and characters of them
_BATCH_SIZE = 64 * 1024  # characters that are handed out at once


class Event(NamedTuple):
    """One event. text: the whole of it as JSON text, with `seq`, `t` and `kind`."""

    seq: int
    kind: str
    session: str
    text: str


class EventBus:
    """Numbers events from 1. `publish` never waits.

    clock: seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._past: deque[Event] = deque()
        self._size = 0
        self._last = 0
        self._more = trio.Event()
        self._clock = clock

    @property
    def last(self) -> int:
        """The number of the newest event, 0 when there is none."""
        return self._last

    def publish(self, kind: str, fields: Mapping[str, Any], session: str = "") -> None:
        """Add an event; `fields` are of JSON's kinds and masked."""
        self._last += 1
        head = {"seq": self._last, "t": round(self._clock(), 3), "kind": kind}
        text = codec.dumps({**head, **({"session": session} if session else {}), **fields})
        self._past.append(Event(self._last, kind, session, text))
        self._size += len(text)
        while len(self._past) > _PAST or (self._size > _PAST_SIZE and len(self._past) > 1):
            self._size -= len(self._past.popleft().text)
        self._more.set()
        self._more = trio.Event()

    def since(self, seq: int) -> list[Event]:
        """The events after that number that are still known."""
        return list(self._newer(seq))

    def batch(self, seq: int) -> list[Event]:
        """The first of them: one if there is any, and as many as may be sent in one go.

        Whoever sends one at a time falls behind as soon as more than one happens meanwhile.
        """
        found: list[Event] = []
        size = 0
        for event in self._newer(seq):
            size += len(event.text)
            if found and size > _BATCH_SIZE:
                break
            found.append(event)
        return found

    def _newer(self, seq: int) -> Iterator[Event]:
        newer = min(len(self._past), max(0, self._last - seq))
        return itertools.islice(self._past, len(self._past) - newer, None)

    async def batches(self, seq: int) -> AsyncGenerator[list[Event], None]:
        """The events after that number, for ever. One who is too slow misses the oldest.

        What was missed shows as a gap in `seq`.
        """
        while True:
            await self.wait(seq)
            events = self.batch(seq)
            seq = events[-1].seq
            yield events

    async def follow(self, seq: int) -> AsyncGenerator[Event, None]:
        """The same, one by one."""
        async with aclosing(self.batches(seq)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def wait(self, seq: int) -> None:
        """Return once there is an event after that number."""
        while self._last <= seq:
            await self._more.wait()
