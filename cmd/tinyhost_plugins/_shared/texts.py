"""How counts, sizes and foreign texts are written in answers."""

from __future__ import annotations

from .table import cell

# Where something is in a text: the positions of its first character and after its last.
Span = tuple[int, int]
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


def around(value: str, span: Span, most: int) -> str:
    """Like `line`, but what is at `span` is shown: when it is too far behind, the text's beginning
    (where a log has its time) is followed by "…" and the part around it. Of what is too long itself
    that is its beginning, or its end when it begins where the text does.
    """
    start, end = span
    if end <= most * 4 and _length(value[:end]) < most:
        return line(value, most)
    first = most // 5
    room = most - first - 3
    half = room // 2 - 1
    is_long = _length(value[start:end]) > half
    shown = end if is_long and start < first else start
    begin = max(shown - half, 0)
    # What is before it may be long as it is written.
    while begin < shown and _length(value[begin:shown]) > half:
        begin = (begin + shown + 1) // 2
    if begin == 0:
        return line(value, most)
    return f"{line(value[:begin], first).removesuffix('…')} … {line(value[begin:], room)}"


def _length(value: str) -> int:
    """The characters that a text takes on one line."""
    # None takes more than ten, as \U0010ffff does.
    return len(line(value, 10 * len(value) + 1))
