"""Lines of logs in each of their formats, durations, and what they are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag import classes
from tinyhost_plugins.etcd_diag.durations import milliseconds, within
from tinyhost_plugins.etcd_diag.figures import Durations
from tinyhost_plugins.etcd_diag.lines import parse, stamp

JSON = '{"level":"warn","ts":"2024-01-31T16:54:41.675+0800","msg":"slow fdatasync","took":"1.5s"}'


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        *(("123.4ms", 123.4), ("1.2s", 1200.0), ("1m2.5s", 62500.0), ("2h", 7_200_000.0)),
        *(("68.016µs", 0.068016), ("15us", 0.015), ("900ns", 0.0009), (0.25, 250.0), (3, 3000.0)),
        *(("now", None), ("", None), ("12", None), ("ms", None), (None, None), (True, None)),
        *((-1, None), ("1.2s later", None), ([], None)),
    ],
)
def test_durations_of_go_are_read(text: object, ms: float | None) -> None:
    found = milliseconds(text)
    assert found == (None if ms is None else pytest.approx(ms))


@pytest.mark.parametrize(
    ("line", "ms"),
    [
        ("apply request took too long (123ms)", 123.0),
        ("(1.5s) and (2s)", 1500.0),
        ("finished scheduled compaction at 7 (took 13.540866ms)", 13.540866),
        ("wal: sync duration of 1.2s, expected less than 1s", 1200.0),
        ("apply entries took too long [104.2239ms for 1 entries]", 104.2239),
        ("no time at all (12 apples)", None),
        ("version (3.4.23s)", None),
    ],
)
def test_durations_within_text_are_found(line: str, ms: float | None) -> None:
    found = within(line)
    assert found == (None if ms is None else pytest.approx(ms))


@pytest.mark.parametrize(
    ("raw", "time", "level", "ms"),
    [
        (JSON, "2024-01-31T08:54:41.675Z", "warn", 1500.0),
        ("2026-05-01T10:00:00.123456789Z " + JSON, "2026-05-01T10:00:00.123Z", "warn", 1500.0),
        (
            '{"level":"warn","ts":1568166948.25,"msg":"x","took":0.1}',
            "2019-09-11T01:55:48.250Z",
            "warn",
            100.0,
        ),
        ("Jan 10 07:55:33 host etcd[8]: " + JSON, "2024-01-31T08:54:41.675Z", "warn", 1500.0),
        (
            "2019-06-25 08:47:33.191089 W | etcdserver: request took too long (150ms) to execute",
            *("2019-06-25T08:47:33.191Z", "warn", 150.0),
        ),
        (
            "2026-05-01T10:00:00Z 2019-06-25 08:47:33.191089 E | rafthttp: failed to dial x",
            *("2026-05-01T10:00:00.000Z", "error", None),
        ),
        (
            "I0501 10:00:00.250000       1 main.go:7] hello (5ms)",
            "2025-05-01T10:00:00.250Z",
            "info",
            5.0,
        ),
        ("plain text", "(no time)", "", None),
        ('{"level":"warn", cut', "(no time)", "", None),
        ("2026-99-99T10:00:00Z text", "(no time)", "", None),
    ],
)
def test_each_format_is_read(raw: str, time: str, level: str, ms: float | None) -> None:
    line = parse(raw, 2025)
    assert (stamp(line.time), line.level) == (time, level)
    assert line.ms == (None if ms is None else pytest.approx(ms))


@given(st.text(max_size=200))
def test_any_line_can_be_read(raw: str) -> None:
    for start in ("", '{"', "2026-05-01T10:00:00Z ", "E0501 10:00:00.25 ", '{"msg":"'):
        line = parse(start + raw, 2025)
        assert isinstance(stamp(line.time), str)
        assert isinstance(classes.classify(line), tuple)


def about(text: str, level: str = "warn", caller: str = "") -> tuple[str, ...]:
    raw = f'{{"level":"{level}","caller":"{caller}","msg":"{text}"}}'
    return classes.classify(parse(raw, 2025))


@pytest.mark.parametrize(
    ("text", "level", "expected"),
    [
        ("apply request took too long", "warn", (classes.SLOW_APPLY,)),
        ("slow fdatasync", "warn", (classes.SLOW_FSYNC,)),
        ("raft.node: a elected leader b at term 3", "info", (classes.LEADER,)),
        ("raft.node: a lost leader b at term 3", "info", (classes.LEADER,)),
        ("a became leader at term 3", "info", (classes.LEADER,)),
        ("finished scheduled compaction", "info", (classes.COMPACTION,)),
        ("compaction finished", "info", (classes.COMPACTION,)),
        ("defragmented", "info", (classes.DEFRAG,)),
        ("finished defragmenting directory", "info", (classes.DEFRAG,)),
        ("defragmenting", "info", ()),
        ("leader failed to send out heartbeat on time; took too long", "warn", (classes.OVERLOAD,)),
        ("failed to send message", "warn", (classes.NETWORK,)),
        ("peer 3 is unreachable", "warn", (classes.NETWORK,)),
        ("prober detected unhealthy status", "warn", (classes.NETWORK,)),
        ("etcdserver: mvcc: database space exceeded", "warn", (classes.STORAGE,)),
        ("alarm raised", "warn", (classes.STORAGE,)),
        ("data corruption detected", "error", (classes.STORAGE,)),
        ("initial corruption checking passed; no corruption", "info", ()),
        ("mvcc: required revision has been compacted", "warn", (classes.COMPACTED,)),
        ("auth: authentication failed", "warn", (classes.AUTH,)),
        ("permission denied", "warn", (classes.AUTH,)),
        ("raft: tick failed", "warn", (classes.RAFT,)),
        ("something else broke", "error", (classes.OTHER,)),
        ("something else", "info", ()),
    ],
)
def test_lines_are_told_apart(text: str, level: str, expected: tuple[str, ...]) -> None:
    assert about(text, level) == expected


@pytest.mark.parametrize(
    "raw",
    [
        '{"level":"warn","msg":"rejected connection","remote-addr":"10.0.0.5:4","error":"EOF"}',
        '{"level":"warn","msg":"rejected connection on client endpoint","error":"EOF"}',
        '{"level":"warn","msg":"rejected connection on peer endpoint","error":"EOF"}',
        '2021-02-13 18:17:09.929096 I | embed: rejected connection from "10.0.0.5:4" (error "EOF",'
        ' ServerName "")',
    ],
)
def test_a_probe_that_hangs_up_is_no_trouble(raw: str) -> None:
    assert classes.classify(parse(raw, 2025)) == ()
    refused = raw.replace("EOF", "read: connection reset by peer")
    assert classes.classify(parse(refused, 2025)) == (classes.NETWORK,)


def test_an_error_of_raft_is_known_by_its_caller() -> None:
    for caller in ("raft/raft.go:1", "etcdserver/zap_raft.go:101"):
        assert about("unexpected", "panic", caller) == (classes.RAFT,)
        assert about("a became follower at term 2", "info", caller) == ()


def test_what_a_line_quotes_of_a_request_does_not_count() -> None:
    raw = '{"level":"warn","msg":"apply request took too long","request":"key:auth-failed"}'
    assert classes.classify(parse(raw, 2025)) == (classes.SLOW_APPLY,)


@pytest.mark.parametrize("end", ['"', "", "\\"])
def test_nor_does_what_a_line_of_text_quotes(end: str) -> None:
    quoted = r'"key:\"/registry/oauth/failed (9s)\" \"authentication error'
    raw = (
        f"2021-03-01 10:00:00.000000 W | etcdserver: took too long (150ms) to execute {quoted}{end}"
    )
    line = parse(raw, 2025)
    assert classes.classify(line) == (classes.SLOW_APPLY,)
    assert line.ms == 150.0
    before = raw.replace("took too long (150ms) to execute ", "request ") + " took too long (2s) to"
    assert end != '"' or parse(before, 2025).ms == 2000.0


def test_a_line_of_quotes_takes_no_time() -> None:
    for quotes in ('\\"' * 30_000, '"' * 60_001):
        line = parse(f"2021-03-01 10:00:00.000000 W | a: took too long {quotes}", 2025)
        assert (line.level, line.text[:16]) == ("warn", "a: took too long")


@pytest.mark.parametrize("name", classes._RULES)
def test_every_rule_has_a_text_that_finds_its_lines(name: str) -> None:
    for row in classes._RULES[name]:
        line = " ... ".join(row).encode()
        assert any(needle in line for needle in classes.NEEDLES), row


@pytest.mark.parametrize("level", classes._BAD)
def test_every_level_of_errors_has_a_text_that_finds_its_lines(level: str) -> None:
    line = f'{{"level":"{level}","msg":"odd"}}'
    assert classes.classify(parse(line, 2025)) == (classes.OTHER,)
    assert any(needle in line.encode() for needle in classes.NEEDLES)


@given(st.lists(st.floats(0.001, 1e6), max_size=50))
def test_figures_are_those_of_the_sorted_values(values: list[float]) -> None:
    figures = Durations()
    for value in values:
        figures.add(value)
    ordered = sorted(values)
    if not ordered:
        assert (figures.count, figures.median(), figures.average(), figures.percentile(99)) == (
            *(0, 0, 0, 0),
        )
        return
    assert (figures.least, figures.greatest) == (ordered[0], ordered[-1])
    assert figures.median() == pytest.approx(
        (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    )
    assert figures.average() == pytest.approx(sum(values) / len(values))
    assert figures.percentile(100) == ordered[-1]
