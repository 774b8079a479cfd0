"""Passwords and signatures in addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import values
from .spans import PLACED, Span

LABELS = ("url-password", "signature")

_WINDOW = 1024  # characters from the beginning of an address to the end of its password
_CREDENTIALS = re.compile(
    r"://(?P<user>[^\s/:?#\[\]\"'<>`\\]{0,256}+):(?P<rest>[^\s\"'<>`\\]{1,1024}+)"
)
# Some take a token in the place of the user and no password.
_TOKEN = re.compile(r"://(?P<token>[\w\-]{20,256}+)@[\w\[]")
_PORT = re.compile(r"\d{1,5}(?![^/?#,;)\]}])")
# Where a variable or a placeholder stands for a password.
_STAND_IN = re.compile(r"\$[({A-Za-z_]|[{\[(]|%\(|%[A-Za-z_]+%|(?:%[sdvq]|\*+)$")
_ORACLE = re.compile(r"jdbc:oracle:\w{1,16}:[\w$#]{1,64}/(?P<value>[^\s@\"'/]{1,256}+)@")
_HOST = re.compile(r"[\w\[]")
_SIGNATURE = re.compile(
    r"[?&;](?:sig|X-(?:Amz|Goog)-(?:Signature|Security-Token))=(?P<value>[\w\-.~+/%=]{16,4096}+)"
)
# Whoever knows the address of a webhook may write there, and a QR code of a second factor is its seed.
_PLACED = re.compile(
    r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/(?P<hook>[\w\-]{50,100}+)"
    r"|otpauth://[^\s\"'<>]{0,256}?[?&]secret=(?P<seed>[A-Za-z2-7]{8,256}+)"
)
_PLACED_LABELS = {"hook": "discord-token", "seed": "secret"}


def find(text: str) -> Iterator[Span]:
    at = 0
    while (at := text.find("://", at)) >= 0:
        found = _CREDENTIALS.match(text, at, at + _WINDOW)
        end = _password_end(found) if found else 0
        if found and end:
            yield Span(found.start("rest"), end, "url-password", PLACED)
        elif (found := _TOKEN.match(text, at, at + _WINDOW)) and values.looks_random(
            found["token"]
        ):
            yield Span(*found.span("token"), "token", PLACED)
        at += 3
    for found in _ORACLE.finditer(text):
        if not _STAND_IN.match(found["value"]):
            yield Span(*found.span("value"), "url-password", PLACED)
    for found in _PLACED.finditer(text):
        assert found.lastgroup is not None
        yield Span(*found.span(found.lastgroup), _PLACED_LABELS[found.lastgroup], PLACED)
    for found in _SIGNATURE.finditer(text):
        yield Span(*found.span("value"), "signature", PLACED)


def _password_end(found: re.Match[str]) -> int:
    """Where the password ends; 0 when it is none, but a port and a path."""
    rest, start = found["rest"], found.start("rest")
    if "@" not in rest or _PORT.match(rest):
        return 0
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if "@" not in authority:
        # Some passwords hold a slash, although they should not; but git@host:a/b@c holds none.
        if "@" in found["user"]:
            return 0
        authority = rest
    end = authority.rindex("@")
    if not end or not _HOST.match(rest, end + 1) or _STAND_IN.match(rest[:end]):
        return 0
    return start + end
