"""Keeping a long call within its time, and its caller informed."""

from __future__ import annotations

from tinyhost_sdk import HandlerError

from .._shared import pace


class Pace(pace.Pace):
    """Ends work whose time is over with an error: parts of a snapshot or a log would mislead."""

    def tick(self, what: str) -> None:
        """To be called often, with the work that is done. Raises HandlerError when it has to end."""
        if self.is_over(what):
            raise HandlerError(
                f"{what} took longer than {self.seconds:g} seconds;"
                ' the option "seconds" of etcd-diag allows more'
            )
