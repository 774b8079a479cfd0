"""Private keys in blocks with a BEGIN and an END line, also when a part is cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .spans import SHAPED, Span

LABEL = "private-key"

_LINE = r"-{4,5} ?%s [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_EDGE = re.compile(f"(?P<begin>{_LINE % 'BEGIN'})|(?P<end>{_LINE % 'END'})")
# What a key is made of: lines of base64, header lines, and breaks that may be escaped.
_BODY = re.compile(
    r"(?:(?:\\{1,8}[nr]|[\r\n])[ \t>|]{0,40}(?:[A-Za-z][A-Za-z\-]{1,30}: [^\r\n\\]{0,200})?"
    r"[A-Za-z0-9+/=]{0,200}[ \t]{0,8})*+"
)
_LINE_OF_KEY = re.compile(r"[ \t>|]{0,40}[A-Za-z0-9+/=]{16,200}[ \t\r]{0,8}")
# A host that shortens outputs says so in the middle.
_CUT = re.compile(r"left out|truncated|omitted")
# As PuTTY keeps keys.
_PUTTY = re.compile(
    r"Private-Lines: \d{1,4}\r?\n(?P<key>(?:[A-Za-z0-9+/=]{1,100}\r?(?:\n|\Z)){1,200})"
)
_LONGEST = 32 * 1024  # characters from BEGIN to END


def find(text: str) -> Iterator[Span]:
    if "Private-Lines" in text:
        for found in _PUTTY.finditer(text):
            key = found["key"].rstrip()
            yield Span(found.start("key"), found.start("key") + len(key), LABEL, SHAPED)
    if "PRIVATE KEY" not in text:
        return
    begin: re.Match[str] | None = None
    done = 0
    for edge in _EDGE.finditer(text):
        if edge["begin"]:
            if begin is not None:
                yield _without_end(text, begin)
            begin = edge
        elif begin is not None and _is_whole(text, begin.end(), edge.start()):
            yield Span(begin.start(), edge.end(), LABEL, SHAPED)
            begin = None
        else:
            if begin is not None:
                without_end = _without_end(text, begin)
                yield without_end
                done, begin = without_end.end, None
            yield Span(_start_before(text, edge.start(), done), edge.end(), LABEL, SHAPED)
        done = edge.end()
    if begin is not None:
        yield _without_end(text, begin)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether all between a BEGIN and an END is one key, however its lines are adorned."""
    return end - start <= _LONGEST and not _CUT.search(text, start, end)


def _without_end(text: str, begin: re.Match[str]) -> Span:
    body = _BODY.match(text, begin.end())
    end = body.end() if body else begin.end()
    while end > begin.end() and text[end - 1].isspace():
        end -= 1
    return Span(begin.start(), end, LABEL, SHAPED)


def _start_before(text: str, end_line: int, done: int) -> int:
    """Where the lines of base64 begin that stand before an END line."""
    start = text.rfind("\n", done, end_line) + 1 or end_line
    while start > done:
        previous = text.rfind("\n", done, start - 1) + 1 or done
        if not _LINE_OF_KEY.fullmatch(text, previous, start - 1):
            break
        start = previous
    return start
