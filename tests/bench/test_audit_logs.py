"""The row of the plugin audit-logs: both sides answer the same, and jq is needed."""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.audit_logs")


async def test_a_quick_run_has_a_row_for_plain_and_one_for_packed_logs(rows: ModuleType) -> None:
    workspace = importlib.import_module("bench.workspace")
    with workspace.Workspace() as place:
        # It raises where the answers differ.
        plain, packed = await rows.measure(place, True)
    assert (plain.name, packed.name) == ("audit.plain", "audit.gzip")
    for row in (plain, packed):
        assert (row.goal, row.faster, row.error) == (2, True, "")
        assert len(row.seconds) == len(row.floor_seconds) == 3


def test_the_log_is_the_same_each_time_and_holds_events_of_several_stages(
    rows: ModuleType, tmp_path: Path
) -> None:
    first = rows.write_log(tmp_path / "a.log", 100_000).read_bytes()
    again = rows.write_log(tmp_path / "b.log", 100_000)
    assert again.read_bytes() == first
    events = [json.loads(line) for line in first.splitlines()]
    assert {event["stage"] for event in events} == {"ResponseStarted", "ResponseComplete"}
    assert gzip.decompress(rows.pack(again).read_bytes()) == first


def test_without_jq_the_row_says_how_to_get_it(rows: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="apt-get install jq"):
        rows.find_jq(str(tmp_path))
