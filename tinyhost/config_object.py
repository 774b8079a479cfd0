"""Objects of config.json: attrs classes whose fields say how each key is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import attrs

from tinyhost.config_values import Form, Place, nearest
from tinyhost.jsonc import Member, Node

_T = TypeVar("_T")


def setting(form: Form, description: str, *, key: str = "") -> Any:
    """An attrs field for one key of the file; the key is the field's name in camelCase."""
    metadata = {"form": form, "description": description, "key": key}
    return attrs.field(default=None, metadata=metadata)


def fields_by_key(cls: type) -> dict[str, attrs.Attribute[Any]]:
    """The keys of a file class, in order, each with its field."""
    return {_key(field): field for field in attrs.fields(cls)}


def _key(field: attrs.Attribute[Any]) -> str:
    first, *rest = field.name.split("_")
    return field.metadata["key"] or first + "".join(word.title() for word in rest)


def read_object(cls: type[_T], node: Node, place: Place) -> _T | None:
    """Read an object into a file class. Unknown keys are warned of, bad values left out."""
    if node.kind != "object":
        place.error(node, "must be an object")
        return None
    known = fields_by_key(cls)
    values = {}
    # Of a repeated key only the last value counts.
    for member in {member.key.value: member for member in node.members}.values():
        field = known.get(member.key.value)
        if field is None:
            _warn_unknown(member, place, list(known))
            continue
        value = field.metadata["form"].read(member.value, place.at(member.key.value))
        if value is not None:
            values[field.name] = value
    return cls(**values)


def _warn_unknown(member: Member, place: Place, known: Sequence[str]) -> None:
    name = member.key.value
    place.at(name).warning(
        member.key,
        f"unknown key, not used{nearest(name, known) or '; known: ' + ', '.join(known)}",
    )
