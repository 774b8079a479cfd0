"""Hiding what a configuration should not show: passwords, keys, and where certificates lie."""

from __future__ import annotations

HIDDEN = "[hidden]"
# The word after one of these is hidden.
_BEFORE_HIDDEN = frozenset(
    (
        *("crt", "crt-list", "crt-base", "key", "key-base", "ca-file", "ca-base", "crl-file"),
        *("ca-verify-file", "ca-sign-file", "ca-sign-pass", "ssl-dh-param-file", "ocsp"),
        *("issuers-chain-path", "password", "insecure-password", "tls-ticket-keys"),
        *("dynamic-cookie-key", "server-state-file", "authorization"),
    )
)
# Everything after the first two words is hidden.
_VALUES = frozenset(("setenv", "presetenv", "set-var", "set-var-fmt", "cluster-secret"))


def masked(line: list[str]) -> str:
    """The words of a line with blanks between them, without what is to be hidden."""
    if line[:1] == ["cluster-secret"]:
        return f"cluster-secret {HIDDEN}"
    if line[:1] and line[0] in _VALUES:
        return " ".join([*line[:2], HIDDEN])
    shown: list[str] = []
    for before, word in zip(["", *line], line, strict=False):
        if before.lower() in _BEFORE_HIDDEN:
            shown.append(HIDDEN)
        elif line[:2] == ["stats", "auth"] and len(shown) == 2:
            shown.append(word.partition(":")[0] + ":" + HIDDEN)
        else:
            shown.append(_without_login(word))
    return " ".join(shown)


def _without_login(word: str) -> str:
    """A URL's user and password, as in "http://user:password@host", are hidden."""
    scheme, mark, rest = word.partition("://")
    if mark and "@" in rest.partition("/")[0]:
        return f"{scheme}{mark}{HIDDEN}@{rest.partition('@')[2]}"
    return word
