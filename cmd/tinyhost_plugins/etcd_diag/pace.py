"""Keeping a long call within its time, and its caller informed."""

from __future__ import annotations

import time

from tinyhost_sdk import HandlerError, ToolContext

# How often the host hears that the work goes on, in seconds.
_REPORT = 2.0


class Pace:
    """Ends work whose caller has given up or whose time is over; reports how far it is."""

    def __init__(self, context: ToolContext, seconds: float) -> None:
        self._context = context
        self._seconds = seconds
        now = time.monotonic()
        self._end = now + seconds
        self._report = now + _REPORT

    def tick(self, what: str) -> None:
        """To be called often, with the work that is done. Raises HandlerError when it has to end."""
        now = time.monotonic()
        if now >= self._report:
            self._report = now + _REPORT
            self._context.progress(what)
        if self._context.cancelled:
            raise HandlerError(f"cancelled while {what}")
        if now >= self._end:
            raise HandlerError(
                f"{what} took longer than {self._seconds:g} seconds;"
                ' the option "seconds" of etcd-diag allows more'
            )
