"""The host's tools as MCP tools: their names, annotations and pages."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mcp_types as types

from ...model import ToolSpec
from .text import sound

NameOf = Callable[[ToolSpec], str]

# What a client must assume of a tool that nothing is known of, by MCP's own rules.
_UNKNOWN: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


class BadCursor(ValueError):
    """A cursor that was not given out, or whose place in the list is gone."""


def by_id(tool: ToolSpec) -> str:
    """The name that tools have here unless the program says otherwise: their id."""
    return tool.id


def named(tools: Sequence[ToolSpec], name_of: NameOf) -> dict[str, ToolSpec]:
    """The tools by the names that clients know them by. Of two with one name the first is kept."""
    found: dict[str, ToolSpec] = {}
    for tool in tools:
        found.setdefault(name_of(tool), tool)
    return found


def tool_entry(name: str, tool: ToolSpec) -> types.Tool:
    """An entry of tools/list."""
    return types.Tool(
        name=name,
        description=sound(tool.description) or None,
        input_schema={"type": "object", **sound(tool.input_schema)},
        annotations=types.ToolAnnotations.model_validate(hints_of(tool.hints)),
    )


def hints_of(hints: Mapping[str, bool]) -> dict[str, bool]:
    """All four hints: the plugin's own, and the cautious ones where it says nothing."""
    quiet = {"destructiveHint": False} if hints.get("readOnlyHint") else {}
    return {**_UNKNOWN, **quiet, **{key: hints[key] for key in _UNKNOWN if key in hints}}


def page(names: Sequence[str], cursor: str | None, size: int) -> tuple[Sequence[str], str | None]:
    """The names behind the cursor, `size` at most, and the cursor for those that follow.

    A cursor names the last tool of its page, so that a list which changes meanwhile skips
    nothing. Raises BadCursor.
    """
    start = 0 if cursor is None else _place(names, cursor)
    shown = names[start : start + size]
    more = start + size < len(names)
    return shown, _cursor(shown[-1]) if more else None


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _place(names: Sequence[str], cursor: str) -> int:
    try:
        return names.index(base64.b64decode(cursor, altchars=b"-_", validate=True).decode()) + 1
    except ValueError:
        raise BadCursor("the list has changed, or the cursor was never given out") from None


def schema_of(tools: Mapping[str, ToolSpec], name: str) -> Mapping[str, Any] | None:
    """The schema of a tool's arguments, None for one that is not there."""
    tool = tools.get(name)
    return tool.input_schema if tool else None
