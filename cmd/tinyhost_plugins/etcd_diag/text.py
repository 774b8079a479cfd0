"""How sizes, durations, keys and counts are written."""

from __future__ import annotations

from tinyhost_plugins._shared.table import cell

_UNITS = ("KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Bytes with one decimal: "12 B", "1.5 KiB", "2.0 GiB"."""
    if count < 1024:
        return f"{count} B"
    value, unit = count / 1024, 0
    # 1023.96 KiB would be written as 1024.0 KiB.
    while value >= 1023.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"


def percent(part: int, whole: int) -> str:
    """A share of a whole, such as "12.5%"; "-" of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def counted(number: int, word: str, words: str = "") -> str:
    """A number and its noun: "1 key", "2 keys"."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {words or word + 's'}"


def milliseconds(value: float) -> str:
    """Milliseconds with what precision makes sense: "0.45", "12.3", "1500"."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def shorten(text: str, most: int) -> str:
    """One line of at most that many characters; control characters are escaped."""
    return cell(text, most)
