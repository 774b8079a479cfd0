"""Patterns to search keys with, none of which can take for ever."""

from __future__ import annotations

import re
from collections.abc import Callable

from tinyhost_sdk import HandlerError

_LONGEST = 200
_MOST_REPEATS = 3
_MOST_OPTIONAL = 8
# Keys of Kubernetes are shorter. The time of a match grows with a power of the length.
_WINDOW = 512

_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def matcher(pattern: str) -> tuple[Callable[[str], bool], bool]:
    """A test for keys, and whether the pattern was a regular expression.

    What does not compile is looked for as it is. Raises HandlerError for a pattern that may take
    very long: Python tries every way in which repeats can share a text.
    """
    if not pattern:
        raise HandlerError('"pattern" is empty; give a part of a key, or a regular expression')
    if len(pattern) > _LONGEST:
        raise HandlerError(f'"pattern" is longer than {_LONGEST} characters')
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return (lambda key: pattern in key), False
    _refuse_slow(pattern)
    return (lambda key: compiled.search(key[:_WINDOW]) is not None), True


def _refuse_slow(pattern: str) -> None:
    plain = _CLASS.sub("x", _ESCAPE.sub("x", pattern))
    # What a repeat or "?" repeats decides; "(?:" and the like begin groups, "*?" is one repeat.
    plain = plain.replace("(?:", "(")
    if re.search(r"\)(?:[*+]|\{)", plain):
        why = "repeats a group"
    elif "(?" in plain or re.search(r"\\[1-9]", pattern):
        why = "looks around, refers back or sets flags"
    elif len(re.findall(r"[*+]|\{[0-9,]*\}", plain)) > _MOST_REPEATS:
        why = f"has more than {_MOST_REPEATS} repeats"
    elif plain.count("?") > _MOST_OPTIONAL:
        why = f'has more than {_MOST_OPTIONAL} times "?"'
    else:
        return
    raise HandlerError(f'"pattern" {why}, which may take very long; search for something simpler')
