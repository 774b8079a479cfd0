"""Files in `data:` addresses, as machine configurations and web pages have them: base64 or percent signs.

Their content is decoded, unpacked if it is gzip, and judged by all rules. Where it holds a secret, the
whole of it is masked: nobody could tell which characters of the encoded text are the secret's.
"""

from __future__ import annotations

import base64
import re
import string
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from .spans import SHAPED, Span

LABEL = "data-url"

_HEAD = re.compile(
    r"(?<![\w.\-])data:(?:[\w.+\-]{1,80}+/[\w.+\-]{1,80}+)?"
    r"(?:;[ ]?[\w.+\-]{1,80}+(?:=[\w.+\-%]{0,200}+)?){0,8}?(?P<base64>(?i:;[ ]?base64))?,"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\-%]*+")
# What opens before the address ends it, too: url(data:...), src='data:...'.
_PERCENT = {
    opening: re.compile(rf"[^\s\"<>\\`{re.escape(closing)}]*+")
    for opening, closing in (("'", "'"), ("(", ")"), ("", ""))
}
_AFTER = ")]},;"  # belongs to what is around: {source: data:,...}
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_NOT_BASE64 = bytes(set(range(256)) - set((string.ascii_letters + string.digits + "+/-_").encode()))
_GZIP = b"\x1f\x8b"
_GZIP_ONLY = 16 + zlib.MAX_WBITS


class Allowance:
    """How many more bytes may be decoded for a text: a few bytes of gzip unpack to millions.

    It bounds the time and the memory that a text takes, whatever addresses are in addresses.
    """

    __slots__ = ("left",)

    def __init__(self, text: str) -> None:
        self.left = 64 * 1024 + 2 * len(text)


def find(text: str, holds_secret: Callable[[str], bool], allowance: Allowance) -> Iterator[Span]:
    """Yield what follows the comma of addresses whose content holds a secret.

    What the allowance does not suffice for is masked without having been judged.
    """
    if "data:" not in text:
        return
    at = 0
    while (head := _HEAD.search(text, at)) is not None:
        before = text[max(head.start() - 1, 0) : head.start()]
        body = _BASE64 if head["base64"] else _PERCENT.get(before, _PERCENT[""])
        found = body.match(text, head.end())
        assert found is not None  # it may be empty
        at = found.end()
        encoded = found[0].rstrip(_AFTER)
        if not head["base64"] and "%" not in encoded:
            continue  # the rules see it as it is
        content = _content(encoded, head["base64"] is not None, allowance)
        if content is None or holds_secret(content):
            yield Span(found.start(), found.start() + len(encoded), LABEL, SHAPED)


def _content(encoded: str, in_base64: bool, allowance: Allowance) -> str | None:
    """The text that is encoded, of what may be cut off at its end. None: more than is allowed."""
    data = unquote_to_bytes(encoded)
    if in_base64:
        data = _from_base64(data)
    if data.startswith(_GZIP) and len(data) <= allowance.left:
        data = _unpacked(data, allowance.left + 1)
    if len(data) > allowance.left:
        return None
    allowance.left -= len(data)
    return data.decode(errors="replace")


def _from_base64(data: bytes) -> bytes:
    data = data.translate(_URL_SAFE, _NOT_BASE64)
    if len(data) % 4 == 1:
        data = data[:-1]
    return base64.b64decode(data + b"=" * (-len(data) % 4))


def _unpacked(data: bytes, most: int) -> bytes:
    """What is in the gzip; the data themselves when it is damaged."""
    try:
        return zlib.decompressobj(_GZIP_ONLY).decompress(data, most)
    except zlib.error:
        return data
