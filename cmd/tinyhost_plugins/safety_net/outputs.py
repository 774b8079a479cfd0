"""What a command would print, as far as that can be told: text with marks."""

from __future__ import annotations

import base64
import binascii

from . import marks
from .call import Call
from .tables import names

_DOWNLOADERS = names("curl wget fetch http https xh aria2c lynx w3m links")
_DECODERS = names(
    "base32 basenc xxd openssl uudecode gunzip zcat bzcat xzcat unxz bunzip2 lz4 zstdcat rev"
    " rot13 ascii2uni gpg hex2bin"
)
# They pass on what they read, or a part of it.
_FILTERS = names("cat tee head tail sort uniq grep egrep fgrep sed tr nl pv buffer sponge")
_MAX_DECODED = 64 * 1024


def output(call: Call) -> str:
    """What the command prints. ANY stands for what nobody can know."""
    name, args = call.name, call.args
    if name in _DOWNLOADERS:
        return marks.DOWNLOAD
    if name == "echo":
        return _echo(args)
    if name == "printf":
        return _printf(args)
    if name == "pwd":
        return call.cwd
    if name in ("which", "command") and args:
        return args[-1].rpartition("/")[2]
    if name == "tr" and not call.options().has("ds", "delete", "squeeze-repeats"):
        return _tainted(call.stdin or marks.DECODED, marks.DECODED)
    if name in _FILTERS and call.stdin is not None:
        return call.stdin
    if name == "base64":
        return _base64(call)
    if name in _DECODERS:
        return _tainted(call.stdin, marks.DECODED)
    return _tainted(call.stdin)


def _tainted(stdin: str | None, otherwise: str = marks.ANY) -> str:
    for mark in (marks.DOWNLOAD, marks.DECODED):
        if mark in (stdin or ""):
            return mark
    return otherwise


def _echo(args: tuple[str, ...]) -> str:
    escapes = False
    while args and args[0].startswith("-") and set(args[0][1:]) <= set("neE") and len(args[0]) > 1:
        escapes = escapes or "e" in args[0]
        args = args[1:]
    text = " ".join(args)
    return unescape(text) if escapes else text


def _printf(args: tuple[str, ...]) -> str:
    if args[:1] == ("--",):
        args = args[1:]
    if not args or args[0] == "-v":
        return marks.ANY
    text = unescape(args[0])
    if "%" not in text:
        return text
    values = list(reversed(args[1:]))
    pieces: list[str] = []
    while True:
        pieces.append(_fill(text, values))
        if not values:
            return "".join(pieces)


def _fill(template: str, values: list[str]) -> str:
    """The template with values taken from the end of the list, where the first one is."""
    head, *rest = template.replace("%%", "\0").split("%")
    done = [head]
    for piece in rest:
        piece = piece.lstrip("0123456789.-+# '")
        value = values.pop() if values else ""
        done += [unescape(value) if piece[:1] == "b" else value, piece[1:]]
    if not rest:
        values.clear()
    return "".join(done).replace("\0", "%")


def _base64(call: Call) -> str:
    options = call.options("w")
    if not options.has("dD", "decode"):
        return marks.ANY
    stdin = call.stdin or ""
    if marks.DOWNLOAD in stdin:
        return marks.DOWNLOAD
    if call.stdin is None or marks.is_unknown(stdin) or len(stdin) > _MAX_DECODED:
        return marks.DECODED
    try:
        data = base64.b64decode("".join(stdin.split()) + "==")
    except (binascii.Error, ValueError):
        return marks.DECODED
    return marks.clean(data.decode("utf-8", "replace"))


_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "",
    "b": "",
    "f": "\f",
    "v": "\v",
    "e": "",
    "E": "",
}


def unescape(text: str) -> str:
    """Backslash escapes as in $'...', echo -e and printf."""
    if "\\" not in text:
        return text
    done: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char != "\\" or index >= len(text):
            done.append(char)
            continue
        code = text[index]
        index += 1
        if code in _ESCAPES:
            done.append(_ESCAPES[code])
        elif code in "xuU01234567":
            value, index = _numeric(text, index, code)
            done.append(value)
        else:
            done.append(code)
    return "".join(done)


def _numeric(text: str, index: int, code: str) -> tuple[str, int]:
    base, limit = (16, {"x": 2, "u": 4, "U": 8}[code]) if code in "xuU" else (8, 3)
    start = index if base == 16 or code == "0" else index - 1
    end = start
    digits = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    while end < len(text) and end - start < limit and text[end] in digits:
        end += 1
    if end == start:
        return "", end
    number = int(text[start:end], base)
    return (marks.clean(chr(number)) if number < 0x110000 else ""), end
