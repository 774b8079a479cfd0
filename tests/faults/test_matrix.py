"""Every fault of the matrix, against the real host."""

from __future__ import annotations

import matrix
import pytest
import rogue
import runner
from fault import Answers, Row

import tinyhost
from tinyhost.opening import open_host


@pytest.mark.parametrize("title", [title for title in matrix.GROUPS if title != "Guards"])
async def test_each_fault_has_its_outcome_within_its_bound(bench: runner.Bench, title: str) -> None:
    failures = await runner.run_rows(bench, matrix.GROUPS[title])
    assert not failures, "\n\n".join(["", *failures])


@pytest.mark.parametrize("row", matrix.GUARDS, ids=lambda row: row.fault)
async def test_a_guard_that_fails_lets_nothing_through(bench: runner.Bench, row: Row) -> None:
    bench.add("rogue", {**row.switches, "manifest": {"tools": []}})
    bench.add(runner.HEALTHY, {"manifest": {"hooks": []}})
    config = bench.config({"rogue": row.settings}, permissions={"allow": ["*"]})
    async with open_host(config, journal=False) as host:
        await host.load_all(["rogue", runner.HEALTHY])
        async with runner.within(row.bound.seconds, "the call"):
            if isinstance(row.expect, Answers):
                assert (await host.call("plugin__healthy__t")).content == "ok"
            else:
                with pytest.raises(tinyhost.CallDenied) as caught:
                    await host.call("plugin__healthy__t")
                row.expect.check(caught.value)
        calls = {info.name: info.counters.calls for info in host.manager.list()}
        assert calls[runner.HEALTHY] == isinstance(row.expect, Answers)


def test_the_matrix_is_large_and_says_each_thing_once() -> None:
    faults = [row.fault for row in matrix.ROWS]
    assert len(faults) >= 80
    assert len(faults) == len(set(faults))


def test_every_switch_of_the_rogue_is_used_by_a_row() -> None:
    moments: set[str] = set()
    deeds: set[str] = set()
    shapes: set[str] = set()
    traits: set[str] = set()
    for row in matrix.ROWS:
        for moment, done in row.switches.items():
            moments.add(moment)
            if moment == "manifest":
                continue
            deeds |= {deed[0] for deed in done}
            shapes |= {deed[1] for deed in done if deed[0] in ("write", "write slowly")}
            traits |= {trait for deed in done if deed[0] == "child" for trait in deed[1:]}
    assert moments == {*rogue.MOMENTS, "manifest"}
    assert deeds == set(rogue.DEEDS)
    assert shapes == set(rogue.SHAPES)
    assert traits == set(rogue.TRAITS)


def test_the_page_on_security_shows_the_matrix_as_it_is() -> None:
    page = matrix.PAGE.read_text()
    assert page.count(matrix.BEGIN) == page.count(matrix.END) == 1
    assert page == matrix.rendered(page), "run: python tests/faults/matrix.py"
