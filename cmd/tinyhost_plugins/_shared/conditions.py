"""status.conditions, which most objects of a cluster have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .must_gather_values import Values
from .texts import line


class Condition(NamedTuple):
    """One entry; "" where something is missing."""

    kind: str
    status: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""

    def why(self, most: int = 400) -> str:
        """Reason and message on one line. Long ones are cut and never dropped: they say most."""
        return line(": ".join(part for part in (self.reason, self.message) if part), most)


def listed(found: Values) -> list[Condition]:
    """The conditions of an object, or of its status, that have a type."""
    entries = found.objects("status", "conditions") or found.objects("conditions")
    return [read for read in map(_condition, entries) if read.kind]


def conditions(found: Values) -> dict[str, Condition]:
    """The conditions by their type."""
    return {entry.kind: entry for entry in listed(found)}


def condition(known: Mapping[str, Condition], kind: str) -> Condition:
    """The condition of a type, one without a status when there is none."""
    return known.get(kind) or Condition(kind)


def _condition(entry: Values) -> Condition:
    keys = ("type", "status", "reason", "message", "lastTransitionTime")
    return Condition(*(entry.scalar(key) or "" for key in keys))
