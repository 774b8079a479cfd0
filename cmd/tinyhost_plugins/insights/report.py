"""Putting an answer together: short lines, tables, and an end that says what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .._shared.table import cell, table
from .loading import Loaded
from .objects import line

MOST_ROWS = 1000
_FEW = 5
_LONGEST_LINE = 3000


@dataclass(frozen=True, slots=True)
class View:
    """How much of an answer is shown: rows of each list, characters of the whole."""

    rows: int
    characters: int


class Report:
    """An answer that grows from its first line on, which is the short one."""

    def __init__(self, loaded: Loaded, view: View, first: str) -> None:
        self._loaded = loaded
        self._view = view
        self._lines = [_safe(first)]

    def add(self, text: str) -> None:
        """One more line."""
        self._lines.append(_safe(text))

    def section(self, title: str) -> None:
        """A title after an empty line."""
        self._lines += ["", _safe(title)]

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows in columns, as many as the view shows."""
        self._lines.append(table(headers, rows, most=self._view.rows, more=_more(self._view)))

    def list(self, lines: Sequence[str]) -> None:
        """Lines of a list, as many as the view shows."""
        self._lines += map(_safe, lines[: self._view.rows])
        left = len(lines) - self._view.rows
        if left > 0:
            self._lines.append(f"{left} more; {_more(self._view)}")

    def text(self) -> str:
        """The answer, with what could not be read at its end."""
        tail = "".join(f"\n{text}" for text in _missing(self._loaded))
        whole = "\n".join(self._lines)
        if len(whole) > self._view.characters:
            shown = whole[: self._view.characters].rpartition("\n")[0]
            left = whole.count("\n") - shown.count("\n")
            whole = f"{shown}\n... {left} more lines; {_more(self._view)}"
        return whole + tail


def _safe(text: str) -> str:
    """One line whatever is in it: an archive must not be able to add lines of its own."""
    return cell(text, _LONGEST_LINE)


def _more(view: View) -> str:
    if view.rows >= MOST_ROWS:
        return "that is as much as a call shows"
    return f"call again with limit (up to {MOST_ROWS})"


def _missing(loaded: Loaded) -> list[str]:
    lines: list[str] = []
    for title, files in (("not readable", loaded.faults), ("left out", loaded.left_out)):
        if files:
            shown = [f"{line(name)} ({why})" for name, why in sorted(files.items())[:_FEW]]
            more = f" and {len(files) - _FEW} more" if len(files) > _FEW else ""
            lines.append(f"Files {title}: {', '.join(shown)}{more}")
    return lines
