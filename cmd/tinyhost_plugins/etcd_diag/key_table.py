"""The newest record of each key, in little memory.

A dict of a million keys takes some 200 MB. Here, a key takes 12 bytes in a slot of an open hash
table, which is at most two thirds full: a part of its hash, and where in the file its record is.
The key itself stays in the file.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

_SMALLEST = 1024
_TAG = 0xFFFFFFFF


class KeyTable:
    """Places by key. key_at gives the key that is at a place; no place is 0."""

    def __init__(self, key_at: Callable[[int], bytes]) -> None:
        self._key_at = key_at
        self._tags, self._places = _slots(_SMALLEST)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        """The places, in no order."""
        return (place for place in self._places if place)

    def find(self, key: bytes) -> int:
        """The place of a key, or 0."""
        return self._places[self._slot(key, hash(key) & _TAG)]

    def add(self, key: bytes, place: int) -> bool:
        """Remember a key's place, unless it has one; whether it was new."""
        tag = hash(key) & _TAG
        slot = self._slot(key, tag)
        if self._places[slot]:
            return False
        self._tags[slot], self._places[slot] = tag, place
        self._count += 1
        if 3 * self._count > 2 * len(self._places):
            self._grow()
        return True

    def _slot(self, key: bytes, tag: int) -> int:
        """Where a key is, or would be."""
        mask = len(self._places) - 1
        slot = tag & mask
        while place := self._places[slot]:
            if self._tags[slot] == tag and self._key_at(place) == key:
                break
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        old = zip(self._tags, self._places, strict=True)
        self._tags, self._places = _slots(2 * len(self._places))
        mask = len(self._places) - 1
        for tag, place in old:
            if place:
                slot = tag & mask
                while self._places[slot]:
                    slot = (slot + 1) & mask
                self._tags[slot], self._places[slot] = tag, place


def _slots(count: int) -> tuple[array[int], array[int]]:
    return array("I", bytes(4 * count)), array("Q", bytes(8 * count))
