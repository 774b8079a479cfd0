"""From the text of a Containerfile to its logical lines.

Follows BuildKit's parser: comments and blank lines inside a continued instruction are left
out, a comment is never continued, and here-documents belong to the line that announces them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import NamedTuple

from .form import SPACE, FormError, json_words, split_flags
from .heredoc import Announced, announced

ESCAPE = "\\"
_DIRECTIVE = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(\S.*)")
_DIRECTIVES = ("syntax", "escape", "check")
# After BuildKit; ONBUILD passes on what follows it.
_WITH_HEREDOCS = re.compile(
    rf"(?:ONBUILD[{SPACE}]+)*(?:RUN|COPY|ADD)[{SPACE}]+(?P<rest>.*)", re.I | re.DOTALL
)


class Heredoc(NamedTuple):
    """name: its end marker. text: its lines. line: number of the first of them."""

    name: str
    text: str
    quoted: bool
    line: int


class Line(NamedTuple):
    """One instruction as text, on the physical lines start to end, counted from 1."""

    start: int
    end: int
    text: str
    heredocs: tuple[Heredoc, ...] = ()


class Problem(NamedTuple):
    """What a builder rejects, or warns of where `fatal` is false."""

    line: int
    text: str
    fix: str
    fatal: bool = True


class Source(NamedTuple):
    """escape: the escape character. directives: parser directives, in lower case."""

    escape: str
    directives: dict[str, str]
    lines: list[Line]
    problems: list[Problem]


def read(text: str) -> Source:
    """Split a Containerfile into logical lines. Never fails: what is wrong is in `problems`."""
    physical = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    if physical[-1] == "":
        physical.pop()
    problems: list[Problem] = []
    directives = _directives(physical, problems)
    reader = _Reader(physical, directives.get("escape", ESCAPE), problems)
    return Source(reader.escape, directives, list(reader), problems)


def _directives(physical: list[str], problems: list[Problem]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(physical, 1):
        match = _DIRECTIVE.fullmatch(line.strip())
        name = match[1].lower() if match else ""
        if match is None or name not in _DIRECTIVES:
            break
        if name in found:
            text = f'the parser directive "{name}" stands twice'
            problems.append(Problem(number, text, "Remove one of them"))
            break
        found[name] = match[2]
    if found.get("escape", ESCAPE) not in (ESCAPE, "`"):
        text = "the parser directive escape takes a backslash or a backtick"
        problems.append(Problem(list(found).index("escape") + 1, text, "Write # escape=`"))
        del found["escape"]
    return found


class _Reader:
    def __init__(self, physical: list[str], escape: str, problems: list[Problem]) -> None:
        self.escape = escape
        self._physical = physical
        self._at = 0
        self._problems = problems
        mark = re.escape(escape)
        self._continued = re.compile(rf"(?:(?<!{mark})|^){mark}[ \t]*$")

    def __iter__(self) -> _Reader:
        return self

    def __next__(self) -> Line:
        while self._at < len(self._physical):
            start = self._at
            text = self._joined()
            if text.strip():
                heredocs = self._heredocs(text, start + 1)
                return Line(start + 1, self._at, text, heredocs)
            if self._physical[start].lstrip().startswith(self.escape):
                text = "a line holds nothing but the escape character"
                self._problems.append(Problem(start + 1, text, "Remove the line"))
        raise StopIteration

    def _joined(self) -> str:
        """The next line with its continuations; "" for a blank line or a comment."""
        first = self._physical[self._at].lstrip()
        self._at += 1
        if first.startswith("#"):
            return ""
        piece, goes_on = self._cut(first)
        pieces = [piece]
        empty = 0
        while goes_on and self._at < len(self._physical):
            line = self._physical[self._at]
            self._at += 1
            bare = line.lstrip()
            if not bare:
                empty = empty or self._at
            elif not bare.startswith("#"):
                piece, goes_on = self._cut(line)
                pieces.append(piece)
        if empty:
            text = "an empty line inside a continued instruction"
            fix = "Remove the empty line, or begin it with #"
            self._problems.append(Problem(empty, text, fix, fatal=False))
        return "".join(pieces)

    def _cut(self, line: str) -> tuple[str, bool]:
        match = self._continued.search(line)
        return (line, False) if match is None else (line[: match.start()], True)

    def _heredocs(self, text: str, number: int) -> tuple[Heredoc, ...]:
        if "<<" not in text or not _takes_heredocs(text):
            return ()
        found: list[Heredoc] = []
        for promise in announced(text):
            heredoc = self._body(promise)
            if heredoc is not None:
                found.append(heredoc)
            elif promise.sure:
                text = f"the here-document has no line {promise.name:.40} that ends it"
                fix = "Add that line; everything below was taken as part of the here-document"
                self._problems.append(Problem(number, text, fix))
                found.append(self._rest(promise))
                break
        return tuple(found)

    def _body(self, promise: Announced) -> Heredoc | None:
        """The lines up to the end marker; None when there is none."""
        places = (self._places_without_tabs if promise.tabs else self._places).get(promise.name, [])
        nearest = bisect_left(places, self._at)
        if nearest == len(places):
            return None
        lines = self._physical[self._at : places[nearest]]
        first, self._at = self._at + 1, places[nearest] + 1
        return Heredoc(promise.name, _text(lines, promise.tabs), promise.quoted, first)

    # Looking through the lines below for each marker would take the square of their number.
    @cached_property
    def _places(self) -> dict[str, list[int]]:
        return _places(self._physical)

    @cached_property
    def _places_without_tabs(self) -> dict[str, list[int]]:
        return _places([line.lstrip("\t") for line in self._physical])

    def _rest(self, promise: Announced) -> Heredoc:
        lines = self._physical[self._at :]
        first, self._at = self._at + 1, len(self._physical)
        return Heredoc(promise.name, _text(lines, promise.tabs), promise.quoted, first)


def _text(lines: list[str], tabs: bool) -> str:
    return "".join((line.lstrip("\t") if tabs else line) + "\n" for line in lines)


def _places(lines: list[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        places.setdefault(line, []).append(at)
    return places


def _takes_heredocs(text: str) -> bool:
    match = _WITH_HEREDOCS.fullmatch(text.strip())
    if match is None:
        return False
    try:
        # In the exec form, << is a text like any other.
        return json_words(split_flags(match["rest"])[1]) is None
    except FormError:
        return False
