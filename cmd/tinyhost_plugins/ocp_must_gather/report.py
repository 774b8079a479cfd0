"""Answers about a must-gather, whose end says what they do not cover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .._shared import report
from .._shared.must_gather import MustGather
from .._shared.pace import Pace
from .._shared.report import CHARACTERS, View, named


@dataclass(frozen=True, slots=True)
class Ask:
    """What goes with one call. rows: of each list. characters: of the whole answer."""

    mg: MustGather
    pace: Pace
    rows: int
    characters: int = CHARACTERS


class Report(report.Report):
    """An answer that grows from its first line on, which is the short one."""

    instead = "ask for less, or "

    def __init__(self, ask: Ask, first: str) -> None:
        super().__init__(View(ask.rows, ask.characters), first)
        self._ask = ask

    def ending(self) -> Iterator[str]:
        pace, mg = self._ask.pace, self._ask.mg
        if pace.stopped:
            yield (
                f"Not complete: the time was over after {pace.seconds:g} seconds while"
                f" {pace.stopped}; ask for less, or set the option maxSeconds"
            )
        if mg.faults:
            yield f"Not read: {named(mg.faults, mg.tree.fault_count)}"
