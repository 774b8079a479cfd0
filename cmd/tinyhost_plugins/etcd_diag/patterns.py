"""Patterns to search keys with, none of which can take for ever."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tinyhost_sdk import HandlerError

from .._shared import matching
from .._shared.texts import Span
from .pace import Pace

T = TypeVar("T")

_WHAT = "pattern"
_LONGEST = 200
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


def is_expression(pattern: str) -> bool:
    """Whether it is a regular expression; what is none is looked for as it is.

    Raises HandlerError for an empty pattern, and for one that is too long.
    """
    if not pattern:
        raise HandlerError('"pattern" is empty; give a part of a key, or a regular expression')
    if len(pattern) > _LONGEST:
        raise HandlerError(f'"pattern" is longer than {_LONGEST} characters')
    try:
        matching.check(pattern, _WHAT)
    except HandlerError:
        return False
    return True


def find(
    pattern: str, items: Iterable[T], text: Callable[[T], str], pace: Pace
) -> Iterator[tuple[T, Span]]:
    """The items whose texts have the pattern in them, in their order, with its place in each.

    Raises HandlerError as is_expression does, and when the search takes longer than it may.
    """
    if not is_expression(pattern) or not _SPECIAL.search(pattern):
        for item in items:
            at = text(item).find(pattern)
            if at >= 0:
                yield item, (at, at + len(pattern))
        return
    # Python tries every way in which repeats can share a text, and only another process can end that.
    with matching.Matcher(pattern, _WHAT, pace) as matcher:
        yield from matcher.find(items, text)
