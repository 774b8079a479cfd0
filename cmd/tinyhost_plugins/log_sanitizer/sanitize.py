"""Masking the secrets in a text: all rules together.

Other plugins use `sanitize` as it is: what a secret is should not be said twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from . import (
    assignments,
    blocks,
    commands,
    cut_manifests,
    data_urls,
    headers,
    jsontext,
    manifests,
    margins,
    markup,
    names,
    shapes,
    spans,
    urls,
    vendors,
)
from .spans import Span

# JSON in a string of JSON in a string of JSON, files in addresses in files: what lies deeper is read as
# plain text.
_DEEPEST = 4

LABELS = frozenset(
    (
        *(blocks.LABEL, data_urls.LABEL, manifests.LABEL),
        *(*headers.LABELS, *names.LABELS, *shapes.LABELS, *urls.LABELS, *vendors.LABELS),
    )
)


class Rules(NamedTuple):
    """What a person may change: classes that are left alone, and further names of secrets."""

    allow: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


class Sanitized(NamedTuple):
    """The text without its secrets, and how many there were of each class."""

    text: str
    counts: Counter[str]


class _Masked(NamedTuple):
    """text: without its secrets. spans: what was replaced in the text as it was, in order.

    counts: of each class, with what was found in `inside` strings of JSON that had to be decoded.
    """

    text: str
    spans: list[Span]
    counts: Counter[str]
    inside: Counter[str]


def sanitize(text: str, rules: Rules = Rules()) -> Sanitized:  # noqa: B008
    """Put [REDACTED:class] in the place of each secret. JSON stays valid JSON.

    The time it takes is proportional to the length of the text, whatever the text is.
    """
    masked = _sanitize(text, rules, 0, data_urls.Allowance(text))
    return Sanitized(masked.text, masked.counts)


def lines_with_secrets(text: str) -> dict[int, set[str]]:
    """The lines, counted from 0, on which secrets begin, in order, and the classes of those."""
    masked = _sanitize(text, Rules(), 0, data_urls.Allowance(text))
    found: dict[int, set[str]] = {}
    number = done = 0
    for span in masked.spans:
        number += text.count("\n", done, span.start)
        done = span.start
        # A piece that had to be decoded does not say which of those inside are its own.
        found.setdefault(number, set()).update((span.label,) if span.label else masked.inside)
    return found


def _sanitize(text: str, rules: Rules, depth: int, allowance: data_urls.Allowance) -> _Masked:
    inside: Counter[str] = Counter()

    def inner(part: str) -> str:
        result = _sanitize(part, rules, depth + 1, allowance)
        inside.update(result.counts)
        return result.text

    def holds_secret(part: str) -> bool:
        return bool(_sanitize(part, rules, depth + 1, allowance).counts)

    whole = text
    # All places are those in the text alone, until they are put back at the end.
    # A zero byte ends a variable in /proc/PID/environ, and the output of env -0, as a line end does.
    text, steps = margins.plain(whole.replace("\0", "\n"))
    spans_found = [*_find(text, rules)]
    if depth < _DEEPEST and data_urls.LABEL not in rules.allow:
        spans_found += data_urls.find(text, holds_secret, allowance)
    found = sorted(spans_found)
    places = jsontext.documents(text) if depth < _DEEPEST else ()
    kept: list[Span] = []
    at, done, starts = 0, 0, [span.start for span in found]
    for place in places:
        first, last = (bisect_left(starts, edge) for edge in place)
        kept += (span._replace(end=min(span.end, place[0])) for span in found[at:first])
        kept += cut_manifests.find(text, done, place[0])
        kept += jsontext.mask(text, place, found[first:last], inner, rules.names)
        at, done = last, place[1]
    kept += found[at:]
    kept += cut_manifests.find(text, done, len(text))
    merged = [margins.back(span, steps) for span in spans.merge(text, kept, rules.allow)]
    result, counts = spans.replace(whole, merged)
    return _Masked(result, merged, counts + inside, inside)


def _find(text: str, rules: Rules) -> Iterator[Span]:
    yield from blocks.find(text)
    yield from shapes.find(text)
    yield from vendors.find(text)
    yield from headers.find(text)
    yield from urls.find(text)
    yield from manifests.find(text, rules.names)
    yield from assignments.find(text, rules.names)
    yield from commands.find(text, rules.names)
    yield from markup.find(text, rules.names)
