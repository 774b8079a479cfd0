"""Take turns, take times, and make ratios of them. Knows nothing of what is measured."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter_ns

import attrs
import trio

# One round of a case; it returns seconds per operation.
Round = Callable[[], Awaitable[float]]
Call = Callable[[], Awaitable[object]]
Times = Mapping[str, Sequence[float]]

_NS = 1e9


class Missing(Exception):
    """An optional part is not installed; the text says which, and how to get it."""


@attrs.frozen(kw_only=True)
class Row:
    """One line of the table.

    seconds and floor_seconds are of each round, per operation. faster turns the ratio round:
    how many times faster than the floor. goal is the most that the ratio may be, or with
    faster the least. error says why the row could not be measured; there are no times then.
    """

    name: str
    what: str = ""
    against: str = ""
    goal: float | None = None
    faster: bool = False
    seconds: Sequence[float] = ()
    floor_seconds: Sequence[float] = ()
    error: str = ""

    @property
    def ratios(self) -> list[float]:
        """One ratio for each round."""
        pairs = zip(self.seconds, self.floor_seconds, strict=True)
        if self.faster:
            return [floor / own for own, floor in pairs]
        return [own / floor for own, floor in pairs]

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """The middle half of the rounds' ratios: lower and upper quartile."""
        ratios = self.ratios
        if len(ratios) < 2:
            return ratios[0], ratios[0]
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return low, high

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None where there is no goal or no result."""
        if self.goal is None or self.error:
            return None
        return self.ratio >= self.goal if self.faster else self.ratio <= self.goal

    @property
    def goal_text(self) -> str:
        """The goal for people; "" where there is none."""
        return "" if self.goal is None else f"{'>=' if self.faster else '<='} {self.goal:g}"


async def take_turns(cases: Mapping[str, Round], *, rounds: int, warm_up: int = 1) -> Times:
    """Run rounds of all cases in turns; see the package's docstring.

    Returns seconds per operation for each case and round, without those of the warm-up.
    """
    order = list(cases)
    times: dict[str, list[float]] = {name: [] for name in order}
    for number in range(-warm_up, rounds):
        for name in order if number % 2 == 0 else reversed(order):
            gc.collect()
            gc.disable()
            try:
                seconds = await cases[name]()
            finally:
                gc.enable()
            if number >= 0:
                times[name].append(seconds)
    return times


def one_by_one(call: Call, count: int) -> Round:
    """Rounds of `count` calls, one after the other; the time is the calls' median."""

    async def round() -> float:
        times = []
        for _ in range(count):
            began = perf_counter_ns()
            await call()
            times.append(perf_counter_ns() - began)
        return statistics.median(times) / _NS

    return round


def one_by_one_blocking(call: Callable[[], object], count: int) -> Round:
    """Like one_by_one, for plain functions. Nothing else runs meanwhile."""

    async def round() -> float:
        times = []
        for _ in range(count):
            began = perf_counter_ns()
            call()
            times.append(perf_counter_ns() - began)
        return statistics.median(times) / _NS

    return round


def all_at_once(call: Call, *, in_flight: int, each: int) -> Round:
    """Rounds of `in_flight` tasks that make `each` calls one after the other.

    The time is the whole round's, divided by its number of calls.
    """

    async def caller() -> None:
        for _ in range(each):
            await call()

    async def round() -> float:
        began = perf_counter_ns()
        async with trio.open_nursery() as nursery:
            for _ in range(in_flight):
                nursery.start_soon(caller)
        return (perf_counter_ns() - began) / _NS / (in_flight * each)

    return round
