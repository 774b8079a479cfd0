"""Putting an answer together: short lines, tables, and an end that says what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .._shared.must_gather import MustGather
from .._shared.table import cell, table
from .pace import Pace

MOST_ROWS = 1000
# A model reads all of an answer; a caller that asks for more rows gets more text, too.
CHARACTERS, MORE_CHARACTERS = 28_000, 200_000
_FEW = 5
_LONGEST_LINE = 3000


@dataclass(frozen=True, slots=True)
class Ask:
    """What goes with one call. rows: of each list. characters: of the whole answer."""

    mg: MustGather
    pace: Pace
    rows: int
    characters: int = CHARACTERS


class Report:
    """An answer that grows from its first line on, which is the short one."""

    def __init__(self, ask: Ask, first: str) -> None:
        self._ask = ask
        self._lines = [_safe(first)]

    def add(self, text: str) -> None:
        """One more line."""
        self._lines.append(_safe(text))

    def section(self, title: str) -> None:
        """A title after an empty line."""
        self._lines += ["", _safe(title)]

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows in columns, as many as the call shows."""
        text = table(headers, rows, most=self._ask.rows, more=_more(self._ask.rows))
        self._lines += text.split("\n")

    def list(self, lines: Sequence[str]) -> None:
        """Lines of a list, as many as the call shows."""
        self._lines += map(_safe, lines[: self._ask.rows])
        left = len(lines) - self._ask.rows
        if left > 0:
            self._lines.append(f"{left} more; {_more(self._ask.rows)}")

    def text(self) -> str:
        """The answer, with what could not be read at its end."""
        tail = "".join(f"\n{text}" for text in _missing(self._ask))
        whole = "\n".join(self._lines)
        if len(whole) > self._ask.characters:
            shown = whole[: self._ask.characters].rpartition("\n")[0]
            left = whole.count("\n") - shown.count("\n")
            whole = f"{shown}\n... {left} more lines; ask for less, or {_more(self._ask.rows)}"
        return whole + tail


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 node", "2 nodes"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def line(value: str, most: int = 200) -> str:
    """A text on one line, with single blanks, cut after `most` characters."""
    # The whole of a long text is not split for the sake of its beginning.
    return cell(" ".join(value[: most * 4].split()), most)


def size(count: int) -> str:
    """Bytes for a person: "512 B", "1.5 MiB"."""
    number = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024 or unit == "GiB":
            break
        number /= 1024
    return f"{count} B" if unit == "B" else f"{number:.1f} {unit}"


def _safe(text: str) -> str:
    """One line whatever is in it: a must-gather must not be able to add lines of its own."""
    return cell(text, _LONGEST_LINE)


def _more(rows: int) -> str:
    if rows >= MOST_ROWS:
        return "that is as much as a call shows"
    return f"call again with limit (up to {MOST_ROWS})"


def _missing(ask: Ask) -> list[str]:
    lines: list[str] = []
    if ask.pace.stopped:
        lines.append(
            f"Not complete: the time was over after {ask.pace.seconds:g} seconds while"
            f" {ask.pace.stopped}; ask for less, or set the option maxSeconds"
        )
    faults, count = sorted(ask.mg.faults.items()), ask.mg.tree.fault_count
    if faults:
        shown = [f"{line(name)} ({line(why)})" for name, why in faults[:_FEW]]
        more = f" and {count - _FEW} more" if count > _FEW else ""
        lines.append(f"Not read: {', '.join(shown)}{more}")
    return lines
