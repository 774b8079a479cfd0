"""Objects of a cluster, whose fields may be missing or have any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Values:
    """A mapping, read by paths of keys. What is absent or of another type is None."""

    __slots__ = ("raw",)

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw

    def get(self, *path: str) -> Any:
        """Whatever is at the end of a path."""
        value: Any = self.raw
        for key in path:
            if not isinstance(value, Mapping):
                return None
            value = value.get(key)
        return value

    def text(self, *path: str) -> str | None:
        """A text; a number is none, see `scalar`."""
        found = self.get(*path)
        return found if isinstance(found, str) else None

    def integer(self, *path: str) -> int | None:
        """A whole number; true and false are none."""
        found = self.get(*path)
        return found if type(found) is int else None

    def flag(self, *path: str) -> bool | None:
        """True or False."""
        found = self.get(*path)
        return found if isinstance(found, bool) else None

    def items(self, *path: str) -> list[Any] | None:
        """A list, with elements of any type."""
        found = self.get(*path)
        return found if isinstance(found, list) else None

    def mapping(self, *path: str) -> dict[str, Any] | None:
        """A mapping, as it is."""
        found = self.get(*path)
        return found if isinstance(found, dict) else None

    def scalar(self, *path: str) -> str | None:
        """A text, or a number, true or false as text: for fields like targetPort."""
        found = self.get(*path)
        if isinstance(found, bool):
            return "true" if found else "false"
        return str(found) if isinstance(found, str | int | float) else None

    def values(self, *path: str) -> Values:
        """A mapping to look into further; an empty one when there is none."""
        return Values(self.mapping(*path) or {})

    def objects(self, *path: str) -> list[Values]:
        """The mappings in a list; none when there is no list. Other elements are dropped."""
        return [Values(item) for item in self.items(*path) or [] if isinstance(item, dict)]


class Resource(Values):
    """One object. source: the file below the must-gather's root that it came from.

    name, namespace, kind: texts, "" where there is none.
    """

    __slots__ = ("kind", "name", "namespace", "source")

    def __init__(
        self, raw: Mapping[str, Any], source: str, *, kind: str = "", namespace: str = ""
    ) -> None:
        """kind and namespace: for an object that does not say, as in a list or a folder."""
        super().__init__(raw)
        self.source = source
        self.name = self.text("metadata", "name") or ""
        self.namespace = self.text("metadata", "namespace") or namespace
        self.kind = self.text("kind") or kind

    def __repr__(self) -> str:
        return f"Resource({self.kind} {self.namespace}/{self.name} from {self.source})"


def resources(document: Any, source: str, namespace: str = "") -> list[Resource]:
    """The objects of a document: one, those of a "...List", or those of a plain list."""
    kind, found = "", [document]
    if isinstance(document, list):
        found = document
    elif isinstance(document, dict) and isinstance(document.get("items"), list):
        found = document["items"]
        kind = str(document.get("kind") or "").removesuffix("List")
    return [
        Resource(item, source, kind=kind, namespace=namespace)
        for item in found
        if isinstance(item, dict) and item
    ]
