"""Which names of variables have a secret as their value, and which values cannot be one."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TELLING_WORDS = """
    password passwords passwd pwd passphrase passcode pass secret secrets token tokens credential
    credentials creds apikey secretkey accesskey privatekey authtoken
"""
_SECRET = frozenset(_TELLING_WORDS.split())
# Run on without a break, as in PGPASSWORD.
_ENDS = ("password", "passwd", "passphrase", "secret", "token", "apikey")
# What only describes, finds or limits a secret: PASSWORD_FILE, TOKEN_URL, KEY_SIZE.
_ABOUT_WORDS = """
    path file files dir directory folder url uri endpoint host hostname server port name names type
    length len size ttl expiry expires expiration timeout lifetime interval seconds minutes days
    algorithm alg algo policy prefix suffix header field format issuer audience regex pattern
    count min max enabled disabled required optional version store provider manager mount location
    arn rotation mode env var
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
# Keys that open nothing.
_OPEN_WORDS = """
    public pub gpg pgp rpm primary foreign cache sort partition index object hot host keyboard group
    routing config map dict event metric label fingerprint
"""
_OPEN_KEYS = frozenset(_OPEN_WORDS.split())
# Tokens of paging and of language models.
_COUNTED_WORDS = """
    max min num total page next prompt completion context input output pad eos bos
"""
_COUNTED_TOKENS = frozenset(_COUNTED_WORDS.split())
# Where a shell is, and not the password that DB_PWD is.
_FOLDERS = frozenset(("PWD", "OLDPWD"))
_NEGATED = frozenset(("no", "empty", "without", "disable", "skip", "allow"))


def is_secret_name(name: str) -> bool:
    """Whether the value of a variable with this name is a secret, by the words in the name."""
    words = [word.lower() for word in _WORD.findall(name[-200:])]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    if not words or words[-1] in _ABOUT or name in _FOLDERS:
        return False
    if words[-1] == "id":
        return words[-3:-1] == ["access", "key"] or words[-2:-1] == ["secret"]
    at = next((at for at, word in enumerate(words) if _is_secret_word(word)), None)
    if at is not None:
        before = set(words[:at])
        counted = words[at] in ("token", "tokens") and before & _COUNTED_TOKENS
        return not counted and not before & _NEGATED
    return bool({"key", "keys"} & set(words)) and not _OPEN_KEYS & set(words)


def _is_secret_word(word: str) -> bool:
    return word in _SECRET or word.endswith(_ENDS)


_PLAIN = re.compile(
    r"(?:yes|no|true|false|on|off|none|null|0|1)"  # a switch
    r"|(?:file:|\.{0,2}/)(?=\S*/\S)\S*"  # a path
    r"|/\S+\.\w{2,5}"
    r"|<[^<>]*>|\{\{.*\}\}",  # a gap that something fills
    re.IGNORECASE | re.DOTALL,
)


def is_plain_value(value: str) -> bool:
    """Whether a value is none of a secret: empty, a switch, a path, or a gap to be filled."""
    return not value.strip() or _PLAIN.fullmatch(value.strip()) is not None
