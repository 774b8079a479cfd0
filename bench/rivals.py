"""Rows that compare the host's calls with those of another program, a driver."""

from __future__ import annotations

import os

from tinyhost.plugin import Plugin

from . import placement
from .harness import Call, Row, one_by_one, take_turns
from .programs import Driver


async def compare(
    name: str,
    what: str,
    against: str,
    *,
    goal: float,
    faster: bool = False,
    plugin: Plugin,
    call: Call,
    count: int,
    driver: Driver,
    driver_count: int,
    rounds: int,
) -> list[Row]:
    """One row for each placement; the counts are calls per round."""
    cases = {"driver": driver.rounds(driver_count), "host": one_by_one(call, count)}
    rows = []
    for where in placement.every():
        callers, children = [os.getpid(), driver.pid], [plugin.info.pid or 0]
        with placement.placed(where, callers=callers, children=children):
            times = await take_turns(cases, rounds=rounds, warm_up=2)
        rows.append(
            Row(
                name=f"{name}.{where}",
                what=what,
                against=against,
                goal=None if where == placement.FREE else goal,
                faster=faster,
                seconds=times["host"],
                floor_seconds=times["driver"],
            )
        )
    return rows
