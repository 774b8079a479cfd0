"""Asking a running etcd: a real one, one that is not there, and programs that misbehave."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import pytest

from tinyhost_plugins.etcd_diag.plugin import build
from tinyhost_sdk import testing
from tinyhost_sdk.tool import ToolResult

from .conftest import Etcd, eventually, running_etcd, unused_ports


def live(**options: object) -> ToolResult:
    with testing.drive(build(), options) as driver:
        return driver.call_tool("etcd_diag_live", {})


def program(folder: Path, body: str) -> str:
    """A program that stands in for etcdctl."""
    path = folder / "etcdctl"
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_running_etcd_is_described(etcd: Etcd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCDCTL_ENDPOINTS", etcd.endpoint)
    # etcdctl refuses what is set both ways.
    monkeypatch.setenv("ETCDCTL_WRITE_OUT", "table")
    monkeypatch.setenv("ETCDCTL_COMMAND_TIMEOUT", "1s")
    result = eventually(live, lambda found: found.content.startswith("overall: OK\n"))
    assert not result.is_error
    lines = result.content.splitlines()
    assert lines[0] == "overall: OK"
    assert {"[OK] alarms: none", "[OK] endpoints: all 1 healthy"} < set(lines)
    assert re.search(rf"{re.escape(etcd.endpoint)} +m0 +3\.4\.\d+ .* leader ", result.content)


def test_an_alarm_of_a_full_database_is_critical(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It knows its size when it has written; with this limit, after each change.
    options = ("--quota-backend-bytes", "65536", "--backend-batch-limit", "1")
    with running_etcd(tmp_path, *options) as etcd:
        monkeypatch.setenv("ETCDCTL_ENDPOINTS", etcd.endpoint)
        with pytest.raises(AssertionError, match="database space exceeded"):
            for number in range(100):
                etcd.put(f"/registry/pods/a/{number}", b"x" * 10_000)
        result = eventually(live, lambda found: "NOSPACE" in found.content)
        lines = result.content.splitlines()
        etcd.save(tmp_path / "full.db")
    assert lines[0] == "overall: CRITICAL"
    assert any(re.fullmatch(r"\[CRITICAL\] alarms: NOSPACE on [0-9a-f]+", line) for line in lines)
    with testing.drive(build()) as driver:
        text = driver.call_tool("etcd_snapshot_open", {"path": str(tmp_path / "full.db")}).content
    assert re.search(r"^alarm: NOSPACE on [0-9a-f]+$", text, re.MULTILINE)


def test_an_etcd_that_is_not_there_is_an_error_that_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with unused_ports(1) as (port,):
        monkeypatch.setenv("ETCDCTL_ENDPOINTS", f"http://127.0.0.1:{port}")
        result = live()
    assert result.is_error
    assert "ETCDCTL_ENDPOINTS" in result.content


def test_without_etcdctl_one_line_says_so() -> None:
    result = live(etcdctl="no-such-etcdctl")
    assert result.is_error
    assert result.content.startswith("no-such-etcdctl is not installed or not on PATH")
    assert "\n" not in result.content


def test_what_is_answered_counts_although_other_questions_fail(tmp_path: Path) -> None:
    body = """
if "alarm" in sys.argv:
    print('{"alarms":[]}')
else:
    print('{"level":"warn"}', file=sys.stderr)
    sys.exit("Error: \\x1b[1mdeadline exceeded")
"""
    result = live(etcdctl=program(tmp_path, body))
    assert not result.is_error
    assert result.content.startswith("overall: WARN")
    assert "[WARN] etcdctl member list: Error: \\x1b[1mdeadline exceeded" in result.content
    assert "[OK] alarms: none" in result.content


def test_an_older_etcdctl_is_told_to_speak_version_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ETCDCTL_API", "2")
    body = """
import os
if os.environ["ETCDCTL_API"] != "3":
    sys.exit("Error: no such command")
print('{"alarms":[]}')
"""
    result = live(etcdctl=program(tmp_path, body))
    assert "[OK] alarms: none" in result.content
    assert "no such command" not in result.content


def test_a_call_that_is_cancelled_ends_the_program(tmp_path: Path) -> None:
    body = f"""
import os, pathlib, time
pathlib.Path({str(tmp_path / "pid")!r}).write_text(str(os.getpid()))
time.sleep(60)
"""
    with testing.drive(build(), {"etcdctl": program(tmp_path, body)}) as driver:
        driver.on_progress = lambda _: driver.cancel()
        result = driver.call_tool("etcd_diag_live", {})
    assert result.is_error
    assert "cancelled" in result.content
