"""Ending a call that takes too long."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_OFTEN = 5000
Line = TypeVar("Line", str, bytes)


class TooSlow(Exception):
    """The time that a call may take is over."""


class Pace:
    """The time of one call, in seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raises TooSlow."""
        if time.monotonic() > self._end:
            raise TooSlow(
                f"reading the must-gather took more than {self._seconds:g} seconds;"
                " raise the plugin's option maxSeconds"
            )

    def paced(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines, with a look at the time every now and then."""
        for number, line in enumerate(lines):
            if number % _OFTEN == 0:
                self.check()
            yield line
