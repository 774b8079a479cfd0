"""A notation for the tables of names that the rules are made of."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
