"""The plugin behind the wire: in memory, as a process, and behind the host."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from shipped import Shipped, hosting, tool

from tinyhost_plugins.etcd_diag.plugin import build
from tinyhost_sdk import testing

from .conftest import Etcd, Saved
from .gathers import three_pods

PLUGIN = Shipped("etcd-diag")
NAMES = [
    *("etcd_diag_stats", "etcd_diag_errors", "etcd_diag_timeline", "etcd_diag_compare"),
    *("etcd_diag_live", "etcd_diag_health", "etcd_snapshot_open", "etcd_snapshot_resources"),
    *("etcd_snapshot_get", "etcd_snapshot_search", "etcd_snapshot_storage"),
]


def test_a_process_shakes_hands_and_answers(saved: Saved, tmp_path: Path) -> None:
    three_pods(tmp_path)
    hello, stats, opened, found, absent = PLUGIN.results(
        tool("etcd_diag_stats", {"path": str(tmp_path)}),
        tool("etcd_snapshot_open", {"path": str(saved.path)}),
        tool("etcd_snapshot_search", {"pattern": "pods/shop"}),
        tool("etcd_snapshot_open", {"path": str(tmp_path / "absent")}),
    )
    assert hello["id"] == "etcd-diag"
    assert [known["name"] for known in hello["tools"]] == NAMES
    assert all(known["inputSchema"]["type"] == "object" for known in hello["tools"])
    assert hello["hooks"] == ["dispose"]
    # All but the one that goes to a cluster.
    assert {known["name"] for known in hello["tools"] if known.get("permission") != "read"} == {
        "etcd_diag_live"
    }
    assert stats["content"].startswith("5 slow applies")
    assert "hash ok" in opened["content"]
    assert found["content"].startswith("1 key match")
    assert absent["isError"] is True


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "args",
    [
        None,
        {},
        {"path": 7, "kind": 7, "pattern": 7, "sort_by": 7},
        {"path": ".", "max": -1, "kind": "pods", "name": "x", "pattern": "x"},
        {"path": "a\0b", "kind": "\ud800", "name": "x"},
        {"path": "\ud800", "kind": "\ud800", "name": "\ud800"},
        {"path": "x" * 5000, "pattern": "x"},
    ],
)
def test_odd_arguments_are_answered_in_one_line(
    name: str, args: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ETCDCTL_ENDPOINTS", "http://127.0.0.1:1")
    with testing.drive(build(), {"etcdctl": "no-such-etcdctl"}) as driver:
        result = driver.call_tool(name, args)
    assert result.is_error
    assert "\n" not in result.content
    assert "Traceback" not in result.content


@pytest.mark.parametrize("most", [-1, 5000, 1.5, "7", True])
def test_a_number_out_of_its_range_is_refused(most: object, tmp_path: Path, saved: Saved) -> None:
    three_pods(tmp_path)
    with testing.drive(build()) as driver:
        driver.call_tool("etcd_snapshot_open", {"path": str(saved.path)})
        for name, args in (
            ("etcd_diag_errors", {"path": str(tmp_path)}),
            ("etcd_diag_timeline", {"path": str(tmp_path)}),
            ("etcd_snapshot_search", {"pattern": "x"}),
        ):
            result = driver.call_tool(name, {**args, "max": most})
            assert result.is_error
            assert '"max" has to be a whole number from 0 to' in result.content


def test_a_misspelt_argument_is_refused_and_the_right_ones_named(saved: Saved) -> None:
    with testing.drive(build()) as driver:
        args = {"path": str(saved.path), "kind": "pods", "name": "web-1", "namespce\n": "shop"}
        result = driver.call_tool("etcd_snapshot_get", args)
        nothing = driver.call_tool("etcd_diag_live", {"path": "x"})
    assert result.is_error
    assert result.content == (
        r"unknown arguments: 'namespce\n'; there are kind, name, namespace, max_chars, path"
    )
    assert nothing.content == "unknown arguments: 'path'; this tool has none"


def test_names_of_files_in_answers_are_escaped(saved: Saved, tmp_path: Path) -> None:
    odd = tmp_path / "a\nb\x1b[31m"
    odd.mkdir()
    (odd / "c\n.db").write_bytes(saved.path.read_bytes())
    shown = r"a\nb\x1b[31m"
    with testing.drive(build()) as driver:
        for tool in ("etcd_snapshot_open", "etcd_diag_health"):
            content = driver.call_tool(tool, {"path": str(odd / "absent")}).content
            assert shown in content
            assert content.isprintable()
        opened = driver.call_tool("etcd_snapshot_open", {"path": str(odd / "c\n.db")}).content
        stored = driver.call_tool("etcd_snapshot_storage").content
    assert opened.startswith(r"c\n.db: ")
    assert shown in opened
    assert stored.startswith(r"c\n.db: ")
    assert "\x1b" not in opened + stored


def test_the_snapshot_is_let_go_at_the_end(saved: Saved) -> None:
    plugin = build()
    with testing.drive(plugin) as driver:
        driver.call_tool("etcd_snapshot_open", {"path": str(saved.path)})
        assert str(saved.path) in Path("/proc/self/maps").read_text()
    assert str(saved.path) not in Path("/proc/self/maps").read_text()


def test_opening_reports_its_progress_and_can_be_cancelled(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tinyhost_plugins._shared.pace._REPORT", 0)
    with testing.drive(build()) as driver:
        driver.on_progress = lambda _: driver.cancel()
        result = driver.call_tool("etcd_snapshot_open", {"path": str(saved.path)})
        assert driver.progress[0].startswith("checking the hash")
        assert result.is_error
        assert "cancelled while" in result.content
        assert driver.call_tool("etcd_snapshot_storage", {}).is_error


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"maxKey": 5}):
        pass
    assert 'there is no option "maxKey"' in caught.value.message


def test_starting_up_loads_nothing_that_a_handler_needs() -> None:
    slow = {"re", "json", "typing", "pathlib", "mmap", "hashlib", "subprocess"}
    slow |= {"tinyhost_plugins.etcd_diag.snapshot", "tinyhost_plugins.etcd_diag.classes"}
    started, _end = PLUGIN.imported({"seconds": 9})
    assert not slow & started


@asynccontextmanager
async def opened(
    home: Path, settings: dict[str, Any]
) -> AsyncIterator[Callable[[str, dict[str, Any]], Awaitable[str]]]:
    """A host with the plugin as a process; a function that calls its tools."""
    PLUGIN.install(home / "config" / "plugins")
    async with hosting(home, [["etcd-diag", {"seconds": 60}]], settings=settings) as host:
        session = await host.session_start("/")

        async def call(name: str, args: dict[str, Any]) -> str:
            return (await host.call(f"plugin__etcd-diag__{name}", args, session)).content

        yield call
        await host.session_end(session)


async def test_behind_the_host_a_running_etcd_is_asked_where_the_settings_say(
    home: Path, etcd: Etcd
) -> None:
    async with opened(home, {"etcd-diag": {"env": {"ETCDCTL_ENDPOINTS": etcd.endpoint}}}) as call:
        for _ in range(20):  # etcdctl's limits are short for a busy machine
            said = await call("etcd_diag_live", {})
            if said.startswith("overall: OK"):
                break
        assert said.startswith("overall: OK")


async def test_behind_the_host_a_snapshot_is_opened_and_looked_into(
    home: Path, saved: Saved, tmp_path: Path
) -> None:
    gather = tmp_path / "gather"
    three_pods(gather)
    calls = (
        ("etcd_snapshot_open", {"path": str(saved.path)}),
        ("etcd_snapshot_get", {"kind": "secrets", "namespace": "shop", "name": "login"}),
        ("etcd_diag_health", {"path": str(gather)}),
    )
    async with opened(home, {}) as call:
        overview, secret, health = [await call(name, args) for name, args in calls]
    assert f"{len(saved.keys)} keys at revision {saved.revision}" in overview
    assert "redacted" in secret
    assert health.startswith("overall: OK")
