"""Views of plugins at a terminal. Nothing in them is taken for markup or a command to it."""

from __future__ import annotations

import sys

from rich import box
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from tinyhost.bingo.views import (
    Tone,
    TreeNode,
    View,
    ViewBadge,
    ViewColumns,
    ViewKeyValue,
    ViewPanel,
    ViewProgress,
    ViewStack,
    ViewTable,
    ViewTree,
    fold,
    progress_text,
)
from tinyhost_cli.output import cell, escape

_STYLES = {Tone.NEUTRAL: "bold", Tone.GOOD: "green", Tone.BAD: "red", Tone.ATTENTION: "yellow"}
_BAR = 40  # characters


def print_view(view: View) -> None:
    """Print a view to a terminal."""
    Console(file=sys.stdout).print(rendered(view))


def rendered(view: View) -> RenderableType:
    """A view for rich; one that has no form of its own is its text."""
    match view:
        case ViewTable(headers=headers, rows=rows):
            return _table(headers, rows)
        case ViewKeyValue(rows=pairs):
            return _table((), pairs)
        case ViewTree(nodes=nodes):
            return Group(*(_tree(node) for node in nodes))
        case ViewBadge(text=text, tone=tone):
            return Text(f"[{cell(text)}]", style=_STYLES[tone])
        case ViewProgress():
            return _progress(view)
        case ViewStack(children=children):
            return Group(*map(rendered, children))
        case ViewColumns(children=children):
            return Columns(list(map(rendered, children)), padding=(0, 3))
        case ViewPanel(title=title, child=child):
            return Panel(rendered(child), title=Text(cell(title)), title_align="left", expand=False)
        case _:
            return Text(escape(fold(view)))


def _table(headers: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=bool(headers))
    width = max([len(headers), *(len(row) for row in rows)], default=0)
    for index in range(width):
        header = Text(cell(headers[index])) if index < len(headers) else ""
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(text)) for text in row))
    return table


def _tree(node: TreeNode) -> Tree:
    label = Text(cell(node.label))
    if node.badge:
        label.append(f" [{cell(node.badge)}]", style=_STYLES[node.tone])
    tree = Tree(label)
    for child in node.children:
        tree.children.append(_tree(child))
    return tree


def _progress(view: ViewProgress) -> RenderableType:
    text = Text(cell(progress_text(view)))
    if view.total is None or view.total <= 0:
        return text
    return Columns([text, ProgressBar(total=view.total, completed=view.value, width=_BAR)])
