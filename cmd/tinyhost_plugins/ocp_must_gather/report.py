"""Answers about a must-gather, whose end says what they do not cover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .._shared import report
from .._shared.must_gather import MustGather, MustGatherError
from .._shared.pace import Pace
from .._shared.report import CHARACTERS, View, named
from .._shared.texts import size

_REASON, _LONGER = 400, 5


@dataclass(frozen=True, slots=True)
class Ask:
    """What goes with one call. rows: of each list. characters: of the whole answer."""

    mg: MustGather
    pace: Pace
    rows: int
    characters: int = CHARACTERS

    def at_most(self, usual: int) -> int:
        """The characters of one text: more than usual for who has asked for more."""
        return usual * _LONGER if self.characters > CHARACTERS else usual

    @property
    def reason(self) -> int:
        """The characters of a reason."""
        return self.at_most(_REASON)


class Report(report.Report):
    """An answer that grows from its first line on, which is the short one."""

    instead = "ask for less, or "
    # Names that are cut cannot be looked for: those of pods, and of Secrets with their namespace.
    widest = 140

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


def is_partial(ask: Ask) -> bool:
    """Whether something has been left out that could change an answer."""
    return bool(ask.mg.faults or ask.pace.stopped)


def file_size(ask: Ask, path: str | Path) -> str:
    """The size of a file in words; "-" when it cannot be opened, which is noted."""
    try:
        return size(ask.mg.tree.size(path))
    except MustGatherError as error:
        where = ask.mg.relative(path)
        ask.mg.tree.note(where, str(error).removeprefix(f"{where} "))
        return "-"


def nothing(ask: Ask, what: str) -> str:
    """The first line where none of something was found."""
    return f"No {what} could be read." if is_partial(ask) else f"This must-gather has no {what}."
