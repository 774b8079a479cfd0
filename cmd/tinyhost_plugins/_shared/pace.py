"""Keeping a long call within its time, and its caller informed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tinyhost_sdk import HandlerError, ToolContext

from .texts import line

T = TypeVar("T")

# How often the host hears that the work goes on, in seconds.
_REPORT = 2.0


class Pace:
    """Ends work whose time is over. stopped: the work that was ended, "" for none.

    What was found until then may still be an answer, which has to say that it is not all.
    """

    def __init__(self, context: ToolContext, seconds: float) -> None:
        self._context = context
        self.seconds = seconds
        now = time.monotonic()
        self._end = now + seconds
        self._report = now + _REPORT
        self.stopped = ""

    def left(self) -> float:
        """Seconds that are left, never less than 0."""
        return max(self._end - time.monotonic(), 0.0)

    def is_over(self, what: str) -> bool:
        """To be asked often. what: may hold names of files. Raises HandlerError when the caller has
        given up.
        """
        now = time.monotonic()
        if now >= self._report:
            self._report = now + _REPORT
            self._context.progress(line(what))
        if self._context.cancelled:
            raise HandlerError(f"cancelled while {line(what)}")
        if now >= self._end:
            self.stopped = self.stopped or line(what)
            return True
        return False

    def each(self, items: Iterable[T], what: str) -> Iterator[T]:
        """The items, as many as there is time for."""
        for item in items:
            if self.is_over(what):
                return
            yield item
