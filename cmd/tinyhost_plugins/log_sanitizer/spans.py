"""Places in a text that hold secrets, and putting markers in their place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

# Ours, the host's own, and those of others that do the same.
_MARKERS = re.compile(r"(?:\[(?i:redacted)(?::[a-z0-9-]{1,40})?\])+")

# How sure a class is: of two that overlap, the surer names the marker.
NAMED = 1  # known by the name beside it
PLACED = 2  # known by the place it stands in, such as a header
SHAPED = 3  # known by its own form


class Span(NamedTuple):
    """text[start:end] is to be replaced: by the marker of the class `label`, or by `text`.

    label: "" when what is replaced is not one secret, but a piece of text with some in it.
    """

    start: int
    end: int
    label: str
    weight: int = NAMED
    text: str | None = None


def marker(label: str) -> str:
    return f"[REDACTED:{label}]"


def is_marker(text: str) -> bool:
    return _MARKERS.fullmatch(text) is not None


def merge(text: str, spans: Iterable[Span], allow: Collection[str] = ()) -> list[Span]:
    """The spans in order, none overlapping another: those that did are one, which covers both.

    Spans of allowed classes and those that hold nothing but a marker are left out.
    """
    merged: list[Span] = []
    for span in sorted(spans):
        if span.label in allow or is_marker(text[span.start : span.end]):
            continue
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            continue
        last = merged[-1]
        best = span if span.weight > last.weight else last
        merged[-1] = best._replace(start=last.start, end=max(last.end, span.end))
    return merged


def replace(text: str, spans: Iterable[Span]) -> tuple[str, Counter[str]]:
    """The text with a marker for each of the merged spans, and how many of each class."""
    pieces: list[str] = []
    counts: Counter[str] = Counter()
    done = 0
    for span in spans:
        pieces.append(text[done : span.start])
        pieces.append(marker(span.label) if span.text is None else span.text)
        if span.label:
            counts[span.label] += 1
        done = span.end
    pieces.append(text[done:])
    return "".join(pieces), counts
