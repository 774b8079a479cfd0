"""Edits of JSON-with-comments texts that keep comments, layout and every other byte.

A path is a list of object keys from the root. All functions return the new text and
raise JsoncError for a text that does not parse or a path that leads elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from tinyhost.jsonc import JsoncError, Member, Node, parse

_UNIT = "  "
_SAME_LINE_COMMENTS = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    """Append a value to the array at a path; a missing or null array is created."""
    node = _find(text, path)
    if node is None or node.kind == "null":
        return set_key(text, path, [value])
    if node.kind != "array":
        raise _not_a("array", path, node)
    return _insert(text, node, node.items, _render(value))


def set_key(text: str, path: Sequence[str], value: Any) -> str:
    """Set the key at a path, replacing its value or adding it; missing objects are created."""
    parent = parse(text).root
    for depth, key in enumerate(path):
        if parent.kind != "object":
            raise _not_a("object", path[:depth], parent)
        child = parent.get(key)
        if child is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, parent, parent.members, f"{_render(key)}: {_render(value)}")
        parent = child
    return text[: parent.start] + _render(value) + text[parent.end :]


def set_item(text: str, path: Sequence[str], index: int, value: Any) -> str:
    """Replace the value at an index of the array at a path."""
    item = _array(text, path, index).items[index]
    return text[: item.start] + _render(value) + text[item.end :]


def remove_item(text: str, path: Sequence[str], index: int) -> str:
    """Remove the value at an index of the array at a path, its comma, and a line left empty."""
    node = _array(text, path, index)
    item = node.items[index]
    cuts = [(item.start, item.end)]
    # The comma behind goes too; the last item of an array takes the one before instead.
    if index < len(node.commas):
        cuts.append((node.commas[index], node.commas[index] + 1))
    elif index > 0:
        cuts.insert(0, (node.commas[index - 1], node.commas[index - 1] + 1))
    for start, end in reversed(_joined(text, cuts)):
        start, end = _tidy(text, start, end)
        text = text[:start] + text[end:]
    return text


def _find(text: str, path: Sequence[str]) -> Node | None:
    node = parse(text).root
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise _not_a("object", path[:depth], node)
        child = node.get(key)
        if child is None:
            return None
        node = child
    return node


def _array(text: str, path: Sequence[str], index: int) -> Node:
    node = _find(text, path)
    if node is None or node.kind != "array":
        raise _not_a("array", path, node or parse(text).root)
    if not 0 <= index < len(node.items):
        raise JsoncError(f"{_dotted(path)} has no item {index}", node.line, node.column)
    return node


def _not_a(kind: str, path: Sequence[str], node: Node) -> JsoncError:
    return JsoncError(f"{_dotted(path)} must be an {kind}", node.line, node.column)


def _dotted(path: Sequence[str]) -> str:
    return ".".join(path) or "the top level"


def _render(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _insert(
    text: str, node: Node, children: tuple[Node, ...] | tuple[Member, ...], piece: str
) -> str:
    """Put a piece behind the last child of an array or object."""
    if not children:
        return _insert_first(text, node, piece)
    last = children[-1]
    indent = _own_line_indent(text, last.start)
    trailing = len(node.commas) == len(children)
    at = node.commas[-1] + 1 if trailing else last.end
    if indent is None:
        return f"{text[:at]}{' ' if trailing else ', '}{piece}{',' * trailing}{text[at:]}"
    # On a line of its own, behind the comments that belong to the line before.
    match = _SAME_LINE_COMMENTS.match(text, at, node.end - 1)
    below = match.end() if match else at
    comma_here, comma_there = ("", ",") if trailing else (",", "")
    new = _newline(text) + indent + piece + comma_there
    return text[:at] + comma_here + text[at:below] + new + text[below:]


def _insert_first(text: str, node: Node, piece: str) -> str:
    close = node.end - 1
    inside = text[node.start + 1 : close]
    break_at = max(inside.rfind("\n"), inside.rfind("\r"))
    if break_at < 0 or inside[break_at:].strip():
        return text[:close] + piece + text[close:]
    # The closing bracket has its own line: the piece gets one above it, one step deeper.
    outer = inside[break_at + 1 :]
    at = close - len(outer)
    return text[:at] + outer + _UNIT + piece + _newline(text) + text[at:]


def _own_line_indent(text: str, start: int) -> str | None:
    """The blanks before a place, when nothing else stands before it on its line."""
    line_start = _line_start(text, start)
    before = text[line_start:start]
    return before if line_start and not before.strip(" \t") else None


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _joined(text: str, cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Two cuts become one when only blanks of one line lie between them."""
    if len(cuts) == 2 and not text[cuts[0][1] : cuts[1][0]].strip(" \t"):
        return [(cuts[0][0], cuts[1][1])]
    return cuts


def _tidy(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a cut by the blanks that it would leave, and by its line when that ends up empty."""
    after = end
    while text[after : after + 1] in (" ", "\t"):
        after += 1
    if text[after : after + 1] not in ("", "\n", "\r"):
        # The blanks behind stay where they keep two neighbours apart.
        return start, (after if text[start - 1 : start] in ("[", " ", "\t", "\n") else end)
    end = after
    while text[start - 1 : start] in (" ", "\t"):
        start -= 1
    if start and start == _line_start(text, start):
        end += 2 if text.startswith("\r\n", end) else 1
    return start, end
