"""Keeping secrets out of logs and messages: which values are secret, and masking them."""

from __future__ import annotations

import json
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
# Forms that services give their secrets, and that hardly anything else has. Each has a fixed
# beginning, so that text without one is passed over quickly.
_SHAPES = re.compile(
    "|".join(
        (
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}-----)?",
            # What stands before must not belong to it: otherwise each place in a long run of
            # such characters would be tried anew.
            r"(?<![A-Za-z0-9_.\-])(?:"
            r"gh[pousr]_[A-Za-z0-9]{30,255}"
            r"|github_pat_[A-Za-z0-9_]{30,255}"
            r"|glpat-[A-Za-z0-9_\-]{20,255}"
            r"|xox[abeoprs]-[A-Za-z0-9\-]{10,255}"
            r"|sk-[A-Za-z0-9_\-]{20,255}"
            r"|[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"
            r"|AIza[A-Za-z0-9_\-]{35}"
            r"|ya29\.[A-Za-z0-9_\-.]{20,2000}"
            r"|npm_[A-Za-z0-9]{36}\b"
            r"|pypi-[A-Za-z0-9_\-]{50,500}"
            r"|hf_[A-Za-z0-9]{30,100}"
            r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b"
            r"|eyJ[A-Za-z0-9_\-]{10,4000}\.eyJ[A-Za-z0-9_\-]{5,8000}\.[A-Za-z0-9_\-]{10,2000}"
            r")",
        )
    )
)
_BEGINNINGS = (
    "PRIVATE KEY-----",
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "sk-", "sk_", "rk_"),
    *("AIza", "ya29.", "npm_", "pypi-", "hf_", "AKIA", "ASIA", "eyJ"),
)
# A value after such a word counts with a digit in it; without one, it is a word of prose or code.
_AFTER_WORD = re.compile(
    r"(?P<word>\b(?:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|token)\s{1,4})?"
    r"|bearer\s{1,4}|(?:api_?key|access_token|refresh_token|client_secret)[\"']?\s{0,4}[:=]"
    r"\s{0,4}[\"']?))(?=[^\s\"'&,;]{0,500}[0-9])[^\s\"'&,;]{8,}",
    re.IGNORECASE,
)


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


def redact_start(text: str, secrets: Iterable[str]) -> str:
    """Like redact, for the beginning of a longer text, which may end within a secret."""
    text = redact(text, secrets)
    for secret in secrets:
        for length in range(min(len(secret), len(text)), SHORTEST - 1, -1):
            if text.endswith(secret[:length]):
                return text[:-length] + MASK
    return text


def redact_value(value: Any, secrets: Iterable[str]) -> Any:
    """The same for every text in a JSON value; keys are left as they are."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {key: redact_value(inner, secrets) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_value(inner, secrets) for inner in value]
    return value


def redact_shapes(text: str) -> str:
    """Replace what has the form of a secret: well-known tokens, keys, authorization headers."""
    # The expression looks at each character a dozen times; most texts hold none of these.
    if any(beginning in text for beginning in _BEGINNINGS):
        text = _SHAPES.sub(MASK, text)
    return _AFTER_WORD.sub(lambda found: found["word"] + MASK, text)


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
    words: set[str] = set()
    if secret:
        # Logs are masked line by line, so the lines of a longer secret count each.
        words.add(text.strip())
        words.update(line.strip() for line in text.splitlines())
    for password in _URL_PASSWORD.findall(text):
        words.update((password, unquote(password)))
    found |= words
    # What is told of is JSON text more often than not, which writes some characters in two ways.
    found.update(json.dumps(word)[1:-1] for word in words)
    found.update(json.dumps(word, ensure_ascii=False)[1:-1] for word in words)
