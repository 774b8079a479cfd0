"""Secrets in JSON: its strings are masked where they stand, and it stays valid JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from . import blocks, headers, manifests, values
from .names import ANY, Kind, kind_of
from .spans import NAMED, PLACED, Span, marker

# Numbers stay text: one with many digits is no reason to call a document invalid.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_BEGIN = re.compile(r"^[ \t]{0,200}(?=[\[{])", re.MULTILINE)
_TOKEN = re.compile(
    r"\"(?P<string>[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|[{}\[\],:]|[^\s\"{}\[\],:]++", re.DOTALL
)
# After what looks like a document: the next member of an object whose beginning is missing.
_NEXT_MEMBER = re.compile(r"\s{0,200},\s{0,200}\"[^\"\r\n]{0,253}\"\s{0,8}:")
_LONG_NUMBER = re.compile(r"-?\d{4,}")
_NAME_KEYS = ("name", "key", "Name", "Key", "ParameterKey", "OutputKey")
_VALUE_KEYS = (
    *("value", "Value", "values", "Values", "stringValue"),
    *("ParameterValue", "OutputValue"),
)
_KEY_PARTS = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))  # of a JSON Web Key, RFC 7518
_DATA_KEYS = ("data", "stringData")


class _Leaf(NamedTuple):
    """A value that is no object and no array. text[start:end] is it, without its quotes."""

    start: int
    end: int
    text: str
    is_string: bool


class _Branch:
    """An object or an array, whose members have no names."""

    __slots__ = ("is_object", "key", "members")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.members: list[tuple[str, _Leaf | _Branch]] = []
        self.key = ""  # of the member that is being read

    def text_of(self, keys: Iterable[str]) -> str:
        """The string that has the first of the keys."""
        for key, member in self.members:
            if key in keys and isinstance(member, _Leaf) and member.is_string:
                return member.text
        return ""


class _Place(NamedTuple):
    """A branch, the name it has or inherits, and whether it is part of a Kubernetes Secret."""

    branch: _Branch
    kind: Kind | None = None
    name: str = ""
    in_list: bool = False
    in_data: bool = False


def documents(text: str) -> Iterator[tuple[int, int]]:
    """The places of JSON objects and arrays that begin a line and end one."""
    at, spare = 0, 4 * len(text)
    while spare > 0 and (found := _BEGIN.search(text, at)) is not None:
        start, end = found.end(), 0
        try:
            _, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            # A text of nothing but beginnings is not read again and again.
            spare -= error.pos - start
        except RecursionError:
            spare -= len(text)
        rest_of_line = text[end : end + 200].split("\n", 1)[0].strip(" \t\r,;")
        if end and not rest_of_line and not _NEXT_MEMBER.match(text, end):
            yield start, end
        at = max(end, start + 1)


def mask(
    text: str,
    place: tuple[int, int],
    spans: Sequence[Span],
    inner: Callable[[str], str],
    more: frozenset[str],
) -> Iterator[Span]:
    """What is to be replaced in the document at text[place].

    spans: what was found there in the text as it stands, in order; kept is only what lies within one string.
    inner: masks a text; for strings that have to be decoded first.
    """
    root, strings = _read(text, *place)
    named = list(_named(root, more))
    yield from named
    done = {span.start for span in named}
    at = 0
    for leaf in strings:
        while at < len(spans) and spans[at].start < leaf.start:
            at += 1
        if "\\" in leaf.text:
            if leaf.start not in done:
                yield from _decoded(leaf, inner)
            continue
        while at < len(spans) and spans[at].start < leaf.end:
            if spans[at].end <= leaf.end:
                yield spans[at]
            at += 1


def _read(text: str, start: int, end: int) -> tuple[_Branch, list[_Leaf]]:
    """The document as a tree, and all its strings in order, keys included."""
    root = _Branch(False)
    branches, strings = [root], []
    for found in _TOKEN.finditer(text, start, end):
        token, top = found[0], branches[-1]
        if token in ("{", "["):
            branch = _Branch(token == "{")  # noqa: S105
            top.members.append((top.key, branch))
            branches.append(branch)
        elif token in ("}", "]"):
            branches.pop()
        elif token == ":":  # noqa: S105
            _, key = top.members.pop()
            top.key = _unescaped(key.text) if isinstance(key, _Leaf) else ""
        elif token == ",":  # noqa: S105
            top.key = ""
        else:
            leaf = _leaf(found)
            top.members.append((top.key, leaf))
            if leaf.is_string:
                strings.append(leaf)
    return root, strings


def _leaf(found: re.Match[str]) -> _Leaf:
    group = 0 if found["string"] is None else "string"
    return _Leaf(*found.span(group), found[group], group == "string")


def _unescaped(text: str) -> str:
    return str(json.loads(f'"{text}"')) if "\\" in text else text


def _decoded(leaf: _Leaf, inner: Callable[[str], str]) -> Iterator[Span]:
    before = _unescaped(leaf.text)
    after = inner(before)
    if after == before:
        return
    encoded = json.dumps(after, ensure_ascii=leaf.text.isascii())[1:-1]
    if any("\ud800" <= character <= "\udfff" for character in encoded):
        encoded = json.dumps(after)[1:-1]
    yield Span(leaf.start, leaf.end, "", NAMED, encoded)


def _named(root: _Branch, more: frozenset[str]) -> Iterator[Span]:
    """Leaves that are secret by the names over them, or by the object they are in."""
    places = [_Place(root)]
    while places:
        place = places.pop()
        branch = place.branch
        what = branch.text_of(("kind",)) if branch.is_object else ""
        is_secret = what == "Secret" or place.in_list
        is_key = branch.is_object and branch.text_of(("kty",)) != ""
        paired = branch.text_of(_NAME_KEYS) if branch.is_object else ""
        for key, member in branch.members:
            kind, name = place.kind, place.name
            if branch.is_object:
                kind, name = _kind(key, paired, place, more)
            in_data = place.in_data or (is_secret and key in _DATA_KEYS)
            if isinstance(member, _Branch):
                in_list = what == "SecretList" or (place.in_list and not branch.is_object)
                places.append(_Place(member, kind, name, in_list, in_data))
            elif is_key and key in _KEY_PARTS and member.is_string:
                yield Span(member.start, member.end, blocks.LABEL, PLACED)
            elif in_data and member.is_string and member.text:
                yield Span(member.start, member.end, manifests.LABEL, PLACED)
            elif kind is not None:
                yield from _judged(member, kind, name)


def _kind(key: str, paired: str, place: _Place, more: frozenset[str]) -> tuple[Kind | None, str]:
    """What the member `key` of an object is: by its own name, or by that which it belongs to."""
    name = paired if key in _VALUE_KEYS else key
    if not name:
        return place.kind, place.name
    kind = headers.kind_of(name) or kind_of(name, more)
    if kind is None and place.kind is not None and place.kind.label == "cookie":
        # Each of many cookies is one, whatever its name.
        return place.kind, "cookies"
    return kind, name


def _judged(leaf: _Leaf, kind: Kind, name: str) -> Iterator[Span]:
    if leaf.is_string:
        if kind.label in headers.LABELS:
            yield from _header(leaf, kind, name)
        elif values.quoted(_unescaped(leaf.text), kind, name):
            yield Span(leaf.start, leaf.end, kind.label, NAMED)
    elif kind.level == ANY and _LONG_NUMBER.fullmatch(leaf.text):
        yield Span(leaf.start, leaf.end, kind.label, NAMED, f'"{marker(kind.label)}"')


def _header(leaf: _Leaf, kind: Kind, name: str) -> Iterator[Span]:
    text = _unescaped(leaf.text)
    place = headers.in_value(name, text)
    if place is not None and text == leaf.text:
        yield Span(leaf.start + place[0], leaf.start + place[1], kind.label, PLACED)
    elif place is not None:
        yield Span(leaf.start, leaf.end, kind.label, PLACED)
