"""An MCP server's list of tools as ours: names that fit our ids, schemas, hints.

A tool that cannot be offered is left out, with the reason, and the others are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ..errors import cut
from ..model import ToolSpec
from ..names import tool_id

MAX_TOOLS = 1024
_MAX_ID = 64
_DIGEST = 8  # hexadecimal digits that tell shortened names apart
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@attrs.frozen
class Tools:
    """What a server offers. originals: the server's own names by ours. refused: why what is
    missing was left out."""

    specs: Sequence[ToolSpec]
    originals: Mapping[str, str]
    refused: Sequence[str]


def read_tools(
    plugin: str,
    entries: Sequence[Any],
    schema_problem: Callable[[Mapping[str, Any]], str | None] = lambda _schema: None,
) -> Tools:
    """Read the entries of tools/list.

    schema_problem: what else is wrong with a tool's schema. Of several tools whose names
    become the same, one that has that name already is kept, else the first.
    """
    specs: dict[str, ToolSpec] = {}
    originals: dict[str, str] = {}
    refused: list[str] = []
    # sorted() is stable: names that need no change first, each group in the server's order.
    for entry in sorted(entries, key=lambda entry: not _fits(plugin, entry)):
        try:
            original = _read_name(entry)
            name = our_name(plugin, original)
            if name in specs:
                raise ValueError(f"its name {original!r} is the same as {originals[name]!r} here")
            specs[name] = _read_tool(plugin, name, entry, schema_problem)
            originals[name] = original
        except ValueError as error:
            refused.append(cut(str(error), 300))
        if len(specs) == MAX_TOOLS:
            refused.append(f"it offers more than {MAX_TOOLS} tools")
            break
    order = {original: index for index, original in enumerate(map(_name_or_none, entries))}
    tools = sorted(specs.values(), key=lambda spec: order[originals[spec.name]])
    return Tools(tools, originals, refused)


def our_name(plugin: str, original: str) -> str:
    """The name under which a tool is offered here.

    What an id must not contain becomes "_". A name that is too long is cut, and ends in a
    digest of the whole of it, so that it stays the same from one day to the next. Raises
    ValueError when there is no room for that.
    """
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", original)
    room = _MAX_ID - len(f"plugin__{plugin}__")
    if len(name) > room:
        if room < _DIGEST + 2:
            raise ValueError(f"the plugin's name leaves no room for the tool's name {original!r}")
        digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
        name = f"{name[: room - _DIGEST - 1]}_{digest}"
    tool_id(plugin, name)
    return name


def _name_or_none(entry: Any) -> str | None:
    name = entry.get("name") if type(entry) is dict else None
    return name if type(name) is str else None


def _fits(plugin: str, entry: Any) -> bool:
    name = _name_or_none(entry)
    try:
        return name is not None and our_name(plugin, name) == name
    except ValueError:
        return False


def _read_name(entry: Any) -> str:
    name = _name_or_none(entry)
    if not name:
        raise ValueError("a tool has no name")
    return name


def _read_tool(
    plugin: str,
    name: str,
    entry: Mapping[str, Any],
    schema_problem: Callable[[Mapping[str, Any]], str | None],
) -> ToolSpec:
    original = entry["name"]
    schema = entry.get("inputSchema")
    if type(schema) is not dict or schema.get("type", "object") != "object":
        raise ValueError(f"the inputSchema of {original!r} does not describe an object")
    if problem := schema_problem(schema):
        raise ValueError(f"the inputSchema of {original!r} is not allowed: {problem}")
    description = entry.get("description")
    if description is None:
        description = entry.get("title") or ""
    if type(description) is not str:
        raise ValueError(f"the description of {original!r} is not a string")
    return ToolSpec(
        id=tool_id(plugin, name),
        name=name,
        plugin=plugin,
        description=description,
        input_schema={"type": "object", "properties": {}, **schema},
        hints=_read_hints(entry.get("annotations")),
    )


def _read_hints(value: Any) -> dict[str, bool]:
    if type(value) is not dict:
        return {}
    return {key: value[key] for key in _HINTS if type(value.get(key)) is bool}
