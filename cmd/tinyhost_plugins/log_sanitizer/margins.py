"""Reading a text without what was put around and between it: colours, line numbers, signs of a diff.

A rule for a line of YAML, or for a whole document of JSON, cannot see either in a listing with line
numbers. So the rules get the text alone, and what they find is put back to its place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .spans import Span

Cut = tuple[int, int]

# Colours and the like, and the titles and links that terminals know.
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-9:;<=>?]{0,60}[ -/]{0,4}[@-~]|\][^\x07\x1b\r\n]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-Z])"
)
# As by `cat -n`, `nl`, `bat` and the tools of agents; with a colon or a hyphen, as by `grep -n`.
_NUMBER = re.compile(
    r"^(?:[ \t]{0,12}(?P<number>\d{1,7})(?:\t|→|[ ]{0,4}[|│] ?)"
    r"|(?:(?P<path>[^\s:]{1,200}?)(?P<sep>[:\-]))?(?P<found>\d{1,7})(?(sep)(?P=sep)|[:\-]))",
    re.MULTILINE,
)
_ANY_NUMBER = re.compile(r"^[^\S\r\n]{0,12}(?:[^\s:]{1,200}[:\-])?\d{1,7}[^\d\r\n]", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@", re.MULTILINE)
# Empty lines may have lost their blank; a line with a backslash tells of a missing line break.
_IN_HUNK = re.compile(r"(?P<sign>[+\- ])|\\|\r?\n")


class Plain(NamedTuple):
    """A text without its cuts.

    starts: where something was cut before, in order. gone: how many characters were cut before
    the first of them, up to the second, and so on, in all.
    """

    text: str
    starts: list[int]
    gone: list[int]

    def back(self, span: Span) -> Span:
        """The span in the text as it was."""
        return span._replace(start=self._at(span.start), end=self._at(span.end - 1) + 1)

    def _at(self, position: int) -> int:
        return position + self.gone[bisect_right(self.starts, position)]


def without(text: str, cuts: Iterable[Cut]) -> Plain:
    """The text without the cuts, which are in order and do not overlap."""
    pieces, starts, gone, done, total = [], [], [0], 0, 0
    for start, end in cuts:
        pieces.append(text[done:start])
        starts.append(start - total)
        total += end - start
        gone.append(total)
        done = end
    pieces.append(text[done:])
    return Plain("".join(pieces), starts, gone)


def plain(text: str) -> tuple[str, list[Plain]]:
    """The text alone, and the steps that led to it, the first of them first."""
    steps = []
    for cuts in (_escapes, _numbers, _signs):
        step = without(text, cuts(text))
        if step.starts:
            steps.append(step)
            text = step.text
    return text, steps


def back(span: Span, steps: list[Plain]) -> Span:
    """A span of what `plain` made, in the text that it was made of."""
    for step in reversed(steps):
        span = step.back(span)
    return span


def _escapes(text: str) -> Iterator[Cut]:
    if "\x1b" in text:
        for found in _ESCAPE.finditer(text):
            yield found.span()


def _numbers(text: str) -> Iterator[Cut]:
    """Numbers before lines that follow each other: a single one may be part of the text."""
    if not _ANY_NUMBER.search(text):
        return
    last: re.Match[str] | None = None
    done = False
    for found in _NUMBER.finditer(text):
        follows = last is not None and _follows(text, last, found)
        if follows and last is not None and not done:
            yield last.span()
        if follows:
            yield found.span()
        last, done = found, follows


def _follows(text: str, last: re.Match[str], found: re.Match[str]) -> bool:
    """Whether the second is the number of the next line, in the same listing."""
    same = (last["number"] is None) == (found["number"] is None) and last["path"] == found["path"]
    before, number = (int(match["number"] or match["found"]) for match in (last, found))
    return same and number == before + 1 and text.find("\n", last.end()) + 1 == found.start()


def _signs(text: str) -> Iterator[Cut]:
    """The first character of each line in the hunks of a diff."""
    if "@@ -" not in text:
        return
    at = 0
    while (hunk := _HUNK.search(text, at)) is not None:
        at = text.find("\n", hunk.end()) + 1 or len(text)
        while line := _IN_HUNK.match(text, at):
            if line["sign"]:
                yield at, at + 1
            at = text.find("\n", at) + 1 or len(text)
