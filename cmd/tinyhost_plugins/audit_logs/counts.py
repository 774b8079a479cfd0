"""Counts by key that stay bounded whatever the keys are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

Key = TypeVar("Key", str, tuple[str, ...])
# Names in a cluster are shorter.
LONGEST_KEY = 256


class Counts(Generic[Key]):
    """How often each key came.

    most: how many keys are counted by themselves; what comes after them adds to `others`.
    """

    def __init__(self, most: int) -> None:
        self.others = 0
        self._most = most
        self._counts: dict[Key, int] = {}

    def add(self, key: Key, times: int = 1) -> None:
        """Count the key. Long texts in it are cut."""
        try:
            self._counts[key] += times
        except KeyError:
            self._add_new(_short(key), times)

    def _add_new(self, key: Key, times: int) -> None:
        if key in self._counts:
            self._counts[key] += times
        elif len(self._counts) < self._most:
            self._counts[key] = times
        else:
            self.others += times

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def total(self) -> int:
        """All that was counted."""
        return sum(self._counts.values()) + self.others

    def top(self, most: int) -> list[tuple[Key, int]]:
        """The largest counts; those that are equal are in the order of their keys."""
        return sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))[:most]

    def in_order(self) -> list[tuple[Key, int]]:
        """All of them, in the order of their keys."""
        return sorted(self._counts.items())


def _short(key: Key) -> Key:
    if isinstance(key, str):
        return key[:LONGEST_KEY]
    return tuple(part[:LONGEST_KEY] for part in key)


def share(part: int, whole: int) -> float:
    """Percent; 0 of nothing."""
    return 100 * part / whole if whole else 0.0


def listed(words: Sequence[str], most: int = 10) -> str:
    """Names in a sentence, of which there may be many."""
    left = len(words) - most
    return ", ".join(words[:most]) + (f" and {left} more" if left > 0 else "")
