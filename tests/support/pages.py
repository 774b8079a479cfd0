"""What the documentation pages of the shipped plugins list."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

_PLUGINS = Path(__file__).parents[2] / "docs" / "plugins"


def page(name: str) -> str:
    """The text of a plugin's page."""
    return (_PLUGINS / f"{name}.md").read_text()


def code_rows(text: str) -> list[list[str]]:
    """The rows of tables that begin with code: their cells, without backquotes around them."""
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def ranges(rows: list[list[str]], options: Container[str]) -> dict[str, tuple[int, ...]]:
    """The least, the default and the most of each of the options."""
    return {row[0]: tuple(map(int, row[1:4])) for row in rows if row[0] in options}
