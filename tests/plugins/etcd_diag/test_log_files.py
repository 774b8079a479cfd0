"""Which logs of a must-gather are read, how far, and what is said of the rest."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from tinyhost_plugins.etcd_diag.plugin import build
from tinyhost_sdk import testing

from .gathers import (
    IMAGE,
    TOOLS,
    ask,
    entry,
    row,
    slow_apply,
    slow_fsync,
    stamped,
    write_info,
    write_log,
)


@pytest.mark.parametrize("tool", TOOLS)
def test_no_logs_are_a_sentence_and_no_error(
    driver: testing.Driver, tmp_path: Path, tool: str
) -> None:
    (tmp_path / "cluster-scoped-resources").mkdir()
    text = ask(driver, tool, tmp_path)
    assert f"no etcd logs in {tmp_path}" in text
    if tool == "health":
        assert "[WARN] logs: there are no etcd logs" in text


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_no_must_gather_is_an_error_in_one_line(
    driver: testing.Driver, tmp_path: Path, tool: str
) -> None:
    (tmp_path / "file").touch()
    for path, reason in (
        (str(tmp_path / "absent"), "cannot be read (No such file or directory)"),
        (str(tmp_path / "file"), "is not a folder"),
        (str(tmp_path), "is no must-gather"),
        ("", '"path" is missing or empty'),
    ):
        result = driver.call_tool(f"etcd_diag_{tool}", {"path": path})
        assert result.is_error
        assert reason in result.content
        assert "\n" not in result.content


def test_of_several_images_the_one_with_etcd_is_read(driver: testing.Driver, gather: Path) -> None:
    (gather / "another-image" / "namespaces" / "openshift-storage").mkdir(parents=True)
    assert "5 slow applies" in ask(driver, "stats", gather)
    assert "5 slow applies" in ask(driver, "stats", gather / IMAGE)


def test_a_path_is_seen_from_the_folder_of_the_caller(driver: testing.Driver, gather: Path) -> None:
    result = driver.call_tool("etcd_diag_stats", {"path": IMAGE}, directory=str(gather))
    assert "5 slow applies" in result.content


def test_compressed_and_former_logs_are_read_and_links_are_not(
    driver: testing.Driver, tmp_path: Path
) -> None:
    write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")), "previous.log")
    packed = write_log(tmp_path, "etcd-m0", stamped(slow_apply("2s")), "current.log.20260501.gz")
    packed.rename(packed.with_name("rotated.log.gz"))
    (tmp_path / "outside.log").write_text(stamped(slow_apply("3s")))
    packed.with_name("current.log").symlink_to(tmp_path / "outside.log")
    write_log(tmp_path, "installer-1", stamped(slow_apply("4s")))
    text = ask(driver, "stats", tmp_path)
    assert text.startswith("2 slow applies")
    assert row(text, "slow_apply")[-1] == "2000"


def test_a_log_that_is_there_packed_as_well_counts_once(
    driver: testing.Driver, tmp_path: Path
) -> None:
    for name in ("previous.log", "previous.log.gz", "current.log.gz"):
        write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")), name)
    assert ask(driver, "stats", tmp_path).startswith("2 slow applies")
    # A link is not read, so it stands for no log.
    packed = write_log(tmp_path, "etcd-m1", stamped(slow_apply("1s")), "current.log.gz")
    packed.with_name("current.log").symlink_to("elsewhere")
    assert ask(driver, "stats", tmp_path).startswith("3 slow applies")


def test_a_packed_log_is_known_without_its_ending(driver: testing.Driver, tmp_path: Path) -> None:
    packed = write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")), "current.log.gz")
    packed.rename(packed.with_name("current.log"))
    assert ask(driver, "stats", tmp_path).startswith("1 slow apply,")


def test_links_to_whole_folders_are_not_followed(
    driver: testing.Driver, gather: Path, tmp_path: Path
) -> None:
    write_info(gather, "alarm_list.json", {"alarms": [{"memberID": 1, "alarm": 1}]})
    linked = tmp_path / "linked"
    (linked / "namespaces").mkdir(parents=True)
    for part in ("namespaces/openshift-etcd", "etcd_info"):
        (linked / part).symlink_to(gather / IMAGE / part)
    text = ask(driver, "health", linked)
    assert "[WARN] logs: there are no etcd logs" in text
    assert "NOSPACE" not in text


def test_times_that_cannot_be_written_are_none(driver: testing.Driver, tmp_path: Path) -> None:
    lines = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "1969-12-31T23:59:59Z"]
    path = write_log(tmp_path, "etcd-m0", "".join(f"{at} {slow_fsync('1s')}\n" for at in lines))
    # Of a line of klog, the year is that of the file.
    path.write_text(path.read_text() + "W0301 10:00:00.000000 1 x.go:1] failed to send\n")
    os.utime(path, (1e15, 1e15))
    for tool in TOOLS:
        assert "-03-01T10:00:00.000Z" in ask(driver, tool, tmp_path)
    assert ask(driver, "stats", tmp_path).startswith("0 slow applies, 3 slow fsyncs,")


def test_a_damaged_file_is_noted_and_the_others_are_read(
    driver: testing.Driver, gather: Path
) -> None:
    path = write_log(gather, "etcd-m2", stamped(*[slow_apply("9s")] * 2000), "previous.log.gz")
    path.write_bytes(path.read_bytes()[:-50])
    text = ask(driver, "stats", gather)
    assert "note: etcd-m2: etcd/etcd/logs/previous.log.gz was not read to its end" in text
    assert int(row(text, "slow_apply")[1]) >= 5


def test_a_line_without_end_costs_its_rest_only(driver: testing.Driver, tmp_path: Path) -> None:
    endless = entry("warn", "apply request took too long", request="x" * 3_000_000, took="7s")
    medium = entry("warn", "slow fdatasync", request="y" * 100_000, took="7s")
    write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s"), endless, medium, slow_apply("2s")))
    text = ask(driver, "stats", tmp_path)
    assert text.startswith("3 slow applies, 1 slow fsync,")
    assert row(text, "slow_apply")[2] == "2"
    assert "note: 2 lines longer than 64.0 KiB: the rest was not read" in text


def test_of_long_lines_little_is_kept(driver: testing.Driver, tmp_path: Path) -> None:
    for pod in ("etcd-m0", "etcd-m1"):
        write_log(tmp_path, pod, stamped(*[entry("error", "x" * 60_000)] * 150, step=1))
    ask(driver, "errors", tmp_path)  # imports what it needs
    tracemalloc.start()
    try:
        result = driver.call_tool("etcd_diag_errors", {"path": str(tmp_path), "max": 300})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.content.startswith("300 errors")
    # Whole, they have 36 MB.
    assert peak < 12 * 1024 * 1024


def test_more_logs_than_are_looked_at_are_told(
    driver: testing.Driver, gather: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("gather", "log_tools"):
        monkeypatch.setattr(f"tinyhost_plugins.etcd_diag.{module}.MOST_FILES", 2)
    text = ask(driver, "stats", gather)
    assert text.splitlines()[0].endswith("; not all logs could be read")
    assert "note: only the first 2 logs were looked at" in text


def test_logs_beyond_the_limit_are_not_read_and_it_is_said(tmp_path: Path) -> None:
    filler = entry("info", "x" * 1000)
    for pod in ("etcd-m0", "etcd-m1"):
        write_log(tmp_path, pod, stamped(*[filler] * 1500, slow_apply("1s"), step=1))
    with testing.drive(build(), {"maxLogMiB": 1}) as driver:
        text = ask(driver, "stats", tmp_path)
    assert 'the option "maxLogMiB" of etcd-diag allows more' in text
    assert "1 file not read" in text


def test_pods_that_guard_the_members_are_no_members(driver: testing.Driver, tmp_path: Path) -> None:
    for name, count in (("m0", 100), ("m1", 102), ("m2", 99), ("guard-node", 98)):
        write_log(tmp_path, f"etcd-{name}", stamped(*[slow_apply("100ms")] * count))
        guard = tmp_path / IMAGE / "namespaces/openshift-etcd/pods" / f"etcd-guard-{name}/guard"
        (guard / "guard/logs").mkdir(parents=True)
        (guard / "guard/logs/current.log").touch()
    older = tmp_path / IMAGE / "namespaces/openshift-etcd/pods/etcd-quorum-guard-5d9f-x2x/guard"
    (older / "guard/logs").mkdir(parents=True)
    (older / "guard/logs/current.log").touch()
    text = ask(driver, "compare", tmp_path)
    assert text.splitlines()[0] == "4 pods, 0 outliers"
    assert "etcd-guard-m0" not in text
    # The guard-node is a node of that name.
    assert row(text, "etcd-guard-node")[1] == "98"


@pytest.mark.parametrize("tool", TOOLS)
def test_logs_that_cannot_be_read_are_told_in_the_first_line(
    driver: testing.Driver, tmp_path: Path, tool: str
) -> None:
    path = write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")), "current.log.gz")
    path.write_bytes(path.read_bytes()[:12] + b"damaged")
    first = ask(driver, tool, tmp_path).splitlines()[0]
    if tool == "health":
        assert first == "overall: WARN (logs)"
    else:
        assert first.endswith("; not all logs could be read")


@pytest.mark.parametrize("name", ["0.log.20260501-101112.gz", "0.log.20260501-101112"])
def test_logs_that_kubelet_rotated_are_read(
    driver: testing.Driver, tmp_path: Path, name: str
) -> None:
    current = write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")))
    (current.parent / "rotated").mkdir()
    old = [
        f"2026-04-30T10:00:00.5+00:00 stderr F {slow_apply('2s')}\n",
        "2026-04-30T10:00:01.5+00:00 stderr F 2026-04-30 10:00:01.5 W | etcdserver: read-only range"
        " took too long (3s) to execute\n",
    ]
    write_log(tmp_path, "etcd-m0", "".join(old), f"rotated/{name}")
    text = ask(driver, "stats", tmp_path)
    assert text.splitlines()[0].startswith("3 slow applies, ")
    assert row(text, "slow_apply")[-1] == "3000"
    assert "2026-04-30T10:00:01.500Z [etcd-m0] etcdserver: read-only range" in text


def test_logs_without_a_line_are_not_called_healthy(driver: testing.Driver, tmp_path: Path) -> None:
    write_log(tmp_path, "etcd-m0", "")
    text = ask(driver, "health", tmp_path)
    assert text.startswith("overall: WARN (logs)\n\n[WARN] logs: there is no line in them\n")
