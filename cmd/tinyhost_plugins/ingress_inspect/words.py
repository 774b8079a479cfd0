"""A line of an HAProxy configuration as words, by HAProxy's rules of quoting and escaping.

Environment variables stay as they are written: what they stood for is not known.
"""

from __future__ import annotations

import re

_BLANKS = " \t\n\v\f\r"
_SPECIAL = re.compile(r"[\"'\\#]")
# Bare text, a double-quoted or a single-quoted part, or an escaped character. A part that is
# not closed reaches to the end.
_PART = re.compile(
    r"""[^ \t\n\v\f\r"'\\\#]++ | "(?:[^"\\]++|\\.)*+"? | '[^']*+'? | \\(?:x[0-9a-fA-F]{2}|.)?""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"} | {sign: sign for sign in " #\\'\""}


def words(line: str) -> list[str]:
    """The words of a line; what follows a "#" outside of quotes is a comment."""
    if not _SPECIAL.search(line):
        return line.split()
    found: list[str] = []
    current: list[str] | None = None
    at = 0
    while at < len(line) and line[at] != "#":
        if line[at] in _BLANKS:
            if current is not None:
                found.append("".join(current))
                current = None
            at += 1
            continue
        part = _PART.match(line, at)
        assert part is not None
        current = current or []
        current.append(_meaning(part[0]))
        at = part.end()
    if current is not None:
        found.append("".join(current))
    return found


def _meaning(part: str) -> str:
    if part[0] == "'":
        return part[1:].removesuffix("'")
    if part[0] == "\\":
        return _ESCAPE.sub(_character, part)
    if part[0] != '"':
        return part
    # A quote at the end that is escaped does not close.
    inner = _ESCAPE.sub(_quoted_character, part[1:])
    return inner.removesuffix('"') if _is_closed(part) else inner


def _is_closed(part: str) -> bool:
    """Whether a double-quoted part ends with its closing quote."""
    if len(part) < 2 or part[-1] != '"':
        return False
    before = part[1:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _character(escape: re.Match[str]) -> str:
    sign = escape[1]
    if len(sign) == 3:
        return chr(int(sign[1:], 16))
    return _ESCAPED.get(sign, escape[0])


def _quoted_character(escape: re.Match[str]) -> str:
    return "$" if escape[1] == "$" else _character(escape)
