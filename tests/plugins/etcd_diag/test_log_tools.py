"""The tools for logs, on must-gather folders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tinyhost_sdk import testing

from .conftest import running_etcd
from .gathers import (
    ask,
    compaction,
    elected,
    entry,
    row,
    slow_apply,
    slow_fsync,
    stamped,
    write_info,
    write_log,
)


def test_stats_tell_how_often_and_how_long(driver: testing.Driver, gather: Path) -> None:
    text = ask(driver, "stats", gather)
    assert text.splitlines()[0] == ("5 slow applies, 3 slow fsyncs, 1 compaction; times in ms")
    assert row(text, "slow_apply") == [
        *("slow_apply", "5", "5", "100.0", "200.0", "450.0", "1500", "1500"),
    ]
    assert row(text, "slow_fsync")[1:5] == ["3", "3", "1200", "2000"]
    assert row(text, "compaction")[3] == "12.5"
    assert "slowest applies:\n2026-05-01T10:03:00.123Z [etcd-m0] warn apply" in text
    assert "read: 3 log files of 3 pods, 15 lines" in text
    assert "2026-05-01T10:00:00.123Z to 2026-05-01T10:06:00.123Z" in text


def test_errors_come_by_category_and_none_hides_another(
    driver: testing.Driver, gather: Path
) -> None:
    write_log(gather, "etcd-m2", stamped(*[entry("error", f"odd {n}") for n in range(30)], day=2))
    text = ask(driver, "errors", gather, max=4)
    assert text.splitlines()[0] == "32 errors (auth 1, network 1, other 30); the newest 4 are shown"
    assert "Auth: 1\n        1 x rejected connection remote error: tls: bad certificate" in text
    assert "Network: 1\n        1 x prober detected unhealthy status dial tcp: refused" in text
    assert "Other: 30\n       30 x odd N" in text
    assert "[etcd-m2] error odd 29" in text
    assert "odd 27" not in text
    assert '28 older lines are not shown (limit 4); raise "max"' in text


def test_no_errors_are_called_none(driver: testing.Driver, tmp_path: Path) -> None:
    write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")))
    assert ask(driver, "errors", tmp_path).splitlines()[0] == "no errors"


def test_a_timeline_is_in_order_over_pods_and_over_the_new_year(
    driver: testing.Driver, tmp_path: Path
) -> None:
    before = "2025-12-31T23:59:59.5Z " + elected(1) + "\n"
    write_log(tmp_path, "etcd-m1", before)
    write_log(tmp_path, "etcd-m0", "2026-01-01T00:00:00Z " + slow_fsync("2s") + "\n")
    write_log(tmp_path, "etcd-m2", "2026-01-01T00:00:01+01:00 " + compaction("2ms") + "\n")
    lines = ask(driver, "timeline", tmp_path).splitlines()
    assert lines[0] == "3 events: leader_election 1, compaction 1, slow_fsync 1"
    assert [line.split()[:3] for line in lines[2:5]] == [
        ["2025-12-31T23:00:01.000Z", "compaction", "etcd-m2"],
        ["2025-12-31T23:59:59.500Z", "leader_election", "etcd-m1"],
        ["2026-01-01T00:00:00.000Z", "slow_fsync", "etcd-m0"],
    ]


def test_a_full_timeline_keeps_the_rare_events(driver: testing.Driver, tmp_path: Path) -> None:
    lines = [slow_apply(f"{100 + n}ms") for n in range(200)]
    lines.insert(10, elected(9))
    write_log(tmp_path, "etcd-m0", stamped(*lines))
    text = ask(driver, "timeline", tmp_path, max=5)
    assert "elected leader" in text
    assert "took=299ms" in text
    assert text.count("slow_apply   ") == 4
    assert "196 events are not shown" in text
    only = ask(driver, "timeline", tmp_path, **{"class": "leader_election"})
    assert only.splitlines()[0] == "1 event: leader_election 1"


def test_pods_are_compared_and_outliers_named(driver: testing.Driver, gather: Path) -> None:
    text = ask(driver, "compare", gather)
    assert row(text, "etcd-m0")[1:5] == ["4", "1", "1", "1"]
    assert row(text, "etcd-m1")[1:6] == ["1", "2", "1", "0", "1"]
    assert "outlier: etcd-m0 has 4 SLOW_APPLY, the mean is 1.7" in text
    assert "outlier: etcd-m0 has 1 COMPACT, the mean is 0.3" in text
    maxima = text[text.index("MAX APPLY MS") :]
    assert row(maxima, "etcd-m1") == ["etcd-m1", "300.0", "61500", "-"]


def test_one_pod_has_no_outlier(driver: testing.Driver, tmp_path: Path) -> None:
    write_log(tmp_path, "etcd-m0", stamped(slow_apply("1s")))
    assert ask(driver, "compare", tmp_path).startswith("1 pod, 0 outliers")


def test_health_rates_each_dimension(driver: testing.Driver, gather: Path) -> None:
    text = ask(driver, "health", gather)
    assert text.splitlines()[0] == "overall: OK"
    # Three members tell of one election.
    assert "[OK] leader changes: 1" in text


@pytest.mark.parametrize(
    ("lines", "overall", "dimension"),
    [
        ([slow_apply("1s")] * 15, "WARN", "[WARN] slow applies: 15"),
        ([slow_apply("1s")] * 10, "OK", "[OK] slow applies: 10"),
        ([slow_fsync("1s")] * 101, "CRITICAL", "[CRITICAL] slow fsyncs: 101"),
        ([elected(n) for n in range(4)], "WARN", "[WARN] leader changes: 4"),
        ([elected(n) for n in range(11)], "CRITICAL", "[CRITICAL] leader changes: 11"),
        ([entry("warn", "failed to dial")] * 6, "WARN", "[WARN] network errors: 6"),
        (
            [entry("warn", "mvcc: database space exceeded")],
            "CRITICAL",
            "[CRITICAL] storage errors: 1",
        ),
        (
            [entry("warn", "mvcc: required revision has been compacted")] * 9,
            "OK",
            "storage errors: 0",
        ),
    ],
)
def test_health_has_thresholds(
    driver: testing.Driver, tmp_path: Path, lines: list[str], overall: str, dimension: str
) -> None:
    write_log(tmp_path, "etcd-m0", stamped(*lines))
    text = ask(driver, "health", tmp_path)
    assert text.startswith(f"overall: {overall}")
    assert dimension in text


def test_health_reads_what_etcd_said_of_itself(driver: testing.Driver, gather: Path) -> None:
    write_info(gather, "alarm_list.json", {"alarms": [{"memberID": 255, "alarm": 1}]})
    write_info(
        gather,
        "endpoint_health.json",
        [
            {"endpoint": "https://10.0.0.1:2379", "health": True, "took": "5ms"},
            {"endpoint": "https://10.0.0.2:2379", "health": True, "took": "5ms"},
            {"endpoint": "https://10.0.0.3:2379", "health": False, "error": "context deadline"},
        ],
    )
    gib = 1024**3
    status = [
        {
            "Endpoint": f"https://10.0.0.{n}:2379",
            "Status": {
                "header": {"member_id": n},
                "version": "3.5.9",
                "dbSize": n * gib,
                "dbSizeInUse": gib // 2,
                "leader": 2,
                "raftTerm": 7,
                "raftIndex": 5000 * n,
            },
        }
        for n in (1, 2)
    ]
    write_info(gather, "endpoint_status.json", status)
    members = [{"ID": 1, "name": "m-a"}, {"ID": 2, "name": "m-b"}, {"ID": 3}]
    write_info(gather, "member_list.json", {"members": members})
    write_info(gather, "object_count.json", {"events": 9000, "pods": 300})
    text = ask(driver, "health", gather)
    assert text.splitlines()[0] == "overall: CRITICAL (alarms)"
    for line in (
        "[CRITICAL] alarms: NOSPACE on ff",
        "[WARN] endpoints: 1 of 3 ill: https://10.0.0.3:2379: context deadline",
        "[OK] leader: 2",
        "[WARN] raft: the members are 5,000 entries apart",
        "[WARN] size: largest database 2.0 GiB, 75.0% of it free; defragment",
        "[WARN] members: 1 have not started yet",
    ):
        assert line in text.splitlines()
    assert re.search(
        r"10\.0\.0\.2:2379 +m-b +3\.5\.9 +2\.0 GiB +512\.0 MiB +leader +7 +10000", text
    )
    assert re.search(r"events +9000", text)


def test_members_that_do_not_agree_on_a_leader_are_critical(
    driver: testing.Driver, gather: Path
) -> None:
    for leaders, said in (((1, 2), "the members do not agree on one"), ((0, 0), "none")):
        status = [{"Endpoint": "e", "Status": {"leader": leader}} for leader in leaders]
        write_info(gather, "endpoint_status.json", status)
        assert f"[CRITICAL] leader: {said}" in ask(driver, "health", gather)


@pytest.mark.parametrize("value", ["", "[", "[1, null]", '{"members": 3}', '"x"', "[[]]"])
def test_odd_answers_of_etcd_are_passed_over(
    driver: testing.Driver, gather: Path, value: str
) -> None:
    for name in ("alarm_list", "endpoint_health", "endpoint_status", "member_list", "object_count"):
        write_info(gather, f"{name}.json", value)
    assert ask(driver, "health", gather).startswith("overall: OK")


def test_counts_of_objects_may_be_lines_of_text(driver: testing.Driver, gather: Path) -> None:
    write_info(gather, "etcd_object_count", "   4711 events\n     12 pods\nnoise\n")
    assert re.search(r"events +4711\npods +12", ask(driver, "health", gather))


def test_the_log_of_a_real_etcd_is_understood(driver: testing.Driver, tmp_path: Path) -> None:
    (tmp_path / "etcd").mkdir()
    with running_etcd(tmp_path / "etcd") as etcd:
        etcd.put("/registry/pods/a/b", b"1")
        etcd.compact(etcd.revision())
        etcd.etcdctl("defrag")
        log = etcd.log
    gather = tmp_path / "gather"
    write_log(gather, "etcd-m0", stamped(*log.splitlines(), step=1))
    first = ask(driver, "timeline", gather).splitlines()[0]
    # On a busy machine it may tell of slowness as well.
    assert {"leader_election 2", "compaction 1", "defragmentation 1"} <= set(
        first.split(": ", 1)[1].split(", ")
    )
    assert "[OK] leader changes: 1" in ask(driver, "health", gather)
    assert row(ask(driver, "stats", gather), "compaction")[1:3] == ["1", "1"]


def test_control_characters_of_a_log_are_escaped(driver: testing.Driver, tmp_path: Path) -> None:
    write_log(tmp_path, "etcd-m0", stamped("E | failed to send \x1b[31m red \x07"))
    text = ask(driver, "errors", tmp_path)
    assert "\\x1b[31m red" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("odd", [[], {}, [1], {"a": 1}, "x", None, 1.5, True, -1, 10**400])
def test_numbers_of_etcd_that_are_none_are_no_trouble(
    driver: testing.Driver, gather: Path, odd: object
) -> None:
    status = {"header": {"member_id": odd}, "leader": odd, "raftIndex": odd, "dbSize": odd}
    write_info(gather, "endpoint_status.json", [{"Endpoint": "e", "Status": status}])
    write_info(gather, "member_list.json", {"members": [{"ID": odd, "name": odd}]})
    write_info(gather, "alarm_list.json", {"alarms": [{"memberID": odd, "alarm": odd}]})
    assert ask(driver, "health", gather).startswith("overall: CRITICAL (alarms, leader)")


@pytest.mark.parametrize("odd", [{}, "x", None, 1.5, True, 7])
def test_urls_of_members_that_are_no_list_are_no_trouble(
    driver: testing.Driver, gather: Path, odd: object
) -> None:
    members = [{"ID": 255, "name": "m0", "clientURLs": odd}]
    write_info(gather, "member_list.json", {"members": members})
    assert row(ask(driver, "health", gather), "m0") == ["m0", "ff"]
