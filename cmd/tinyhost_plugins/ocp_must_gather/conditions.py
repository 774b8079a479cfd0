"""status.conditions, which most objects of a cluster have."""

from __future__ import annotations

from typing import NamedTuple

from .._shared.must_gather import Values
from .report import line


class Condition(NamedTuple):
    """One entry; "" where something is missing."""

    kind: str
    status: str
    reason: str
    message: str
    since: str

    @property
    def why(self) -> str:
        """Reason and message on one line. Long ones are cut and never dropped: they say most."""
        return line(": ".join(part for part in (self.reason, self.message) if part), 400)


def conditions(found: Values) -> dict[str, Condition]:
    """The conditions by their type."""
    read = map(_condition, found.objects("status", "conditions"))
    return {entry.kind: entry for entry in read if entry.kind}


def _condition(entry: Values) -> Condition:
    return Condition(
        entry.text("type") or "",
        entry.text("status") or "",
        entry.text("reason") or "",
        entry.text("message") or "",
        entry.text("lastTransitionTime") or "",
    )


def condition(known: dict[str, Condition], kind: str) -> Condition:
    """The condition of a type, one without a status when there is none."""
    return known.get(kind, Condition(kind, "", "", "", ""))
