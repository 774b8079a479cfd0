"""Secrets that are known by the name beside them: NAME=value, name: value, --name value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import values
from .names import ANY, RANDOM, Kind, kind_of
from .spans import NAMED, Span

_LONGEST = 4096  # characters of a value

_NAME = re.compile(
    r"(?<![\w.\-])(?<!://)(?P<name>[\w.\-]{1,128}+)(?P<close>\\{0,6}[\"'`]?\]?)[ \t]{0,20}"
    r"(?P<sep>=>|:=|={1,3}|:(?!:)|\?=|\+=)(?P<gap>[ \t]{0,20})"
)
_FLAG = re.compile(r"(?<![^\s\"'\[,(])--?(?P<name>[A-Za-z][\w\-]{1,64}+)[ \t]{1,4}(?=[^\s\-])")
_SENTENCE = re.compile(
    r"\b(?:(?P<key>(?:api|access|secret) key)|(?P<word>token|secret)|pass(?:word|phrase))"
    r"(?:(?: for [\w.@\-]{1,64})? (?:is|was|set to|changed to):?| for [\w.@\-]{1,64}:|(?<=[ey]):"
    r"|(?<=with password)) "
    r"(?P<value>[^\s\"'`,;\[\](){}]{4,512}+)",
    re.IGNORECASE,
)
_DOCKERFILE = re.compile(
    r"^[ \t]{0,20}(?:ENV|ARG|setx)[ \t]{1,8}(?P<name>[\w.\-]{1,128}+)[ \t]{1,8}[\"']?"
    r"(?P<value>[^\s\"'=][^\s\"']{0,4096}+)",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"(?P<open>[\"'])(?P<name>[\w.\-]{1,128}+)(?P=open),[ \t]{0,8}"
    r"(?P<quote>[\"'])(?P<value>[^\"'\r\n]{4,4096}+)(?P=quote)"
)
# Functions around a text that is written out.
_WRAPPER = re.compile(r"(?:\[\](?:byte|rune)|SecretStr|SecretBytes|(?:new )?String|string|Some)\(")
_OPENING = re.compile(r"[rRbBuU]{0,2}(?P<quote>\\{0,6}[\"'`])")
# A quote within is escaped, or doubled as in YAML and SQL.
_IN_QUOTES = {
    quote: re.compile(rf"[^{quote}\\\r\n]*+(?:(?:\\.|{twice})[^{quote}\\\r\n]*+)*+")
    for quote, twice in (('"', '""'), ("'", "''"), ("`", r"\\."))
}
# An ampersand ends it only before the next NAME= of a query, or as && of a shell.
_BARE = re.compile(r"(?:[^\s\"'`,;&|<>(){}\[\]\\]|&(?!&|[\w.\-%]{0,64}+=)){1,4096}+")
_SOLID = re.compile(r"\S{1,4096}+")
_REST_OF_LINE = re.compile(r"[^\r\n]{1,4096}+")
# In s/NAME=.*/NAME=value/g, what ends the script is no part of the value.
_SCRIPT_END = re.compile(r"(?P<delimiter>[/#@~!%])[gGiIpmMew\d]{0,4}$")
# What a value becomes, in a plan of changes.
_CHANGED = re.compile(r"(?:[^\"\\\r\n]|\\.){0,4096}+\"[ \t]{1,4}(?:->|=>)[ \t]{1,4}(?P<quote>\")")
_TAG = re.compile(r"(?:(?:!!str|!unsafe|&[\w\-]{1,60})[ ]{1,4})+")  # of YAML
_ANNOTATION = re.compile(r"[A-Za-z_][\w.\[\]| ]{0,60}?[ \t]{0,4}=[ \t]{0,4}(?=[\"'rbf])")
_BELOW = re.compile(
    r"[ \t]*\r?\n[ ]{1,60}[\"']?(?P<value>[^\s:#\"'(){}\[\],;\-][^\s:\"'(){}\[\],;]{3,4096}+)[\"']?[ \t]*\r?$",
    re.MULTILINE,
)
_BLOCK = re.compile(r"[|>][+\-\d]{0,2}[ \t]*\r?\n")
# What may stand before a name in a line that is nothing but an assignment, after the number of the line.
_LINE_BEGIN = re.compile(
    r"(?:[ \t]{0,12}\d{1,7}(?:\t|→|[ ]{0,4}[|│] ?)|(?:[^\s:]{1,60}?[:\-])?\d{1,7}[:\-])?"
    r"[ \t]*(?:[-+#>$][ \t]+)*(?:(?:export|set|setx|ENV|ARG|env|declare -x|-e|--env|const|SET)[ \t]+)?"
)

_PASSWORD = Kind("password", ANY)
_TOKEN = Kind("token", RANDOM)
_API_KEY = Kind("api-key", RANDOM)


def find(text: str, more: frozenset[str]) -> Iterator[Span]:
    """Yield the values of names that names.kind_of knows. `more`: further names."""
    done = 0
    for found in _NAME.finditer(text):
        kind = kind_of(found["name"], more) if found.start() >= done else None
        if kind is None or _is_part_of_name(text, found):
            continue
        for span in _value(text, found, kind):
            # Names within a secret are part of it.
            done = span.end
            yield span
    if "-" in text:
        yield from _flags(text, more)
    for found in _DOCKERFILE.finditer(text):
        kind = kind_of(found["name"], more)
        if kind is not None and values.quoted(found["value"], kind, found["name"]):
            yield Span(*found.span("value"), kind.label, NAMED)
    for found in _PASSED.finditer(text):
        kind = kind_of(found["name"], more)
        if kind is not None and values.loose(found["value"], kind, found["name"]):
            yield Span(*found.span("value"), kind.label, NAMED)
    yield from _sentences(text)


def _is_part_of_name(text: str, found: re.Match[str]) -> bool:
    """Whether it is one piece of many, as in arn:aws:...:secret:name or Type::Token: x."""
    before = text[max(found.start() - 1, 0) : found.start()]
    # In "NAME=" the second quote opens nothing.
    is_whole = before in ('"', "'", "`") and not found["close"]
    return (before == ":" == found["sep"]) or (is_whole and text.startswith(before, found.end()))


def _sentences(text: str) -> Iterator[Span]:
    for found in _SENTENCE.finditer(text):
        value, start = found["value"].rstrip(".!?)"), found.start("value")
        kind = _API_KEY if found["key"] else _TOKEN if found["word"] else _PASSWORD
        if values.loose(value, kind, ""):
            yield Span(start, start + len(value), kind.label, NAMED)


def _flags(text: str, more: frozenset[str]) -> Iterator[Span]:
    for found in _FLAG.finditer(text):
        name = found["name"]
        kind = kind_of(name, more)
        if kind is None:
            continue
        opening = _OPENING.match(text, found.end())
        if opening is not None:
            yield from _quoted(text, opening, kind, name)
            continue
        value = _BARE.match(text, found.end())
        if value is not None and values.loose(value[0], kind, name):
            yield Span(*value.span(), kind.label, NAMED)


def _value(text: str, found: re.Match[str], kind: Kind) -> Iterator[Span]:
    start, name = found.end(), found["name"]
    if found["sep"] == ":" and (annotation := _ANNOTATION.match(text, start)):
        start = annotation.end()
    if found["sep"] == ":" and (tag := _TAG.match(text, start)):
        start = tag.end()
    if wrapper := _WRAPPER.match(text, start):
        start = wrapper.end()
    opening = _OPENING.match(text, start)
    if opening is not None:
        yield from _quoted(text, opening, kind, name)
        if changed := _CHANGED.match(text, opening.end()):
            yield from _quoted(text, changed, kind, name)
    elif _BLOCK.match(text, start):
        yield from _block(text, found, kind)
    elif (
        found["sep"] == ":"
        and (below := _BELOW.match(text, start))
        and _begins_line(text, found.start())
    ):
        # What else stands below a name is a mapping, or a list.
        if values.quoted(below["value"], kind._replace(level=RANDOM), name):
            yield Span(*below.span("value"), kind.label, NAMED)
    else:
        yield from _bare(text, found, start, kind)


def _quoted(text: str, opening: re.Match[str], kind: Kind, name: str) -> Iterator[Span]:
    start, quote = opening.end(), opening["quote"]
    limit = min(start + _LONGEST, len(text))
    if len(quote) == 1:
        inside = _IN_QUOTES[quote].match(text, start, limit)
        end = inside.end() if inside else start
    else:
        end = text.find(quote, start, limit)
        line = _REST_OF_LINE.match(text, start)
        last = line.end() if line else start
        end = last if end < 0 or end > last else end
    value = text[start:end]
    if not value.strip(quote[-1:]):
        return  # three quotes open a text of several lines
    if text[end : end + 1] != quote[-1:] and value[:1] in (")", "]", "}", ",", ";"):
        return  # this quote ends a text, such as "Password: ", and begins none
    if values.quoted(value, kind, name):
        yield Span(start, end, kind.label, NAMED)


def _bare(text: str, found: re.Match[str], start: int, kind: Kind) -> Iterator[Span]:
    name, close = found["name"], found["close"]
    if values.refers(text, start) and kind.label != "password-hash":
        return  # before all of a long value is read
    own_line = not close and _begins_line(text, found.start())
    if own_line and found["sep"] == "=" and not found["gap"] and start == found.end():
        value = _SOLID.match(text, start)
        if value is not None and values.whole(value[0], kind, name):
            yield Span(*value.span(), kind.label, NAMED)
        return
    if own_line or close in ('"', "'"):
        line = _REST_OF_LINE.match(text, start)
        word = line[0].split(" #", 1)[0].rstrip() if line else ""
        if word and not re.search(r"[\s(){}\[\]\"'`]", word):
            judge = values.alone if own_line else values.loose
            word = word if own_line else word.rstrip(",;")
            if judge(word, kind, name):
                yield Span(start, start + len(word.rstrip(",;")), kind.label, NAMED)
            return
    yield from _word(text, start, found, kind)


def _word(text: str, start: int, found: re.Match[str], kind: Kind) -> Iterator[Span]:
    value = _BARE.match(text, start)
    if value is None or text[value.end() : value.end() + 1] in ("(", "[", "{"):
        return
    word = value[0].rstrip(".:")
    last = _SCRIPT_END.search(word)
    if last and last["delimiter"] == text[found.start() - 1 : found.start()]:
        word = word[: last.start()]
    spaced = found["gap"] or text[found.start() - 1 : found.start()] in ("(", ",")
    follows = text[value.end() : value.end() + 1]
    plain = word.isalpha() and found["sep"] == "=" and not spaced and follows not in (")", ",")
    if found["sep"] == ":" and found["gap"] and follows in (" ", "\t"):
        # More words follow, so this is most likely a sentence.
        kind = kind._replace(level=RANDOM)
    judge = values.whole if plain and len(word) >= 5 else values.loose
    if judge(word, kind, found["name"]):
        yield Span(start, start + len(word), kind.label, NAMED)


def _block(text: str, found: re.Match[str], kind: Kind) -> Iterator[Span]:
    """The lines below `name: |`, as far as they are indented more than it is."""
    line = text.rfind("\n", max(0, found.start() - 200), found.start()) + 1
    indent = len(_LINE_BEGIN.match(text, line, found.start())[0])  # type: ignore[index]
    lines = re.compile(rf"(?:[ \t]{{{indent + 1}}}[^\r\n]*+(?:\r?\n|$))+")
    at = text.index("\n", found.end()) + 1
    below = lines.match(text, at, at + 4 * _LONGEST)
    if below is None:
        return
    value = below[0].strip()
    if value and values.quoted(value.replace("\n", ""), kind, found["name"]):
        start = below.start() + below[0].index(value)
        yield Span(start, start + len(value), kind.label, NAMED)


def _begins_line(text: str, at: int) -> bool:
    line = text.rfind("\n", max(0, at - 80), at) + 1
    if not line and at > 80:
        return False
    before = _LINE_BEGIN.match(text, line, at)
    return before is not None and before.end() == at
