"""However and whenever a host ends, nothing of its plugins lives on."""

from __future__ import annotations

from pathlib import Path

import pytest

TRIALS = 24  # each way to end three times


def test_nothing_outlives_a_host_that_is_killed_at_a_random_moment(tmp_path: Path) -> None:
    from bench.soak import hostkill

    kills = hostkill.trials(tmp_path, TRIALS, seed=7)
    assert {kill.end for kill in kills} == set(hostkill.ENDS)
    assert not hostkill.survived(kills)


@pytest.mark.parametrize("end", ["SIGKILL", "SIGINT"])
def test_plugins_that_are_wedged_or_hide_their_children_die_too(tmp_path: Path, end: str) -> None:
    from bench.soak import hostkill, watch

    kill = hostkill.trial(tmp_path, end, after=1.0, seen=(seen := set()))
    assert len(seen) > 12, "the plugins and their children were there"
    assert kill.gone is not None
    assert not watch.plugin_processes(tmp_path)
