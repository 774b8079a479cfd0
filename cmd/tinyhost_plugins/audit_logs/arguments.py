"""Checks a tool's arguments against its own schema, of which it knows as much as is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinyhost_sdk import HandlerError


def check(tool: str, schema: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null. Raises HandlerError that names every fault."""
    properties: Mapping[str, Any] = schema["properties"]
    given = {name: value for name, value in args.items() if value is not None}
    faults = [
        fault
        for name, value in given.items()
        if name in properties and (fault := _fault(name, value, properties[name]))
    ]
    faults += [
        f"{name} is missing: {_described(properties[name])}"
        for name in schema["required"]
        if not given.get(name)
    ]
    unknown = sorted(f"{name:.40}" for name in given if name not in properties)
    if unknown:
        faults.append(f"unknown: {', '.join(unknown)}; there are {', '.join(properties)}")
    if faults:
        raise HandlerError(f"wrong arguments for {tool}: {'; '.join(faults)}")
    return {name: _value(value) for name, value in given.items()}


def _described(schema: Mapping[str, Any]) -> str:
    choices = schema.get("enum")
    return f"one of {', '.join(choices)}" if choices else str(schema["description"])


def _fault(name: str, value: object, schema: Mapping[str, Any]) -> str:
    value = _value(value)
    kind, what = {
        "string": (str, "a string"),
        "integer": (int, "an integer"),
        "boolean": (bool, "true or false"),
    }[schema["type"]]
    if type(value) is not kind:
        return f"{name} must be {what}"
    choices = schema.get("enum")
    if choices and value and value not in choices:
        return f"{name} must be one of {', '.join(choices)}, not {value!r:.80}"
    return ""


def _value(value: object) -> object:
    # To JSON, 3.0 is an integer.
    return int(value) if type(value) is float and value.is_integer() else value
