"""Logs of a must-gather as lines, and what a line says, also of logs made to do harm."""

from __future__ import annotations

import gzip
import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import write_tree

from tinyhost_plugins._shared.must_gather import MustGather, open_must_gather
from tinyhost_plugins.ocp_must_gather.logs import (
    host_service_logs,
    parse_line,
    pod_logs,
    read_lines,
)

from .conftest import GATHERED


def lines_of(mg: MustGather, path: str, longest: int = 100) -> list[str]:
    return list(read_lines(mg, path, longest))


@given(st.binary(max_size=400), st.integers(1, 50))
def test_lines_of_any_bytes_are_bounded_and_as_many_as_there_are(data: bytes, longest: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = b"x" + data
        write_tree(Path(folder), {"namespaces/x.log": data})
        found = lines_of(open_must_gather(folder), "namespaces/x.log", longest)
    assert len(found) == data.count(b"\n") + (not data.endswith(b"\n"))
    assert all(len(line) <= longest + 1 for line in found)


def test_a_long_line_is_cut_visibly_and_the_next_one_is_whole(tmp_path: Path) -> None:
    long = "\xe4" * 600_000
    write_tree(tmp_path, {"namespaces/x.log": f"{long}\nnext\r\n\nend"})
    found = lines_of(open_must_gather(tmp_path), "namespaces/x.log", 101)
    assert found == ["\xe4" * 50 + "…", "next", "", "end"]


def test_compressed_logs_are_read_and_a_damaged_one_is_noted(tmp_path: Path) -> None:
    packed = gzip.compress(os.urandom(300_000).hex().encode() + b"\none\ntwo\n")
    write_tree(tmp_path, {"namespaces/a.log.gz": packed, "namespaces/b.log": packed[:150_000]})
    mg = open_must_gather(tmp_path)
    assert lines_of(mg, "namespaces/a.log.gz")[1:] == ["one", "two"]
    assert mg.faults == {}
    lines_of(mg, "namespaces/b.log")
    assert mg.faults["namespaces/b.log"].startswith("cut off or damaged")


def test_of_a_damaged_log_what_comes_before_is_read(tmp_path: Path) -> None:
    # In parts of its own, so that what has been written is there without what follows.
    with gzip.open(tmp_path / "whole.gz", "wb") as packed:
        packed.write(b"one\ntwo\n")
        packed.flush()
        kept = (tmp_path / "whole.gz").stat().st_size
        packed.write(b"three\n")
    data = (tmp_path / "whole.gz").read_bytes()[:kept]
    write_tree(tmp_path, {"namespaces/a.log.gz": data})
    mg = open_must_gather(tmp_path)
    assert lines_of(mg, "namespaces/a.log.gz") == ["one", "two"]
    assert mg.faults["namespaces/a.log.gz"].startswith("cut off or damaged")


def test_a_log_that_cannot_be_opened_is_noted(tmp_path: Path) -> None:
    write_tree(tmp_path, {"namespaces/x": ""})
    mg = open_must_gather(tmp_path)
    assert lines_of(mg, "namespaces/gone.log") == []
    assert mg.faults == {"namespaces/gone.log": "cannot be read: No such file or directory"}


def test_a_log_without_an_end_of_line_is_left_when_the_time_is_over(tmp_path: Path) -> None:
    write_tree(tmp_path, {"namespaces/x.log": b"x\n"})
    with (tmp_path / "namespaces/x.log").open("ab") as file:
        file.truncate(1 << 40)  # takes no room, and would take an hour to read
    mg = open_must_gather(tmp_path)
    asked: list[str] = []

    def is_over(what: str) -> bool:
        asked.append(what)
        return len(asked) > 3

    mg.tree.is_over = is_over
    assert lines_of(mg, "namespaces/x.log")[0] == "x"
    assert asked == ["reading namespaces/x.log"] * 4


def test_logs_of_pods_and_hosts_are_listed(tmp_path: Path) -> None:
    inside = "namespaces/shop/pods/cart-1/cart/cart"
    write_tree(
        tmp_path,
        {
            f"{inside}/logs/current.log": "",
            f"{inside}/logs/previous.log": "",
            f"{inside}/logs/rotated/0.log.20260301-1.gz": "",
            f"{inside}/healthz/log": "",
            "host_service_logs/masters/kubelet_service.log": "",
            "host_service_logs/workers/crio_service.log": "",
            "host_service_logs/workers/readme": "",
        },
    )
    mg = open_must_gather(tmp_path)
    found = list(pod_logs(mg))
    assert [(log.namespace, log.pod, log.container, log.name) for log in found] == [
        ("shop", "cart-1", "cart", "current.log"),
        ("shop", "cart-1", "cart", "previous.log"),
        ("shop", "cart-1", "cart", "0.log.20260301-1.gz"),
    ]
    assert list(pod_logs(mg, "bank")) == []
    assert [(log.role, log.service) for log in host_service_logs(mg)] == [
        ("masters", "kubelet"),
        ("workers", "crio"),
    ]


TEN = datetime(2026, 3, 1, 10, tzinfo=UTC)
MILLIS = timedelta(milliseconds=123)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("2026-03-01T10:00:00.123000000Z it works", (TEN + MILLIS, "", "", "", "it works")),
        ("2026-03-01T12:00:00+02:00 x", (TEN, "", "", "", "x")),
        ("2026-03-01 10:00:00 x", (TEN, "", "", "", "x")),
        (
            "2026-03-01T10:00:00Z E0301 09:59:59.123456       1 pod.go:12] it failed",
            (TEN, "error", "", "", "pod.go:12] it failed"),
        ),
        (
            "W0301 10:00:00.123000       1 pod.go:12] hm",
            (TEN + MILLIS, "warning", "", "", "pod.go:12] hm"),
        ),
        ("Mar 01 10:00:00 node-1 kernel: oom", (TEN, "", "node-1", "kernel", "oom")),
        (
            "Mar  1 10:00:00.123000 node-1.example kubenswrapper[2]: I0301 10:00:00.1 2 a.go:1] b",
            (TEN + MILLIS, "info", "node-1.example", "kubenswrapper", "a.go:1] b"),
        ),
        (
            "node-1 Mar 01 10:00:00.123 node-1 crio[9]: msg",
            (TEN + MILLIS, "", "node-1", "crio", "msg"),
        ),
        (
            "2026-03-01T10:00:00+0000 node-1 crio[9]: level=warning msg=x",
            (TEN, "warning", "node-1", "crio", "level=warning msg=x"),
        ),
        ('2026-03-01T10:00:00Z {"level":"warn","msg":"x"}', None),
        (
            "Dec 31 10:00:00 n kernel: x",
            (datetime(2025, 12, 31, 10, tzinfo=UTC), "", "n", "kernel", "x"),
        ),
        ("-- Logs begin at Mon --", (None, "", "", "", "-- Logs begin at Mon --")),
        ("one Two 12 three", (None, "", "", "", "one Two 12 three")),
        ("Mar 32 10:00:00 n k: x", (None, "", "n", "k", "x")),
        ("2026-02-30T10:00:00Z x", (None, "", "", "", "x")),
        ("0001-01-01T00:00:00+14:00 x", (None, "", "", "", "x")),
        ("", (None, "", "", "", "")),
    ],
)
def test_a_line_tells_its_time_level_node_and_service(
    raw: str, expected: tuple[object, ...] | None
) -> None:
    line = parse_line(raw, GATHERED)
    if expected is None:
        assert (line.time, line.level) == (TEN, "warning")
    else:
        assert tuple(line) == expected


def test_without_a_time_of_gathering_lines_without_a_year_have_no_time() -> None:
    line = parse_line("Mar 01 10:00:00 n crio[1]: x")
    assert (line.time, line.node, line.text) == (None, "n", "x")


@given(st.text(max_size=300))
def test_any_line_can_be_parsed(raw: str) -> None:
    assert parse_line(raw, GATHERED).level in {"", "debug", "info", "warning", "error", "fatal"}
