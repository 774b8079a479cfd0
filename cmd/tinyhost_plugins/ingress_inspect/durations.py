"""HAProxy's times."""

from __future__ import annotations

import re

from .._shared.texts import counted

_TIME = re.compile(r"([0-9]{1,20})(us|ms|s|m|h|d)?", re.ASCII)
_SECOND = 1_000_000
_MICROSECONDS = {
    "us": 1,
    "ms": 1000,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
    "d": 86_400 * _SECOND,
}


def microseconds(text: str) -> int | None:
    """The time that a text stands for, None for a text that is none; without a unit it is ms."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    return int(found[1]) * _MICROSECONDS[found[2] or "ms"]


def is_longer(text: str, seconds: int) -> bool:
    """Whether a text is a time of more than so many seconds."""
    value = microseconds(text)
    return value is not None and value > seconds * _SECOND


def say(seconds: int) -> str:
    """ "5 minutes", "90 seconds", "1 hour"."""
    for size, word in ((3600, "hour"), (60, "minute")):
        if seconds and seconds % size == 0:
            return counted(seconds // size, word)
    return counted(seconds, "second")
