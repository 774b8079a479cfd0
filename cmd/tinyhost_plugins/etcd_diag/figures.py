"""Figures about durations, in little memory."""

from __future__ import annotations

from array import array

# Eight bytes each. Of more, the middle is that of the first ones.
_MOST = 1_000_000


class Durations:
    """Milliseconds: how many, the least, the greatest, their average, median and 99th percentile."""

    def __init__(self) -> None:
        self.count = 0
        self.least = self.greatest = 0.0
        self._sum = 0.0
        self._kept = array("d")

    def add(self, ms: float) -> None:
        self.least = ms if not self.count else min(self.least, ms)
        self.greatest = max(self.greatest, ms)
        self.count += 1
        self._sum += ms
        if len(self._kept) < _MOST:
            self._kept.append(ms)

    def average(self) -> float:
        return self._sum / self.count if self.count else 0.0

    def median(self) -> float:
        """The middle one, or the average of the two in the middle."""
        kept = sorted(self._kept)
        half = len(kept) // 2
        if not kept:
            return 0.0
        return kept[half] if len(kept) % 2 else (kept[half - 1] + kept[half]) / 2

    def percentile(self, percent: int) -> float:
        """The least one that so many of a hundred do not exceed."""
        kept = sorted(self._kept)
        return kept[max(0, -(-len(kept) * percent // 100) - 1)] if kept else 0.0
