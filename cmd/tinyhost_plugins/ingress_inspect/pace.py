"""Ending a call that takes too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from .._shared import pace

_OFTEN = 5000
Line = TypeVar("Line", str, bytes)


class TooSlow(Exception):
    """The time that a call may take is over."""


class Pace(pace.Pace):
    """The time of one call. A part of what there is would be no answer, so the end is an error."""

    def is_over(self, what: str) -> bool:
        """False while there is time. Raises TooSlow, and HandlerError when the caller has given up."""
        if super().is_over(what):
            raise TooSlow(
                f"reading the must-gather took more than {self.seconds:g} seconds;"
                " raise the plugin's option maxSeconds"
            )
        return False

    def paced(self, lines: Iterable[Line], what: str) -> Iterator[Line]:
        """The lines, with a look at the time every now and then."""
        for number, line in enumerate(lines):
            if number % _OFTEN == 0:
                self.is_over(what)
            yield line
