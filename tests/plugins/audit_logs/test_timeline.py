"""audit_timeline: events by hour and minute."""

from __future__ import annotations

from typing import Any

from tinyhost_plugins.audit_logs.timeline import spikes


def test_by_hour(ask: Any, seven: Any) -> None:
    content = ask("audit_timeline").content
    assert content.startswith("7 events in 2 hours (UTC)\n")
    assert "2026-01-02 10:00       4  " + "#" * 50 in content
    assert "2026-01-02 11:00       3  " + "#" * 38 + "\n" in content
    assert "average 3.5 per hour, most 4 at 2026-01-02 10:00" in content
    assert "no spikes\n" in content
    assert "more row" not in content
    assert content == ask("audit_timeline", max=0, interval="").content


def test_by_minute_with_the_empty_time_between(ask: Any, seven: Any) -> None:
    content = ask("audit_timeline", interval="minute").content
    assert content.startswith("7 events in 4 minutes (UTC)\n")
    shown = [line[:16] for line in content.splitlines() if "#" in line]
    assert shown == [f"2026-01-02 {at}" for at in ("10:00", "10:01", "10:10", "11:00")]
    assert "... 8 minutes without events" in content
    assert "... 49 minutes without events" in content


def test_filters_apply(ask: Any, seven: Any) -> None:
    assert ask("audit_timeline", verb="delete").content.startswith(
        "2 events that match verb=delete in 2 hours (UTC)\n"
    )


def test_a_spike_is_marked_and_named_above(ask: Any, gather: Any, event: Any) -> None:
    hours = [8, 9, 10, 10, 10, 10, 11]
    gather.add([event(at=f"2026-01-02T{hour:02}:00:00Z") for hour in hours])
    content = ask("audit_timeline").content
    assert "1 spike, over 3 x the others' average: 2026-01-02 10:00 (4)" in content
    assert [line[:16] for line in content.splitlines() if "<-- SPIKE" in line] == [
        "2026-01-02 10:00"
    ]


def test_a_spike_is_compared_with_the_others_and_not_with_itself() -> None:
    assert spikes([("a", 4), ("b", 1)]) == [("a", 4)]
    assert spikes([("a", 3), ("b", 1)]) == []
    assert spikes([("a", 10), ("b", 3), ("c", 3), ("d", 4)]) == []
    assert spikes([("a", 11), ("b", 3), ("c", 3), ("d", 4)]) == [("a", 11)]
    assert spikes([("a", 1000)]) == []


def test_one_interval_alone_is_said_to_be_no_comparison(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event()])
    assert "one hour alone cannot be compared" in ask("audit_timeline").content


def test_other_zones_are_put_into_utc(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(at="2026-01-02T10:30:00.5+05:30"), event(at="2026-01-02T05:00:00Z")])
    content = ask("audit_timeline").content
    assert content.startswith("2 events in 1 hour (UTC)\n")
    assert "2026-01-02 05:00       2" in content


def test_times_that_cannot_be_read_are_counted_and_said(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(at="yesterday"), event(at=""), event(at="2026-13-45T10:00:00Z")])
    content = ask("audit_timeline").content
    assert content.startswith("3 events in 0 hours (UTC)\n")
    assert "3 events without a time that can be read" in content


def test_more_intervals_than_are_shown_are_said_and_a_spike_among_them_is_named(
    ask: Any, gather: Any, event: Any
) -> None:
    at = [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 21)] + ["2026-01-20T00:10:00Z"] * 20
    gather.add([event(at=one) for one in at])
    content = ask("audit_timeline", max=5).content
    assert "15 more rows; give since or until, max, or interval=hour" in content
    assert "1 spike, over 3 x the others' average: 2026-01-20 00:00 (21)" in content
    assert content.count("#") < 50


def test_intervals_beyond_the_limit_are_said(ask: Any, gather: Any, event: Any) -> None:
    at = (f"2026-01-02T{n // 60:02}:{n % 60:02}:00Z" for n in range(1100))
    gather.add([event(at=one) for one in at])
    content = ask("audit_timeline", {"maxKeys": 1000}, interval="minute", max=1).content
    assert content.startswith("1,100 events in 1000 minutes".replace("1000", "1,000"))
    assert "100 events in still other intervals" in content


def test_a_huge_time_span_is_one_line(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(at="0001-01-01T00:00:00Z"), event(at="9999-12-31T23:59:59Z")])
    content = ask("audit_timeline", interval="minute").content
    assert len(content) < 1000
    assert "without events" in content
