"""Keeping secrets out of logs and messages: which values are secret, and masking them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

MASK = "[redacted]"
SHORTEST = 6

_WHOLE = {
    "AUTHORIZATION",
    "AUTH_HEADER",
    "COOKIE",
    "CREDENTIALS",
    "PASSWORD",
    "PASSWD",
    "SECRET",
    "TOKEN",
}
_PART = (
    "API_KEY",
    "APIKEY",
    "SECRET_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "SESSION_TOKEN",
    "AUTH_TOKEN",
)
# Some programs run the word on: PGPASSWORD, SSHPASS, AUTHTOKEN.
_END = (
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SSHPASS",
    "TOKEN",
    "_SECRET",
    "_CREDENTIAL",
    "_CREDENTIALS",
    "_CREDS",
    "_COOKIE",
    "_KEY",
    "_PASS",
    "_PAT",
    "_PWD",
)
_PUBLIC = ("PUBLIC_KEY",)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_URL_PASSWORD = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/@:]*:([^\s/@]+)@")


def looks_secret(name: str) -> bool:
    """Whether a variable or option of that name (DB_PASSWORD, apiToken) holds a secret."""
    word = _CAMEL.sub("_", name).replace("-", "_").upper()
    if word.endswith(_PUBLIC):
        return False
    return word in _WHOLE or word.endswith(_END) or any(part in word for part in _PART)


def secrets_in(values: Mapping[str, Any]) -> set[str]:
    """The secrets among variables or options: by name, and passwords in addresses.

    Objects and arrays are searched too; below a secret name every text is secret. Values
    shorter than 6 characters are left out: masking them would garble everything else.
    """
    found: set[str] = set()
    for name, value in values.items():
        _collect(value, looks_secret(name), found)
    return {text for text in found if len(text) >= SHORTEST}


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret in a text by "[redacted]", longer ones first."""
    words = sorted((word for word in set(secrets) if word), key=len, reverse=True)
    if not words:
        return text
    return re.sub("|".join(map(re.escape, words)), MASK, text)


def _collect(value: Any, secret: bool, found: set[str]) -> None:
    if isinstance(value, str):
        _collect_text(value, secret, found)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _collect(inner, secret or looks_secret(str(name)), found)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect(inner, secret, found)


def _collect_text(text: str, secret: bool, found: set[str]) -> None:
    if secret:
        # Logs are masked line by line, so the lines of a longer secret count each.
        found.add(text.strip())
        found.update(line.strip() for line in text.splitlines())
    for password in _URL_PASSWORD.findall(text):
        found.update((password, unquote(password)))
