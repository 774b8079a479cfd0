"""Checks the arguments of a call against the tool's schema, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._shared.table import cell

_PLURAL = {"string": "text", "integer": "a whole number", "array": "a list"}


class ArgumentError(ValueError):
    """The arguments do not fit; the text says all that is wrong with them."""


def checked(args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, without those that are null. Raises ArgumentError."""
    properties: Mapping[str, Any] = schema["properties"]
    given = {name: value for name, value in args.items() if value is not None}
    faults = [f"{name} is missing" for name in schema["required"] if name not in given]
    for name, value in given.items():
        if name not in properties:
            faults.append(f"there is no {cell(name)}, there are {', '.join(properties)}")
            continue
        fault = _fault(value, properties[name])
        if fault:
            faults.append(f"{name} {fault}")
        elif type(value) is float:
            given[name] = int(value)
    if faults:
        raise ArgumentError("; ".join(faults))
    return given


def labels_of(text: str) -> list[str]:
    """The labels in a text with commas between them, in their order, each once."""
    return list(dict.fromkeys(filter(None, (label.strip() for label in text.split(",")))))


def _fault(value: object, schema: Mapping[str, Any]) -> str:
    """What is wrong with a value, as words that follow its name; "" for nothing."""
    kind = schema["type"]
    if kind == "integer":
        return _number_fault(value, schema)
    if kind == "array":
        return _list_fault(value, schema)
    if not isinstance(value, str):
        return f"has to be {_PLURAL[kind]}"
    if len(value) > schema.get("maxLength", len(value)):
        return f"has {len(value)} characters, more than {schema['maxLength']}"
    if schema.get("minLength") and not value.strip():
        return "is empty"
    if "enum" in schema and value not in schema["enum"]:
        return f"has to be one of {', '.join(schema['enum'])}"
    return ""


def _number_fault(value: object, schema: Mapping[str, Any]) -> str:
    # To JSON, 3.0 is a whole number.
    is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    least, most = schema["minimum"], schema.get("maximum", 2**53)
    if is_whole and least <= value <= most:
        return ""
    bounds = f"from {least} to {most}" if "maximum" in schema else f"from {least} on"
    return f"has to be a whole number {bounds}"


def _list_fault(value: object, schema: Mapping[str, Any]) -> str:
    if not isinstance(value, list):
        return "has to be a list"
    if len(value) > schema["maxItems"]:
        return f"has {len(value)} items, more than {schema['maxItems']}"
    for number, item in enumerate(value):
        fault = _fault(item, schema["items"])
        if fault:
            return f"[{number}] {fault}"
    return ""
