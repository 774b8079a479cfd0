"""Putting an answer together: short lines, tables, and an end that says what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .._shared.table import cell, table

MOST_ROWS = 1000
_FEW = 5
_LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True)
class View:
    """How much of an answer is shown: rows of each list, characters of the whole."""

    rows: int
    characters: int


class Report:
    """An answer that grows from its first line on, which is the short one."""

    def __init__(self, view: View, first: str) -> None:
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

    def text(self, left_out: Mapping[str, str], left_out_count: int) -> str:
        """The answer, with what could not be read at its end: paths and reasons."""
        whole = "\n".join(self._lines)
        if len(whole) > self._view.characters:
            shown = whole[: self._view.characters].rpartition("\n")[0]
            left = whole.count("\n") - shown.count("\n")
            whole = f"{shown}\n... {left} more lines; {_more(self._view)}"
        if left_out:
            named = [_safe(f"{cell(where, 200)} ({why})") for where, why in left_out.items()]
            shown = ", ".join(named[:_FEW])
            left = left_out_count - len(named[:_FEW])
            whole += f"\n\nNot read: {shown}" + (f" and {left} more" if left > 0 else "")
        return whole


def line(value: str, most: int = 200) -> str:
    """A text on one line, with single blanks, cut after `most` characters."""
    # The whole of a long text is not split for the sake of its beginning.
    return cell(" ".join(value[: most * 4].split()), most)


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 route", "2 routes"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _safe(text: str) -> str:
    """One line whatever is in it: a must-gather must not be able to add lines of its own."""
    return cell(text, _LONGEST_LINE)


def _more(view: View) -> str:
    if view.rows >= MOST_ROWS:
        return "that is as much as a call shows"
    return f"call again with limit (up to {MOST_ROWS})"
