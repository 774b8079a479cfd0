"""Hiding what a configuration should not show: passwords, keys, and where certificates lie."""

from __future__ import annotations

import re

from .._shared.texts import line as on_one_line

HIDDEN = "[hidden]"
# The word after one of these is hidden.
_BEFORE_HIDDEN = frozenset(
    (
        *("crt", "crt-list", "crt-base", "key", "key-base", "ca-file", "ca-base", "crl-file"),
        *("ca-verify-file", "ca-sign-file", "ca-sign-pass", "ssl-dh-param-file", "ocsp"),
        *("issuers-chain-path", "tls-ticket-keys", "dynamic-cookie-key", "server-state-file"),
    )
)
# Everything after so many words is hidden in a line that begins like this.
_KEPT = {
    **dict.fromkeys(("setenv", "presetenv", "set-var", "set-var-fmt", "tcp-check"), 2),
    **dict.fromkeys(("lua-load", "lua-load-per-thread"), 2),
    "cluster-secret": 1,
}
# What a header, a variable or a setting is called whose value nobody should see, to its end. All
# that follows it in the line may belong to the value.
_NAME = re.compile(
    r"(?:authoriz|authentic|(?<![a-z])auth(?![a-z])|api-?key|token|secret|passw|credential|cookie)"
    r"[\w.-]*\)?",
    re.IGNORECASE,
)

_LONGEST = 300


def shown(line: list[str]) -> str:
    """The words of a line as an answer shows them: without what is to be hidden, and cut."""
    return on_one_line(masked(line), _LONGEST)


def masked(line: list[str]) -> str:
    """The words of a line with blanks between them, without what is to be hidden."""
    if line[:2] == ["stats", "auth"] and len(line) > 2:
        return f"stats auth {line[2].partition(':')[0]}:{HIDDEN}"
    kept = _KEPT.get(line[0]) if line else None
    if kept is not None and len(line) > kept:
        return " ".join([*line[:kept], HIDDEN])
    parts: list[str] = []
    for number, word in enumerate(line):
        if number and line[number - 1].lower() in _BEFORE_HIDDEN:
            parts.append(HIDDEN)
        elif number and (name := _NAME.search(word)):
            # Something follows, in the word itself or after it.
            rest = [HIDDEN] if line[number:] != [word[: name.end()]] else []
            return " ".join([*parts, word[: name.end()], *rest])
        else:
            parts.append(_without_login(word))
    return " ".join(parts)


def _without_login(word: str) -> str:
    """A URL's user and password, as in "http://user:password@host", are hidden."""
    scheme, mark, rest = word.partition("://")
    if mark and "@" in rest.partition("/")[0]:
        return f"{scheme}{mark}{HIDDEN}@{rest.partition('@')[2]}"
    return word
