"""What of a message is repeated in HTTP headers, for those on the way who read no bodies."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

ANNOTATION = "x-mcp-header"
_PLAIN = re.compile(r"[\x20-\x7e]*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ENCODED = re.compile(r"=\?base64\?.*\?=", re.DOTALL)
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PRIMITIVES = ("string", "integer", "boolean")

# Where JSON Schema 2020-12 has schemas within schemas.
_ONE = (
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_SEVERAL = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_BY_NAME = ("$defs", "definitions", "dependentSchemas", "patternProperties")


def mirrored(
    method: str, params: Mapping[str, Any], schema: Mapping[str, Any] | None
) -> dict[str, str]:
    """The headers of a request of a modern revision; schema: of the tool that is called."""
    found = {"Mcp-Method": method}
    name = params.get(_NAMED.get(method, ""))
    if type(name) is str:
        found["Mcp-Name"] = encode(name)
    if method == "tools/call" and schema is not None:
        for path, header in parameter_headers(schema).items():
            value = _value_at(params.get("arguments"), path)
            if value is not None:
                found[f"Mcp-Param-{header}"] = encode(value)
    return found


def encode(value: str) -> str:
    """A text as the value of a header; what would not arrive unchanged goes in base64."""
    plain = _PLAIN.fullmatch(value) and value == value.strip()
    if plain and not _ENCODED.fullmatch(value):
        return value
    data = base64.b64encode(value.encode("utf-8", "replace"))
    return f"=?base64?{data.decode()}?="


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the headers that a tool's schema asks for, or None."""
    try:
        parameter_headers(schema)
    except ValueError as error:
        return str(error)
    return None


def parameter_headers(schema: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Which arguments go into headers too: a header's name by the path to the argument.

    Raises ValueError for headers that are not allowed.
    """
    found: dict[tuple[str, ...], str] = {}
    names: set[str] = set()
    for path, node in _schemas(schema):
        if ANNOTATION not in node:
            continue
        header = node[ANNOTATION]
        if not path:
            raise ValueError(f"{ANNOTATION} stands where no argument is")
        if type(header) is not str or not _TOKEN.fullmatch(header):
            raise ValueError(f"{ANNOTATION} of {'.'.join(path)[:100]} is not a header's name")
        if node.get("type") not in _PRIMITIVES:
            raise ValueError(f"{ANNOTATION} of {'.'.join(path)[:100]} is on no plain value")
        if header.lower() in names:
            raise ValueError(f"{ANNOTATION} {header[:100]} is there twice")
        names.add(header.lower())
        found[path] = header
    return found


def _schemas(root: Any) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """All schemas in a schema, each with the path to its argument; None where it has none."""
    todo: list[tuple[tuple[str, ...] | None, Any]] = [((), root)]
    while todo:
        path, node = todo.pop()
        if type(node) is not dict:
            continue
        yield path, node
        for key, value in node.items():
            if key == "properties" and type(value) is dict:
                todo += [
                    (None if path is None else (*path, name), inner)
                    for name, inner in value.items()
                ]
            elif key in _BY_NAME and type(value) is dict:
                todo += [(None, inner) for inner in value.values()]
            elif key in _SEVERAL and type(value) is list:
                todo += [(None, inner) for inner in value]
            elif key in _ONE:
                todo.append((None, value))


def _value_at(value: Any, path: tuple[str, ...]) -> str | None:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int)) else None
