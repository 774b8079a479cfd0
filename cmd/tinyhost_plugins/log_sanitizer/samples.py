"""The labelled texts, with the made-up characters filled in."""

from __future__ import annotations

import base64
import gzip
import random
import re
import string
import uuid
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from . import samples_harmless, samples_secret

_FILL = re.compile(r"~([a-z]+?(?:64z?_?)?)(\d+)~")
_MARK = re.compile(r"«([a-z-]+)\|(.*?)»", re.DOTALL)
_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "low": "abcdefghijklmnopqrstuvwxyz-",
    "dig": "123456789",
    "lo": string.ascii_lowercase + string.digits,
    "otp": string.ascii_uppercase + "234567",
    "url": string.ascii_letters + string.digits + "-_",
    "sym": string.ascii_letters + string.digits + "!@#%^&*(-_=+)",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "b64_": string.ascii_letters + string.digits + "+/",
}
_PASSWORDS = ("Tr0ub4dor&3", "hunter2", "qwerty!23", "c0rrect-horse", "N0tReal#9", "zx81spectrum")
_DASHES = "-" * 5
_BLOCKS = {
    "rsa": "RSA ",
    "ec": "EC ",
    "dsa": "DSA ",
    "plain": "",
    "openssh": "OPENSSH ",
    "encrypted": "ENCRYPTED ",
    "pgp": "PGP ",
}

# Files as they are in data: addresses. ~filebase1~ is the second of them in base64.
_FILES = (
    '{"auths": {"quay.io": {"auth": "~basic0~", "email": "a@example.com"}}}\n',
    "DB_HOST=db.example.com\nDB_PASSWORD=~an16~\n",
    "server ntp.example.com iburst\ndriftfile /var/lib/chrony/drift\n",
    "~rsa0~\n",
    '{"storage": {"files": [{"contents": {"source": "data:;base64,~filebase1~"}}]}}\n',
    "apiVersion: v1\nkind: Secret\ndata:\n  user: ~b64z16~\n",
)


class Sample(NamedTuple):
    """A text, what should become of it, and the (class, secret) pairs in it."""

    text: str
    expected: str
    secrets: tuple[tuple[str, str], ...]


def load() -> list[Sample]:
    """All labelled texts, those with secrets first. The same in every run."""
    return build(samples_secret.TEXTS) + build(samples_harmless.TEXTS)


def build(templates: Iterable[str]) -> list[Sample]:
    """Fill in what the templates leave open."""
    return [_sample(template, random.Random(template)) for template in templates]  # noqa: S311


def _sample(template: str, dice: random.Random) -> Sample:
    marked = _filled(template, dice)
    return Sample(
        text=_MARK.sub(lambda found: found[2], marked),
        expected=_MARK.sub(lambda found: f"[REDACTED:{found[1]}]", marked),
        secrets=tuple((found[1], found[2]) for found in _MARK.finditer(marked)),
    )


def _filled(template: str, dice: random.Random) -> str:
    return _FILL.sub(lambda found: _made_up(found[1], int(found[2]), dice), template)


def _made_up(kind: str, size: int, dice: random.Random) -> str:
    if kind in _ALPHABETS:
        return _characters(kind, size, dice)
    if kind == "pw":
        return _PASSWORDS[size]
    if kind == "tilde":
        return "~"
    if kind == "uuid":
        return str(uuid.UUID(int=dice.getrandbits(128), version=4))
    if kind == "b64z":  # whole base64, of so many characters
        return base64.b64encode(dice.randbytes(size // 4 * 3)).decode()
    if kind == "basic":
        return base64.b64encode(f"robot:{_characters('an', 16, dice)}".encode()).decode()
    if kind.startswith("file"):
        return _encoded(kind.removeprefix("file"), _filled(_FILES[size], dice))
    return _block(kind, dice)


def _encoded(how: str, text: str) -> str:
    if how == "percent":
        return quote(text)
    data = text.encode()
    return base64.b64encode(gzip.compress(data, mtime=0) if how == "gzip" else data).decode()


def _characters(kind: str, size: int, dice: random.Random) -> str:
    made = "".join(dice.choices(_ALPHABETS[kind], k=size))
    # As in a real one of any length, there is a digit in it.
    return made if size < 8 or kind in ("dig", "low") else made[:3] + "7" + made[4:]


def _block(kind: str, dice: random.Random) -> str:
    one_line, cut = kind.endswith("line"), kind.endswith("cut")
    name = _BLOCKS[kind.removesuffix("line").removesuffix("cut")]
    tail = " BLOCK" if name == "PGP " else ""
    lines = [f"{_DASHES}BEGIN {name}PRIVATE KEY{tail}{_DASHES}"]
    lines += [_characters("b64_", 64, dice) for _ in range(4)]
    if not cut:
        lines += [_characters("b64_", 20, dice), f"{_DASHES}END {name}PRIVATE KEY{tail}{_DASHES}"]
    return ("\\n" if one_line else "\n").join(lines)
