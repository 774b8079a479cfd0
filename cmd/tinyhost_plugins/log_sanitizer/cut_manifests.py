"""The data of Kubernetes Secrets in JSON of which a part is missing, so that it cannot be read as JSON.

A long output is shortened in its middle, or by `head`. What was `data` of what is then told by what still
stands beside it: the rules look at pieces, and never at quotes that may have lost their other half.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .spans import PLACED, Span
from .values import is_base64

LABEL = "secret-data"

# An object says what it is before its data, beside its version, or right after its data.
_TOP_KIND = (
    r"\"apiVersion\"\s{0,8}:\s{0,8}\"v1\"\s{0,200},\s{0,200}\"kind\"\s{0,8}:\s{0,8}\"(?P<after>\w{1,60})\""
    r"|\"kind\"\s{0,8}:\s{0,8}\"(?P<before>\w{1,60})\"\s{0,200},\s{0,200}\"apiVersion\"\s{0,8}:\s{0,8}\"v1\""
)
_OPENING = (
    r"(?P<first>\"apiVersion\"\s{0,8}:\s{0,8}\"v1\"\s{0,200},\s{0,200})?"
    r"(?P<data>\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{)"
)
_CLOSING = (
    r"(?P<end>\}\s{0,200},\s{0,200}(?:\"immutable\"\s{0,8}:\s{0,8}\w{4,5}\s{0,200},\s{0,200})?"
    r"\"kind\"\s{0,8}:\s{0,8}\"(?P<closed>\w{1,60})\")"
)
_LANDMARK = re.compile(f"{_OPENING}|{_CLOSING}|{_TOP_KIND}")
# A line break stands in no string, so where one is, the rest of the string is missing.
_MEMBER = re.compile(
    r"\s{0,200}\"[^\"\\\r\n]{1,253}\"\s{0,8}:\s{0,8}"
    r"\"(?P<value>[^\"\\\r\n]*+(?:\\.[^\"\\\r\n]*+)*+)(?P<close>\"?)\s{0,200},?"
)
_VALUE = re.compile(r"\"\s{0,8}:\s{0,8}\"(?P<value>[^\"\\\r\n]*+(?:\\.[^\"\\\r\n]*+)*+)\"")
_SECRETS = ("Secret", "SecretList")
_REST_OF_VALUE = re.compile(
    r"(?:[\w.\-]{0,253}\"?\s{0,8}:)?\s{0,8}\"?(?P<value>[A-Za-z0-9+/]{1,65536}+={0,2})\""
)


def find(text: str, start: int, end: int) -> Iterator[Span]:
    """Values in text[start:end], which is no JSON as a whole."""
    if text.find("data", start, end) < 0 and text.find('"kind"', start, end) < 0:
        return
    kind, done = "", start
    for found in _LANDMARK.finditer(text, start, end):
        if found["data"]:
            done, spans = _members(text, found.end(), end)
            closing = _LANDMARK.match(text, done, end)
            owner = closing["closed"] if closing and closing["end"] else kind
            unknown = found["first"] and not owner
            if owner in _SECRETS or (unknown and _could_be_secret(text, spans)):
                yield from spans
        elif found["end"]:
            if found.start() > done and found["closed"] == "Secret":
                yield from _before(text, done, found.start())
            # What comes next is another object.
            kind, done = "", found.end()
        else:
            kind = found["after"] or found["before"]


def _members(text: str, at: int, end: int) -> tuple[int, list[Span]]:
    """The values of an object whose opening brace ends at `at`, and where they end."""
    spans = []
    while (member := _MEMBER.match(text, at, end)) is not None:
        at = member.end()
        if member["value"]:
            spans.append(Span(*member.span("value"), LABEL, PLACED))
        if not member["close"]:
            break
    while at < end and text[at].isspace():
        at += 1
    return at, spans


def _could_be_secret(text: str, spans: list[Span]) -> bool:
    """Whether values without a kind are base64, as those of a Secret; the last may be cut off."""
    values = [text[span.start : span.end] for span in spans]
    whole = values[:-1] if len(values) > 1 else [value[: len(value) // 4 * 4] for value in values]
    return bool(whole) and all(map(is_base64, whole))


def _before(text: str, done: int, at: int) -> Iterator[Span]:
    """The values before the brace at `at` whose opening one is missing."""
    first = max(done, text.rfind("{", done, at) + 1, text.rfind("]\n", done, at) + 2)
    rest = _REST_OF_VALUE.match(text, first, at)
    if rest is not None:
        yield Span(*rest.span("value"), LABEL, PLACED)
    for found in _VALUE.finditer(text, first, at):
        yield Span(*found.span("value"), LABEL, PLACED)
