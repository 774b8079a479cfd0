"""Secrets in YAML by their place: the data of a Kubernetes Secret, and name/value pairs."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from . import values
from .names import kind_of
from .spans import PLACED, Span

LABEL = "secret-data"

_KIND = re.compile(
    r"^(?P<lead>[ ]{0,60}(?:- )?)kind:[ ]{1,4}[\"']?Secret[\"']?[ \t]*\r?$", re.MULTILINE
)
_LINE = re.compile(r"(?P<indent>[ ]*+)(?P<dash>- +)?(?P<rest>[^\r\n]*+)")
_ENTRY = re.compile(r"[^\s:#][^:\r\n]{0,252}:(?:[ ]+(?P<value>\S[^\r\n]*+))?")
_PAIR = re.compile(
    r"name:[ ]{1,4}[\"']?(?P<name>[\w.\-]{1,128}+)[\"']?[ \t]*\r?\n[ ]{0,60}"
    r"value:[ ]{1,4}(?P<quote>[\"']?)(?P<value>[^\s\"'][^\r\n\"']{0,4096}+)"
)
_BLOCK = frozenset("|>{[&*")


def find(text: str, more: frozenset[str]) -> Iterator[Span]:
    if "kind:" in text:
        yield from _secrets(text)
    if "value:" in text:
        yield from _pairs(text, more)


def _pairs(text: str, more: frozenset[str]) -> Iterator[Span]:
    for found in _PAIR.finditer(text):
        kind = kind_of(found["name"], more)
        value = found["value"].rstrip()
        if kind is not None and values.quoted(value, kind, found["name"]):
            start = found.start("value")
            yield Span(start, start + len(value), kind.label, PLACED)


def _secrets(text: str) -> Iterator[Span]:
    done = 0
    for found in _KIND.finditer(text):
        if found.start() < done:
            continue
        indent = len(found["lead"])
        start = (
            found.start() if found["lead"].endswith("- ") else _first(text, found.start(), indent)
        )
        done = yield from _mapping(text, start, indent)


def _first(text: str, at: int, indent: int) -> int:
    """Where the mapping begins that the line at `at` belongs to."""
    while at > 0:
        line = text.rfind("\n", 0, at - 1) + 1
        inner, dash = _indent(text, line)
        if inner < indent or text.startswith("---", line):
            break
        at = line
        if dash and inner == indent:
            break
    return at


def _indent(text: str, at: int) -> tuple[int, bool]:
    """How far a line is indented, with a dash counted in, and whether it has one."""
    found = _LINE.match(text, at)
    assert found is not None
    if not found["rest"] and not found["dash"]:
        return 1 << 20, False  # an empty line belongs to whatever is around it
    return len(found["indent"]) + len(found["dash"] or ""), found["dash"] is not None


def _mapping(text: str, at: int, indent: int) -> Generator[Span, None, int]:
    """The values below data and stringData; returns where the mapping ends."""
    inside, first = False, True
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        inner, dash = _indent(text, at)
        if inner < indent or text.startswith("---", at) or (dash and inner == indent and not first):
            break
        first = False
        line = text[at + inner : end] if inner <= end - at else ""
        if inner == indent:
            inside = line.rstrip() in ("data:", "stringData:")
        elif inside and line:
            yield from _line(line, at + inner)
        at = end + 1
    return at


def _line(line: str, at: int) -> Iterator[Span]:
    entry = _ENTRY.fullmatch(line.rstrip())
    if entry is None:
        # A line of a block of text, whose entry stands above.
        start, value = 0, line.rstrip()
    elif entry["value"] is None or entry["value"][0] in _BLOCK:
        return
    else:
        start, value = entry.start("value"), entry["value"]
    bare = value.strip("\"'")
    if bare:
        start += value.index(bare)
        yield Span(at + start, at + start + len(bare), LABEL, PLACED)
