"""Which names (DB_PASSWORD, client-secret, accessToken) have a secret as their value."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

# How readily a value is believed to be secret.
ANY = 3  # everything that is not evidently something else
SOLID = 2  # what has some length and is not a plain word
RANDOM = 1  # only what looks made by a random generator

LABELS = ("password", "token", "secret", "api-key", "secret-key", "credential", "registry-auth")


class Kind(NamedTuple):
    label: str
    level: int


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PASSWORD = frozenset(
    (
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        "pw",
        "pass",
        "sshpass",
        "dbpass",
        "userpass",
        "storepass",
        "keypass",
        "psk",
    )
)
# Run on without a break, as in PGPASSWORD.
_PASSWORD_END = ("password", "passwd", "passphrase")
_TOKEN_END = "token"  # noqa: S105
# Said after the name proper: DB_PASSWORD_PROD, SECRET_KEY_BASE, client-key-data.
_AFTER_NAME = """
    value values data base64 b64 raw old new current previous prod production dev staging plain
    plaintext confirm confirmation again base primary secondary
"""
_AFTER = frozenset(_AFTER_NAME.split())
# Tokens that are no secrets: those of paging and of language models.
_OTHERS_NAMED = """
    page next continuation continue sync cursor resume change pagination prev eos bos pad unk sep
    cls mask special stop max min num total prompt completion input output cancellation syntax
"""
_OTHER_TOKENS = frozenset(_OTHERS_NAMED.split())
_KEYS_NAMED = """
    secret private preshared encryption decryption signing master aes hmac cipher access auth account storage
    shared webhook admin deploy client license rsa service consumer app subscription session jwt functions
"""
_KEY_OF = {
    "api": Kind("api-key", SOLID),
    **dict.fromkeys(_KEYS_NAMED.split(), Kind("secret-key", RANDOM)),
}
_SECRET_OF = frozenset(("client", "app", "consumer", "shared", "oauth", "api"))
_JOINED = {
    "apikey": Kind("api-key", SOLID),
    "secretkey": Kind("secret-key", RANDOM),
    "accesskey": Kind("secret-key", RANDOM),
    "privatekey": Kind("secret-key", RANDOM),
    "clientsecret": Kind("secret", SOLID),
    **dict.fromkeys(("passwordhash", "passwdhash", "pwhash"), Kind("password-hash", ANY)),
}
_WHOLE = {
    ("auth",): Kind("registry-auth", RANDOM),
    ("secret", "id"): Kind("secret", RANDOM),
    ("secret", "string"): Kind("secret", ANY),
    ("secret", "binary"): Kind("secret", ANY),
}


@functools.lru_cache(maxsize=4096)
def kind_of(name: str, more: frozenset[str] = frozenset()) -> Kind | None:
    """What secret a name stands for. `more`: further names, in lower case."""
    name = name.strip("-_.$@")
    if name.lower() in more:
        return Kind("password", ANY)
    words = [word.lower() for word in _WORD.findall(name[-128:])]
    while len(words) > 1 and (words[-1] in _AFTER or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    return _WHOLE.get(tuple(words)) or _by_head(words[-1], words[-2] if words[1:] else "")


def _by_head(head: str, before: str) -> Kind | None:
    if head in _PASSWORD or head.endswith(_PASSWORD_END):
        return (
            None if before in ("no", "by", "change", "reset", "forgot") else Kind("password", ANY)
        )
    if head.endswith(_TOKEN_END):
        return None if before in _OTHER_TOKENS else Kind("token", RANDOM)
    if head == "hash" and (before in _PASSWORD or before.endswith(_PASSWORD_END)):
        return Kind("password-hash", ANY)
    if head == "key":
        return _KEY_OF.get(before)
    if head == "secret":
        return Kind("secret", SOLID if before in _SECRET_OF else RANDOM)
    if head in ("passwords", "tokens", "secrets"):
        return Kind(head[:-1], RANDOM)
    if head in ("credential", "credentials", "creds"):
        return Kind("credential", RANDOM)
    return _JOINED.get(head)
