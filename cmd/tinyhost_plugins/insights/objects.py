"""Looking into values that may have any shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._shared.table import cell


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of status.conditions."""

    status: str
    reason: str
    message: str
    since: str


_NONE = Condition("", "", "", "")


def get(value: Any, *path: str) -> Any:
    """What is at the end of a path of keys, or None."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text(value: Any, *path: str) -> str:
    """The text or number at the end of a path, "" for anything else."""
    found = get(value, *path)
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found) if isinstance(found, str | int | float) else ""


def integer(value: Any, *path: str) -> int:
    """The whole number at the end of a path, 0 for anything else."""
    found = get(value, *path)
    return found if type(found) is int else 0


def mapping(value: Any, *path: str) -> dict[str, Any]:
    """The object at the end of a path, an empty one for anything else."""
    found = get(value, *path)
    return found if isinstance(found, dict) else {}


def objects(value: Any, *path: str) -> list[dict[str, Any]]:
    """The objects in the list at the end of a path; other elements are dropped."""
    found = get(value, *path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def listed(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, of an object with "items", or the object itself."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    if isinstance(value, dict) and "items" in value:
        return objects(value, "items")
    return [value] if isinstance(value, dict) and value else []


def name_of(value: Any) -> str:
    """metadata.name, or the name beside the spec as some objects of an archive have it."""
    return text(value, "metadata", "name") or text(value, "name")


def conditions(value: Any) -> dict[str, Condition]:
    """status.conditions by type; of an object that is a status itself, its conditions."""
    entries = objects(value, "status", "conditions") or objects(value, "conditions")
    return {
        text(entry, "type"): Condition(
            text(entry, "status"),
            text(entry, "reason"),
            text(entry, "message"),
            text(entry, "lastTransitionTime"),
        )
        for entry in entries
    }


def condition(known: Mapping[str, Condition], kind: str) -> Condition:
    """The condition of a type, one with empty texts when there is none."""
    return known.get(kind, _NONE)


def line(value: str, most: int = 200) -> str:
    """A text on one line, with single blanks, cut after `most` characters."""
    # The whole of a long text is not split for the sake of its beginning.
    return cell(" ".join(value[: most * 4].split()), most)


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 node", "2 nodes"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def because(found: Condition, most: int = 200) -> str:
    """The reason and message of a condition, on one line."""
    return line(": ".join(part for part in (found.reason, found.message) if part), most)
