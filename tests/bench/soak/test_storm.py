"""The soak as a command, small: it says what happened and finds nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def soak(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.soak", *arguments],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    assert list(temporary.iterdir()) == []
    return done


def test_a_storm_loses_no_call_and_leaves_nothing(tmp_path: Path) -> None:
    done = soak(tmp_path, "--only", "storm", "--calls", "20000", "--seed", "3", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)["storm"]
    assert figures["calls"] >= 20_000
    assert (figures["lost"], figures["crossed"], figures["processes left"]) == (0, 0, 0)
    for kind in ("answered", "error", "malformed", "timeout", "uncertain", "cancelled"):
        assert figures[kind] > 0
    assert figures["deaths"] > 0
    assert figures["junk lines"] > 0


def test_a_storm_ends_when_its_time_is_over(tmp_path: Path) -> None:
    done = soak(tmp_path, "--only", "storm", "--minutes", "0.02")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("storm: ok True, ")


def test_a_lost_call_or_a_crossed_answer_is_noticed() -> None:
    from bench.soak.tally import Tally

    assert Tally(calls=3, answered=2).lost == 1
    assert Tally(calls=3, answered=2, died=1, crossed=1).lost == 0


async def test_an_answer_to_another_call_is_counted_as_crossed(tmp_path: Path) -> None:
    from bench.soak.place import Place
    from bench.soak.tally import Tally

    place, tally = Place(tmp_path), Tally()
    name = place.add("mine")
    file = place.plugins / name
    file.write_text(file.read_text().replace(" mine", " other"))
    async with place.manager() as manager:
        assert await tally.call(await manager.load(name), "t1", patience=5) == "answered"
    assert tally == {"calls": 1, "answered": 1, "crossed": 1}


@pytest.mark.parametrize("growth", ["descriptors", "children", "files", "rss"])
def test_what_has_grown_makes_the_soak_fail(growth: str, tmp_path: Path) -> None:
    import argparse
    from types import SimpleNamespace

    from bench.soak.__main__ import _cycles
    from bench.soak.watch import Holdings

    held = {"descriptors": 9, "children": 1, "threads": 2, "rss": 30_000, "files": 5}

    async def grows(folder: Path, count: int) -> SimpleNamespace:
        more = held | {growth: held[growth] * 2}
        return SimpleNamespace(
            cycles=count, before=Holdings(**held), after=Holdings(**more), left=0
        )

    figures = _cycles(grows, 10)(tmp_path, argparse.Namespace(scale=1.0))
    assert not figures["ok"]
