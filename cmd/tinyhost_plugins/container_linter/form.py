"""The forms that arguments of an instruction have: flags before them, and arrays of JSON."""

from __future__ import annotations

import json

SPACE = " \t\v\f\r\n"


class FormError(ValueError):
    """A builder rejects the arguments; the text says why."""


def split_flags(text: str) -> tuple[tuple[str, ...], str]:
    """The leading words that begin with --, without their quotes, and what follows them."""
    flags: list[str] = []
    at, end = 0, len(text)
    while at < end:
        while at < end and text[at] in SPACE:
            at += 1
        if not text.startswith("--", at):
            break
        flag, at = _flag(text, at)
        if flag == "--":
            break
        flags.append(flag)
    return tuple(flags), text[at:].strip()


def _flag(text: str, at: int) -> tuple[str, int]:
    pieces: list[str] = []
    quote = ""
    while at < len(text):
        char = text[at]
        if quote == "" and char in SPACE:
            break
        if char == "\\" and at + 1 < len(text):
            at += 1
            pieces.append(text[at])
        elif char == quote:
            quote = ""
        elif quote == "" and char in "'\"":
            quote = char
        else:
            pieces.append(char)
        at += 1
    return "".join(pieces), at


def json_words(text: str) -> tuple[str, ...] | None:
    """The words of the exec form; None when it is the shell form.

    Raises FormError for an array with something else than strings in it.
    """
    if not text.startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(word, str) for word in value):
        raise FormError("an array of JSON has to hold nothing but strings")
    return tuple(value)
