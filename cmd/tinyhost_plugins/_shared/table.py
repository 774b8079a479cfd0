"""Tables of plain text, for a model and for a person at a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

WIDEST = 60
GAP = "  "
# What stands for "nothing" in a column of numbers.
_BLANKS = ("", "-")
# They are in emoji, and in the words of several scripts.
_JOINERS = "\u200c\u200d"


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    most: int = 50,
    more: str = "",
    widest: int = WIDEST,
) -> str:
    """The rows under their headers, in aligned columns, without a newline at the end.

    Columns of numbers are aligned to the right; None is an empty cell. Cells are made safe and short as
    `cell` says, after `widest` characters. At most `most` rows are shown; a last line then says how many are left, and `more` says how
    to see them: "12 more rows; ask for a smaller range". Raises ValueError for a row that has more or fewer
    cells than there are headers.
    """
    remaining = iter(rows)
    shown = [[cell(value, widest) for value in row] for row in islice(remaining, max(most, 0))]
    left = sum(1 for _ in remaining)
    names = [cell(name) for name in headers]
    columns = [_aligned(column) for column in zip(names, *shown, strict=False)]
    if any(len(row) != len(names) for row in shown):
        raise ValueError(f"a row does not have {len(names)} cells")
    lines = [GAP.join(line).rstrip() for line in zip(*columns, strict=True)]
    if left:
        lines.append(f"{left} more row{'s' if left != 1 else ''}" + (f"; {more}" if more else ""))
    return "\n".join(lines)


def cell(value: object, widest: int = WIDEST) -> str:
    """A value as text of one line: "" for None, control characters escaped, cut with an ellipsis."""
    text = "" if value is None else str(value)
    # A cut before the escaping, so that a huge value costs no more than a long one.
    short = text[: widest + 1]
    if not short.isprintable():
        short = "".join(map(_visible, short))
    if len(text) > widest or len(short) > widest:
        return short[: max(widest - 1, 0)] + "…"
    return short


def is_line(text: str) -> bool:
    """Whether a text is one line without control characters, so that `cell` escapes nothing of it."""
    return text.isprintable() or all(
        character.isprintable() or character in _JOINERS or _is_blank(character)
        for character in text
    )


def _is_blank(character: str) -> bool:
    return unicodedata.category(character) == "Zs"


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if _is_blank(character):
        return " "
    return character.encode("unicode_escape").decode("ascii")


def _aligned(column: Sequence[str]) -> list[str]:
    """The cells of a column, the first of which is the header, all with the same length."""
    width = max(map(len, column))
    values = [text for text in column[1:] if text not in _BLANKS]
    if values and all(map(_is_number, values)):
        return [text.rjust(width) for text in column]
    return [text.ljust(width) for text in column]


def _is_number(text: str) -> bool:
    """Whether a cell is a number, perhaps with a sign, commas between thousands, or a percent sign."""
    digits = text.removesuffix("%").replace(",", "")
    try:
        float(digits)
    except ValueError:
        return False
    return digits[-1].isdigit()
