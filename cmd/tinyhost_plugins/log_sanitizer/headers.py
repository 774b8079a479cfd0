"""Secrets in HTTP headers, as headers, in code, in JSON or on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import values
from .spans import PLACED, Span

LABELS = ("authorization", "cookie")

# Between a name and its value: a colon or so, and quotes that may themselves be escaped.
_BETWEEN = r"\\{0,6}[\"']?[ \t]{0,8}(?:=>|[:=,])[ \t]{0,8}\\{0,6}[\"']?"
_AUTHORIZATION = re.compile(
    rf"(?i:(?<![0-9A-Za-z])authorization{_BETWEEN})(?:(?P<scheme>[A-Za-z][\w\-]{{1,30}}+)[ \t]{{1,8}})?"
    r"(?P<value>[^\s\"'\\,;<>]{1,8000}+)"
)
_SCHEMES = frozenset(("bearer", "basic", "token", "digest", "negotiate", "apikey", "key", "aws"))
_BEARER = re.compile(r"(?i:\bbearer)[ \t]{1,8}\"?(?P<value>[\w\-.~+/]{20,8000}+=*+)")
_COOKIE = re.compile(
    rf"(?i:(?<![\w\-])(?P<set>set-)?cookie{_BETWEEN})(?P<value>[^\s\"'\\=;]{{1,256}}=[^\"'\\\r\n]{{1,8000}}+)"
)


def find(text: str) -> Iterator[Span]:
    # Caselessness is slow; nearly all texts have neither word.
    folded = text.lower()
    if "authorization" in folded:
        yield from filter(None, map(_authorization, _AUTHORIZATION.finditer(text)))
    if "bearer" in folded:
        for found in _BEARER.finditer(text):
            if any(character.isdigit() for character in found["value"]):
                yield Span(*found.span("value"), "authorization", PLACED)
    if "cookie" in folded:
        yield from map(_cookie, _COOKIE.finditer(text))


def _authorization(found: re.Match[str]) -> Span | None:
    scheme, value = found["scheme"], found["value"]
    known = scheme is not None and scheme.lower() in _SCHEMES
    if values.is_other(value, "") or (scheme and not known):
        return None
    has_digit = any(character.isdigit() for character in value)
    if len(value) < (8 if known else 16) or not (has_digit or known):
        return None
    return Span(*found.span("value"), "authorization", PLACED)


def _cookie(found: re.Match[str]) -> Span:
    start, end = found.span("value")
    value = found["value"]
    if found["set"]:
        # Its attributes are no secret, and tell what the cookie is for.
        start += value.index("=") + 1
        end = found.start("value") + (value.index(";") if ";" in value else len(value))
    return Span(start, end, "cookie", PLACED)
