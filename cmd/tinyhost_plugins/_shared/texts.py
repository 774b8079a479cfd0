"""How counts, sizes and foreign texts are written in answers."""

from __future__ import annotations

from .table import cell

_UNITS = ("KiB", "MiB", "GiB", "TiB")


def counted(number: int, one: str, many: str = "") -> str:
    """A number and its noun: "1 node", "2,000 nodes"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Bytes with one decimal: "12 B", "1.5 KiB", "2.0 GiB"."""
    if count < 1024:
        return f"{count} B"
    value, unit = count / 1024, 0
    # 1023.96 KiB would be written as 1024.0 KiB.
    while value >= 1023.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"


def line(value: str, most: int = 200) -> str:
    """A text on one line, with single blanks, cut after `most` characters."""
    # The whole of a long text is not split for the sake of its beginning.
    return cell(" ".join(value[: most * 4].split()), most)
