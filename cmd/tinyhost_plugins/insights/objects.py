"""Looking into values that may have any shape."""

from __future__ import annotations

from typing import Any

from .._shared.conditions import Condition
from .._shared.conditions import conditions as conditions_of
from .._shared.must_gather_values import Values


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
    return conditions_of(Values(value if isinstance(value, dict) else {}))
