"""What a plugin shows to a person, and the text that every view can be folded to."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import attrs

from .forms import Choice, omitted, tagged


class Tone(enum.StrEnum):
    """How a badge is meant."""

    NEUTRAL = "neutral"
    GOOD = "good"
    BAD = "bad"
    ATTENTION = "attention"


@tagged("kind", "text")
@attrs.frozen(kw_only=True)
class ViewText:
    """Text as it is."""

    text: str


@tagged("kind", "markdown")
@attrs.frozen(kw_only=True)
class ViewMarkdown:
    """Text in Markdown."""

    text: str


@tagged("kind", "code")
@attrs.frozen(kw_only=True)
class ViewCode:
    """Source text."""

    text: str
    lang: str | None = None


@tagged("kind", "diff")
@attrs.frozen(kw_only=True)
class ViewDiff:
    """A unified diff."""

    unified: str


@tagged("kind", "list")
@attrs.frozen(kw_only=True)
class ViewList:
    """Lines of one kind."""

    items: tuple[str, ...] = ()


@tagged("kind", "table")
@attrs.frozen(kw_only=True)
class ViewTable:
    """Rows under headers."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()


@tagged("kind", "keyValue")
@attrs.frozen(kw_only=True)
class ViewKeyValue:
    """Pairs of a name and a value."""

    rows: tuple[tuple[str, str], ...] = ()


@tagged("kind", "progress")
@attrs.frozen(kw_only=True)
class ViewProgress:
    """How far something has come."""

    value: float
    total: float | None = None
    label: str | None = None


@tagged("kind", "badge")
@attrs.frozen(kw_only=True)
class ViewBadge:
    """A word in a box."""

    text: str
    tone: Tone = Tone.NEUTRAL


@attrs.frozen(kw_only=True)
class TreeNode:
    """One node of a tree."""

    label: str
    badge: str | None = None
    tone: Tone = Tone.NEUTRAL
    children: tuple[TreeNode, ...] = ()


@tagged("kind", "tree")
@attrs.frozen(kw_only=True)
class ViewTree:
    """Nodes below nodes."""

    nodes: tuple[TreeNode, ...] = ()


@tagged("kind", "stack")
@attrs.frozen(kw_only=True)
class ViewStack:
    """Views below each other."""

    children: tuple[View, ...] = ()


@tagged("kind", "columns")
@attrs.frozen(kw_only=True)
class ViewColumns:
    """Views side by side."""

    children: tuple[View, ...] = ()


@tagged("kind", "panel")
@attrs.frozen(kw_only=True)
class ViewPanel:
    """A view under a title."""

    title: str
    child: View


@attrs.frozen(kw_only=True)
class ViewAction:
    """Something that can be chosen; key is one character."""

    label: str
    action: Any = None
    key: str | None = None


@tagged("kind", "actions")
@attrs.frozen(kw_only=True)
class ViewActions:
    """Things that can be chosen."""

    items: tuple[ViewAction, ...] = ()


@tagged("kind", "custom")
@attrs.frozen(kw_only=True)
class ViewCustom:
    """A view of another kind: its data, and its text for those who do not know it."""

    custom_kind: str
    data: Any = None
    fold: str = omitted("")


def _unknown(value: dict[str, Any]) -> ViewCustom:
    fold = value.get("fold")
    kind = str(value["kind"])
    return ViewCustom(custom_kind=kind, data=value, fold=fold if type(fold) is str else f"[{kind}]")


View = Annotated[
    ViewText
    | ViewMarkdown
    | ViewCode
    | ViewDiff
    | ViewList
    | ViewTable
    | ViewKeyValue
    | ViewProgress
    | ViewBadge
    | ViewTree
    | ViewStack
    | ViewColumns
    | ViewPanel
    | ViewActions
    | ViewCustom,
    Choice("View", _unknown),
]


def fold(view: View) -> str:
    """The text that stands for a view where nothing else can be shown."""
    match view:
        case ViewText(text=text) | ViewMarkdown(text=text) | ViewCode(text=text):
            return text
        case ViewDiff(unified=text) | ViewCustom(fold=text):
            return text
        case ViewList(items=items):
            return "\n".join(f"- {item}" for item in items)
        case ViewTable(headers=headers, rows=rows):
            return "\n".join(" · ".join(row) for row in (headers, *rows))
        case ViewKeyValue(rows=pairs):
            return "\n".join(f"{name}: {value}" for name, value in pairs)
        case ViewProgress():
            return progress_text(view)
        case ViewBadge(text=text):
            return f"[{text}]"
        case ViewTree(nodes=nodes):
            return "\n".join(line for node in nodes for line in tree_lines(node, 0))
        case ViewStack(children=children) | ViewColumns(children=children):
            return "\n".join(fold(child) for child in children)
        case ViewPanel(title=title, child=child):
            return f"{title}\n{fold(child)}"
        case ViewActions(items=actions):
            return " ".join(f"[{item.label}]" for item in actions)


def progress_text(view: ViewProgress) -> str:
    """ "label 40 %", or the count where there is no total."""
    if view.total is not None and view.total > 0:
        said = f"{int(view.value * 100 / view.total)} %"
    else:
        said = f"{view.value:g}" if isinstance(view.value, float) else str(view.value)
    return f"{view.label} {said}" if view.label else said


def tree_lines(node: TreeNode, depth: int) -> list[str]:
    """A node and those below it, each a line."""
    badge = f" [{node.badge}]" if node.badge else ""
    lines = ["  " * depth + node.label + badge]
    for child in node.children:
        lines += tree_lines(child, depth + 1)
    return lines
