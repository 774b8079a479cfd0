"""Secrets in YAML by their place: the data of a Kubernetes Secret, and name/value pairs."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from . import values
from .names import kind_of
from .spans import PLACED, Span

LABEL = "secret-data"

_KIND = re.compile(
    r"^(?P<lead>[ ]{0,60}(?:- )?)kind:[ ]{1,4}[\"']?Secret[\"']?[ \t]*(?:[ \t]#[^\r\n]*+)?\r?$",
    re.MULTILINE,
)
_LINE = re.compile(r"(?P<indent>[ ]*+)(?P<dash>- +)?(?P<rest>[^\r\n]*+)")
_ENTRY = re.compile(r"[^\s:#][^:\r\n]{0,252}:(?:[ ]+(?P<value>\S[^\r\n]*+))?")
_PAIR = re.compile(
    r"(?:name|key):[ ]{1,4}[\"']?(?P<name>[\w.\-]{1,128}+)[\"']?[ \t]*\r?\n[ ]{0,60}"
    r"value:[ ]{1,4}(?P<quote>[\"']?)(?P<value>[^\s\"'][^\r\n\"']{0,4096}+)"
)
_DATA = re.compile(r"(?:data|stringData):(?:[ ]+(?:#.*+|(?P<flow>\{.*+)))?")
_FLOW_VALUE = re.compile(r":[ ]{1,8}(?P<quote>[\"']?)(?P<value>[^\"',{}]{1,4096}+)(?P=quote)")
# Where something is missing: what is left of a line, and data as kubectl writes it, before the kind.
_FRAGMENT = re.compile(
    r"(?P<key>(?!apiVersion:|immutable:)[\w.\-]{0,252}:[ ]+)?(?P<value>[A-Za-z0-9+/]{4,65536}+={0,2})[ ]*\r?$",
    re.MULTILINE,
)
_UNFINISHED = re.compile(
    r"^(?:[ ]{0,60}- |[ ]{0,62})apiVersion: v1[ ]*\r?\n(?P<pad>[ ]{0,62})data:[ ]*\r?\n",
    re.MULTILINE,
)
_LINE_OF_MAPPING = re.compile(r"[#?]|[\w\"'<][^\r\n]{0,252}?:|\s*$")
_OPENS = re.compile(r":(?:[ ]+[|>{&!#].*)?$")  # what stands above lines that belong to it
_KIND_AFTER = re.compile(r"(?:immutable: \w{4,5}[ ]*\r?\n[ ]{0,62})?kind:[ ]*(?P<kind>\w*)")
_BLOCK = frozenset("|>{[&*")


def find(text: str, more: frozenset[str]) -> Iterator[Span]:
    if "kind:" in text:
        yield from _secrets(text)
    if "apiVersion: v1" in text:
        yield from _unfinished(text)
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
    ends = [0] * 64  # of the last mapping with such an indentation
    for found in _KIND.finditer(text):
        indent = len(found["lead"])
        start, floor = found.start(), ends[indent]
        if start < floor:
            continue
        if not found["lead"].endswith("- "):
            yield from _headless(text, start, indent, floor)
            start = _first(text, start, indent, floor)
        ends[indent] = yield from _mapping(text, start, indent)


def _first(text: str, at: int, indent: int, floor: int) -> int:
    """Where the mapping begins that the line at `at` belongs to; not before `floor`."""
    while at > floor:
        line = text.rfind("\n", floor, at - 1) + 1 or floor
        inner, dash = _indent(text, line)
        if inner < indent or text.startswith("---", line):
            break
        if inner == indent and not _LINE_OF_MAPPING.match(text, line + inner):
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


def _headless(text: str, at: int, indent: int, floor: int) -> Iterator[Span]:
    """Data right above the `kind` at `at`, of which the line `data:` itself is missing."""
    lines: list[tuple[int, str]] = []
    head = ""
    while at > floor:
        line = text.rfind("\n", floor, at - 1) + 1 or floor
        content = text[line : at - 1].strip()
        start = text.index(content, line)
        inner = _indent(text, line)[0]
        if inner <= indent:
            # At its place it is a key; before that, the rest of a line.
            head = content if inner == indent else ""
            rest = _FRAGMENT.fullmatch(content)
            if rest is not None:
                yield Span(start + rest.start("value"), start + rest.end("value"), LABEL, PLACED)
            break
        if content:
            lines.append((start, content))
        at = line
    # Of the line itself, the end may be there.
    if "stringData: data:".endswith(head) or not _OPENS.search(head):
        for start, content in lines:
            yield from _line(content, start)


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
            if not _LINE_OF_MAPPING.match(line):
                break
            header = _DATA.fullmatch(line.rstrip())
            inside = header is not None
            yield from _flow(header, at + inner) if header else ()
        elif inside and line:
            yield from _line(line, at + inner)
        at = end + 1
    return at


def _flow(header: re.Match[str], at: int) -> Iterator[Span]:
    """The values of `data: {a: ..., b: ...}`."""
    for value in _FLOW_VALUE.finditer(header["flow"] or ""):
        start = at + header.start("flow")
        yield Span(start + value.start("value"), start + value.end("value"), LABEL, PLACED)


def _unfinished(text: str) -> Iterator[Span]:
    """The data of a last object of which the rest, and so its kind, is missing.

    It is one of a Secret when all of it is base64. Other programs write the kind first.
    """
    for found in _UNFINISHED.finditer(text):
        spans: list[Span] = []
        at, indent = found.end(), len(found["pad"])
        while at < len(text) and (inner := _indent(text, at)[0]) > indent:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if at + inner <= end:
                spans += _line(text[at + inner : end], at + inner)
            at = end + 1
        kind = _KIND_AFTER.match(text, at + indent)
        is_other = kind is not None and not "Secret".startswith(kind["kind"])
        found_in = [text[span.start : span.end] for span in spans]
        # The last of several may be cut off.
        if spans and not is_other and all(map(values.is_base64, found_in[:-1] or found_in)):
            yield from spans


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
