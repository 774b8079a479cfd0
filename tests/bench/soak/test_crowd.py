"""Many plugins, many calls in flight, some cancelled, some plugins killed."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_call_of_a_crowd_ends_once_with_its_own_answer(
    tmp_path: Path, seed: int
) -> None:
    from bench.soak import crowd

    done = await crowd.run(tmp_path, plugins=50, flight=16, rounds=4, seed=seed)
    tally = done.tally
    assert tally["calls"] == 50 * 16 * 4
    assert tally.lost == 0
    assert tally["crossed"] == 0
    assert done.repeated == 0
    assert done.left == 0
    assert done.killed == 5
    assert tally["answered"] > tally["calls"] // 2
    assert min(tally["cancelled"], tally["error"]) > 0
