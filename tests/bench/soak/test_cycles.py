"""Loading, unloading and failing many times over leaves the host as it was."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

_GROWTH_MOST = 4 * 1024  # KiB; one leaked kilobyte a cycle would not be seen, a buffer would


@pytest.mark.parametrize(
    ("run", "count"), [("load_and_unload", 300), ("managers", 60), ("failed_starts", 100)]
)
async def test_what_the_host_holds_does_not_grow(run: str, count: int, tmp_path: Path) -> None:
    from bench.soak import cycles

    growth = await getattr(cycles, run)(tmp_path, count)
    assert growth.cycles == count
    assert growth.left == 0
    before, after = attrs.asdict(growth.before), attrs.asdict(growth.after)
    assert after.pop("rss") - before.pop("rss") < _GROWTH_MOST
    assert after == before
