"""A served host with all its clients and all that goes wrong, small; and hosts that are killed and followed."""

from __future__ import annotations

from pathlib import Path


async def test_a_host_in_service_loses_nothing_and_ends_with_every_answer_given(
    tmp_path: Path,
) -> None:
    from bench.soak import served

    report = await served.run(tmp_path, seconds=3, clients=1, seed=3)
    assert report.problems == {}, report.measures
    assert report.tally["calls"] > 20
    taken = report.tally["calls"] - report.tally["refused"]
    assert report.tally["answered"] > taken // 2
    assert report.at_stop > 0, "calls were on their way when it was told to end"
    assert {"nonsense", "clients died", "sessions"} <= set(report.measures)
    assert all(watched.seen for watched in report.followers.values())


async def test_a_host_that_was_killed_is_followed_by_the_next_at_once(tmp_path: Path) -> None:
    from bench.soak import takeover

    chain = await takeover.run(tmp_path, 4, seed=2)
    assert chain.ok, chain
    assert (chain.kills, chain.loading, chain.answered) == (4, 2, 3)
    assert chain.stale >= 1, "a socket was there to be taken over"


def test_what_a_follower_missed_or_saw_twice_is_noticed() -> None:
    from bench.soak.traffic import Watched

    watched = Watched()
    for seq in (3, 4, 7, 7, 6, 8):
        watched.take(seq)
    assert (watched.seen, watched.gaps, watched.disorder) == (6, 2, 2)


async def test_a_wrong_answer_and_one_that_never_came_are_counted() -> None:
    import random
    from typing import Any

    from bench.soak.traffic import Load

    load = Load(None, {}, [], ["p"], random.Random(1))  # type: ignore[arg-type]
    ends = iter([("answered", "p t1"), ("answered", "p t1"), ("cut off", "")])

    async def ask(*_: Any) -> tuple[str, str]:
        return next(ends)

    for _ in range(3):
        await load.count(ask)
    assert load.tally == {"calls": 3, "answered": 2, "crossed": 1, "cut off": 1}
    assert load.open == {"t3"}
