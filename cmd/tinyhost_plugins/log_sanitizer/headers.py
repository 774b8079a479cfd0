"""Secrets in HTTP headers, as headers, in code, in JSON or on a command line; and cookies in files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import values
from .names import RANDOM, Kind
from .spans import PLACED, Span

LABELS = ("authorization", "cookie")

# Between a name and its value: a colon or so, and quotes that may themselves be escaped.
_BETWEEN = r"\\{0,6}[\"']?[ \t]{0,8}(?:=>|[:=,])[ \t]{0,8}\\{0,6}[\"']?"
_AUTHORIZATION = re.compile(
    rf"(?i:(?<![0-9A-Za-z])authorization{_BETWEEN})(?:(?P<scheme>[A-Za-z][\w\-]{{1,30}}+)[ \t]{{1,8}})?"
    r"(?P<parameter>[A-Za-z_]{1,30}=)?(?P<value>[^\s\"'\\,;<>]{1,8000}+)?"
)
_SCHEMES = frozenset(("bearer", "basic", "token", "digest", "negotiate", "apikey", "key", "aws"))
# Schemes of which only these parameters are secret.
_OF_PARAMETERS = ("digest", "oauth", "signature", "aws4-")
_PARAMETER = re.compile(
    r"(?i:\b(?:response|signature|oauth_signature|oauth_token)=)\\{0,6}[\"']?(?P<value>[\w\-.~+/%=]{16,1024}+)"
)
_LONGEST_LINE = 2000  # characters in which the parameters are looked for
_BEARER = re.compile(r"(?i:\bbearer)[ \t]{1,8}\"?(?P<value>[\w\-.~+/]{20,8000}+=*+)")
_COOKIE = re.compile(
    rf"(?i:(?<![\w\-])(?P<set>set-)?cookie{_BETWEEN})(?P<value>[^\s\"'\\=;]{{1,256}}=[^\"'\\\r\n]{{1,8000}}+)"
)
_CURL_COOKIE = re.compile(
    r"\bcurl\b[^\r\n|]{0,400}?[ ](?:-b|--cookie)[ =](?P<quote>[\"']?)"
    r"(?P<value>[^\s\"'=;]{1,128}=(?:(?<=[\"'])|[^\s\"']|(?! -)[ ]){8,4000}+)"
)
# Domain, two flags around a path, when it expires, name and value.
_COOKIE_FILE = re.compile(
    r"^[^\s]{1,253}\t(?:TRUE|FALSE)\t\S{1,1024}\t(?:TRUE|FALSE)\t\d{1,20}\t\S{1,256}\t(?P<value>\S{1,4096}+)",
    re.MULTILINE,
)
# In JSON a header is a member, or a name and a value beside each other.
_KINDS = {
    **dict.fromkeys(("authorization", "proxy-authorization"), Kind("authorization", RANDOM)),
    **dict.fromkeys(("cookie", "set-cookie", "cookies"), Kind("cookie", RANDOM)),
}


def kind_of(name: str) -> Kind | None:
    """What the value of a header is in JSON."""
    return _KINDS.get(name.lower())


def in_value(name: str, value: str) -> tuple[int, int] | None:
    """Where the secret is in the value of a header in JSON, or of one cookie of many."""
    if kind_of(name) is _KINDS["cookies"]:
        if name.lower() != "cookies" and "=" in value:
            return _cookie(value, 0, len(value), name.lower().startswith("set-"))
        return (0, len(value)) if values.looks_random(value) else None
    scheme, _, rest = value.rpartition(" ")
    is_secret = values.looks_random(rest) or (scheme.lower() in _SCHEMES and len(rest) >= 8)
    return (len(value) - len(rest), len(value)) if is_secret and "=" not in scheme else None


def find(text: str) -> Iterator[Span]:
    # Caselessness is slow; nearly all texts have none of the words.
    folded = text.lower()
    if "authorization" in folded:
        for found in _AUTHORIZATION.finditer(text):
            yield from _authorization(text, found)
    if "bearer" in folded:
        for found in _BEARER.finditer(text):
            if any(character.isdigit() for character in found["value"]):
                yield Span(*found.span("value"), "authorization", PLACED)
    if "cookie" in folded:
        for found in _COOKIE.finditer(text):
            place = _cookie(text, *found.span("value"), found["set"] is not None)
            yield Span(*place, "cookie", PLACED)
    if "curl" in text:
        for found in _CURL_COOKIE.finditer(text):
            yield Span(*found.span("value"), "cookie", PLACED)
    if "\tTRUE\t" in text or "\tFALSE\t" in text:
        for found in _COOKIE_FILE.finditer(text):
            yield Span(*found.span("value"), "cookie", PLACED)


def _authorization(text: str, found: re.Match[str]) -> Iterator[Span]:
    scheme, value = (found["scheme"] or "").lower(), found["value"] or ""
    if found["parameter"] and scheme.startswith(_OF_PARAMETERS):
        end = text.find("\n", found.start())
        end = min(len(text) if end < 0 else end, found.end() + _LONGEST_LINE)
        for parameter in _PARAMETER.finditer(text, found.end("scheme"), end):
            yield Span(*parameter.span("value"), "authorization", PLACED)
    elif _is_secret(scheme, value):
        yield Span(*found.span("value"), "authorization", PLACED)


def _is_secret(scheme: str, value: str) -> bool:
    if values.is_other(value, ""):
        return False
    if scheme in _SCHEMES:
        return len(value) >= 8
    if scheme:
        return values.looks_random(value)
    return len(value) >= 16 and any(character.isdigit() for character in value)


def _cookie(text: str, start: int, end: int, is_set: bool) -> tuple[int, int]:
    """What is secret of text[start:end], which begins with the name of a cookie."""
    if not is_set:
        return start, end
    # Its attributes are no secret, and tell what the cookie is for.
    semicolon = text.find(";", start, end)
    return text.index("=", start) + 1, end if semicolon < 0 else semicolon
