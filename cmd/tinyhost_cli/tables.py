"""Tables at a terminal. Nothing in a cell is taken for markup, and nothing is left out."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tinyhost_cli.output import cell


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(text)) for text in row))
    Console(file=sys.stdout).print(table)


def print_facts(title: str, lines: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns, each name once."""
    table = Table(box=box.SIMPLE_HEAD, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    before = ""
    for name, line in lines:
        table.add_row(Text("" if name == before else name), Text(line))
        before = name
    console = Console(file=sys.stdout)
    console.print(Text(cell(title), style="bold"))
    console.print(table)
