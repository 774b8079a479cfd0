"""A pass over the logs: what counts, and what a report says about the rest."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.audit_logs import scan as scans
from tinyhost_plugins.audit_logs.files import LogFile, find
from tinyhost_plugins.audit_logs.filters import Query
from tinyhost_plugins.audit_logs.options import Options
from tinyhost_plugins.audit_logs.plugin import build
from tinyhost_plugins.audit_logs.scan import Scan
from tinyhost_sdk import HandlerError, ToolContext, testing


def line(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode() + b"\n"


def read(path: Path, **options: Any) -> tuple[int, Scan]:
    scan = Scan(find(str(path), "", ()), Query({}), Options(**options), ToolContext())
    return sum(len(events) for _, events in scan), scan


def test_a_request_counts_once_whatever_the_number_of_its_stages(
    ask: Any, gather: Any, event: Any
) -> None:
    gather.add(
        [
            event(stage="RequestReceived", code=0),
            event(stage="ResponseStarted"),
            event(stage="ResponseComplete"),
            event(stage="Panic", code=500),
            {key: value for key, value in event().items() if key != "stage"},
        ]
    )
    content = ask("audit_top", by="user").content
    assert ", in 3 events\n" in content
    assert "2 events of earlier stages left out, so that a request counts once" in content
    content = ask("audit_top", by="user", all_stages=True).content
    assert ", in 5 events\n" in content
    assert "earlier stages" not in content


@pytest.mark.parametrize("by", ["user", "source_ip"])
def test_null_is_the_same_as_nothing(ask: Any, gather: Any, event: Any, by: str) -> None:
    fields = ("user", "objectRef", "responseStatus", "sourceIPs", "annotations", "stage", "verb")
    whole = event()
    assert {"user", "objectRef", "responseStatus"} <= whole.keys()
    gather.add([{**whole, name: None} for name in fields])
    gather.add([{**whole, "user": {**whole["user"], "groups": None}}], name="b-audit.log")
    content = ask("audit_top", by=by).content
    # What has no verb is none.
    assert ", in 7 events\n" in content
    assert "1 line left out, not being audit events" in content


def test_plain_and_packed_logs_of_all_areas_are_read(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event()] * 3)
    gather.add([event()] * 2, name="master-1-audit.log.gz")
    gather.add([event()], area="oauth-apiserver", name="master-1-audit.log.gz")
    # As some gatherers leave them: the ending says one thing, the content another.
    gather.add(gzip.compress(line(event())), area="oauth-server")
    content = ask("audit_top", by="user").content
    assert ", in 7 events\n" in content
    assert (
        "Read 4 logs of 2 nodes; events: kube-apiserver 5, oauth-apiserver 1, oauth-server 1."
        in content
    )
    assert "area=kube-apiserver counts it once" in content
    content = ask("audit_top", by="user", area="kube-apiserver").content
    assert ", in 5 events\n" in content
    assert "counts it once" not in content


def test_text_before_an_event_is_dropped(ask: Any, gather: Any, event: Any) -> None:
    gather.add(b"master-0.example.com " + line(event()) + b"\r\n\n" + line(event("bob")))
    content = ask("audit_top", by="user").content
    assert ", in 2 events\n" in content
    assert "left out" not in content


def test_lines_that_are_no_events_are_counted_and_said(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event()], name="a-audit.log")
    gather.add(
        b"".join(
            [
                line(event()),
                b"I0102 10:00:00.000000 1 server.go:1] Starting\n",
                b'{"level":"info","msg":"established"}\n',
                b'{"verb": 7}\n',
                b'{"verb":"get", "user": \n',
                b'{"verb":"\xff"}\n',
                b"[1]\n",
                b'{"deep":' + b"[" * 90_000 + b"]" * 90_000 + b"}\n",
                bytes(50) + b"\n",
                line(event()).rstrip(),
            ]
        ),
        name="b-audit.log",
    )
    content = ask("audit_top", by="user").content
    assert ", in 3 events\n" in content
    assert (
        "8 lines left out, not being audit events; the first in kube-apiserver/b-audit.log."
        in content
    )


def test_early_events_and_other_lines_are_told_apart(ask: Any, gather: Any, event: Any) -> None:
    log = [line(event(stage="RequestReceived"))] * 3 + [b'{"level":"info"}\n'] * 2
    gather.add(b"".join([*log, line(event())]), name="a-audit.log")
    gather.add(b"no event\n", name="b-audit.log")
    content = ask("audit_top", by="user").content
    assert ", in 1 event\n" in content
    assert "3 events of earlier stages left out" in content
    assert "3 lines left out, not being audit events; the first in kube-apiserver/a-" in content


def test_a_line_that_is_too_long_is_left_out_and_said(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(), event(userAgent="x" * 900_000), event()])
    content = ask("audit_top", {"maxLineBytes": 65536}, by="user").content
    assert ", in 2 events\n" in content
    assert "1 line left out as too long; the plugin's option maxLineBytes" in content
    assert ", in 3 events\n" in ask("audit_top", by="user").content


def test_a_damaged_log_is_read_up_to_the_damage_and_the_others_whole(
    ask: Any, gather: Any, event: Any
) -> None:
    cut = gather.add([event()] * 500, name="a-audit.log.gz")
    cut.write_bytes(cut.read_bytes()[:-9])
    gather.add([event("bob")] * 7, name="b-audit.log.gz")
    gather.add(b"\x1f\x8bno gzip at all", name="c-audit.log")
    answer = ask("audit_top", by="user")
    assert not answer.is_error
    assert "7   1.4  bob" in answer.content
    assert answer.content.splitlines()[2].startswith(
        "INCOMPLETE, read up to the damage: kube-apiserver/a-audit.log.gz: it ends in the middle,"
        " kube-apiserver/c-audit.log: it is damaged ("
    )


def test_a_log_that_went_away_is_said_and_all_of_them_are_an_error(gather: Any, event: Any) -> None:
    here = gather.add([event()])
    gone = LogFile(str(gather.root / "gone"), "kube-apiserver/gone", "kube-apiserver", "", 0)
    files = [gone, *find(str(here), "", ())]
    scan = Scan(files, Query({}), Options(), ToolContext())
    assert [len(events) for _, events in scan] == [1]
    assert scan.tally.unread == [("kube-apiserver/gone", "No such file or directory")]
    with pytest.raises(HandlerError, match="none of 1 logs can be read; kube-apiserver/gone: No"):
        list(Scan([gone], Query({}), Options(), ToolContext()))


def test_a_link_that_took_the_place_of_a_log_is_not_followed(gather: Any, event: Any) -> None:
    real = gather.add([event()], name="a-audit.log")
    link = gather.add([event()], name="b-audit.log")
    files = find(str(gather.root), "", ())
    link.unlink()
    link.symlink_to(real)
    scan = Scan(files, Query({}), Options(), ToolContext())
    assert sum(len(events) for _, events in scan) == 1
    assert [label for label, _ in scan.tally.unread] == ["kube-apiserver/b-audit.log"]


def test_a_pipe_that_took_the_place_of_a_log_is_not_waited_for(gather: Any, event: Any) -> None:
    gather.add([event()], name="a-audit.log")
    pipe = gather.add([event()], name="b-audit.log")
    files = find(str(gather.root), "", ())
    pipe.unlink()
    os.mkfifo(pipe)
    scan = Scan(files, Query({}), Options(), ToolContext())
    assert sum(len(events) for _, events in scan) == 1
    assert scan.tally.unread == [("kube-apiserver/b-audit.log", "it is not a file")]


def test_when_time_runs_out_the_report_says_how_far_it_came(gather: Any, event: Any) -> None:
    gather.add([event()])
    gather.add([event()], area="oauth-apiserver")
    count, scan = read(gather.root, max_seconds=-1)
    assert (count, scan.tally.stopped) == (0, 0)
    text = scans_report(scan)
    assert "INCOMPLETE, time ran out in log 1 of 2" in text
    assert "\nRead 1 of 2 logs of 1 node; events: none." in text
    assert "maxSeconds" in text


def scans_report(scan: Scan) -> str:
    from tinyhost_plugins.audit_logs import report

    return report.nothing(scan, "")


def test_progress_is_told_and_a_cancelled_call_ends(
    gather: Any, event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans, "_PROGRESS_EVERY", 0.0)
    monkeypatch.setattr(scans, "_MIB", 1024)
    gather.add(b"\n" * 300 * 1024, name="a-audit.log")
    gather.add(b"\n" * 20 * 1024, name="b-audit.log")
    args = {"path": str(gather.root), "by": "user"}
    with testing.drive(build()) as driver:
        assert not driver.call_tool("audit_top", args).is_error
        assert driver.progress == [
            "reading log 1 of 2, 256 of 320 MiB are done",
            "reading log 1 of 2, 300 of 320 MiB are done",
            "reading log 2 of 2, 320 of 320 MiB are done",
        ]
        driver.on_progress = lambda _: driver.cancel()
        answer = driver.call_tool("audit_top", args)
    assert (answer.content, answer.is_error) == ("cancelled", True)


def test_a_large_log_takes_little_memory(gather: Any, event: Any) -> None:
    file = gather.add(b"")
    one = line(event()) * 2000
    with file.open("wb") as log:
        for _ in range(40):
            log.write(one)
    assert file.stat().st_size > 40_000_000
    tracemalloc.start()
    try:
        count, _ = read(gather.root)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 80_000
    assert peak < 6 * 1024 * 1024


@given(st.lists(st.binary(max_size=80).map(lambda data: data.replace(b"\n", b""))))
def test_whatever_a_log_holds_events_are_found(
    tmp_path_factory: pytest.TempPathFactory, junk: list[bytes]
) -> None:
    file = tmp_path_factory.mktemp("log") / "audit.log"
    good = b'{"verb":"get","stage":"ResponseComplete","user":{"username":"alice"}}\n'
    # What begins like a packed log is one.
    file.write_bytes(b"\n" + b"".join(good + text + b"\n" for text in junk) + good)
    count, scan = read(file)
    assert count == len(junk) + 1
    assert scan.tally.other <= len(junk)


def test_time_runs_out_in_a_log_without_lines_as_well(gather: Any) -> None:
    gather.add(bytes(1_000_000), name="a-audit.log.gz")
    count, scan = read(gather.root, max_seconds=-1)
    assert (count, scan.tally.stopped, scan.tally.other) == (0, 0, 0)
