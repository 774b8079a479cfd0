"""Putting an answer together: short lines, tables, and an end that says what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tinyhost_sdk import HandlerError

from .table import WIDEST, cell, table
from .texts import line

MOST_ROWS = 1000
# A model reads all of an answer; a caller that asks for more rows gets more text, too.
CHARACTERS, MORE_CHARACTERS = 28_000, 200_000
_FEW = 5
_LONGEST_LINE = 3000


@dataclass(frozen=True, slots=True)
class View:
    """How much of an answer is shown: rows of each list, characters of the whole."""

    rows: int
    characters: int = CHARACTERS


def view_of(limit: int, usual: int) -> View:
    """What a call's limit asks for; 0 is the usual number of rows. Raises HandlerError."""
    if not 0 <= limit <= MOST_ROWS:
        raise HandlerError(f"limit has to be from 0 to {MOST_ROWS}, not {limit}")
    return View(limit, MORE_CHARACTERS) if limit else View(usual)


class Report:
    """An answer that grows from its first line on, which is the short one.

    A plugin whose answers always end in the same way overrides `ending`. instead: what its callers
    can do about an answer that is cut off, before they ask for more. widest: the characters of a cell
    in its tables.
    """

    instead = ""
    widest = WIDEST

    def __init__(self, view: View, first: str) -> None:
        self._view = view
        self._lines = [_safe(first)]
        # Lines that stand for rows which are not shown, with how many these are.
        self._hidden: dict[str, int] = {}

    def add(self, text: str) -> None:
        """One more line."""
        self._lines.append(_safe(text))

    def section(self, title: str) -> None:
        """A title after an empty line."""
        self._lines += ["", _safe(title)]

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows in columns, as many as the view shows."""
        every = list(rows)
        most, more = self._view.rows, self._more()
        text = table(headers, every, most=most, more=more, widest=self.widest)
        self._lines.append(text)
        self._hide(text.rpartition("\n")[2], len(every) - self._view.rows)

    def list(self, lines: Sequence[str]) -> None:
        """Lines of a list, as many as the view shows."""
        self._lines += map(_safe, lines[: self._view.rows])
        left = len(lines) - self._view.rows
        if left > 0:
            self._lines.append(f"{left} more; {self._more()}")
            self._hide(self._lines[-1], left)

    def _hide(self, said: str, left: int) -> None:
        if left > 0:
            self._hidden[said] = left

    def ending(self) -> Iterable[str]:
        """Lines that are not cut off: what could not be read, and the like."""
        return ()

    def text(self) -> str:
        """The answer, with its ending."""
        whole = "\n".join(self._lines)
        if len(whole) > self._view.characters:
            shown = whole[: self._view.characters].rpartition("\n")[0]
            cut = whole[len(shown) + 1 :].split("\n")
            left = sum(self._hidden.get(entry, 1) for entry in cut)
            instead = self.instead if self._view.rows < MOST_ROWS else ""
            whole = f"{shown}\n... {left} more lines; {instead}{self._more()}"
        return "\n".join([whole, *map(_safe, self.ending())])

    def _more(self) -> str:
        if self._view.rows >= MOST_ROWS:
            return "that is as much as a call shows"
        return f"call again with limit (up to {MOST_ROWS})"


def named(files: Mapping[str, str], count: int = 0) -> str:
    """The first of some files with reasons, by name: "a (why), b (why) and 3 more".

    count: how many there are, where not all are kept.
    """
    shown = [f"{line(name)} ({line(why)})" for name, why in sorted(files.items())[:_FEW]]
    left = max(count, len(files)) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")


def _safe(text: str) -> str:
    """One line whatever is in it: what was gathered must not be able to add lines of its own."""
    return cell(text, _LONGEST_LINE)
