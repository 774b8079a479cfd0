"""audit_timeline: how many events there were in each hour or minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from .._shared.texts import counted
from . import report as texts
from .counts import Counts, listed
from .filters import Query
from .moments import utc
from .options import Options
from .scan import Scan
from .schemas import HOUR, MINUTE, TIMELINE_ROWS

_LENGTH = {HOUR: len("2026-01-02T10"), MINUTE: len("2026-01-02T10:00")}
_STEP = {HOUR: timedelta(hours=1), MINUTE: timedelta(minutes=1)}
_BAR = 50
_SPIKE = 3  # times the average of the other intervals

_Buckets = Sequence[tuple[str, int]]


def report(scan: Scan, query: Query, args: Mapping[str, Any], options: Options) -> str:
    """The tool's text."""
    interval = args.get("interval") or HOUR
    counts: Counts[str] = Counts(options.max_keys)
    without_time = 0
    length = _LENGTH[interval]
    for _, events in scan:
        for event in events:
            moment = utc(event.time)
            if moment:
                counts.add(moment[:length])
            else:
                without_time += 1
    buckets = counts.in_order()
    if not buckets and not without_time:
        return texts.nothing(scan, query.text)
    most = args.get("max", 0)
    rows = most if most > 0 else TIMELINE_ROWS
    first = (
        f"{texts.matching(counts.total + without_time, query.text)}"
        f" in {counted(len(buckets), interval)} (UTC)"
    )
    lines = [*_lines(buckets, interval, rows), *_left_out(counts.others, without_time)]
    return texts.text(first, scan, _summary(buckets, interval), lines)


def _summary(buckets: _Buckets, interval: str) -> list[str]:
    if not buckets:
        return []
    biggest, most = max(buckets, key=lambda bucket: bucket[1])
    total = sum(count for _, count in buckets)
    lines = [
        f"average {total / len(buckets):,.1f} per {interval},"
        f" most {most:,} at {_shown(biggest)}; intervals without events do not count"
    ]
    found = sorted(spikes(buckets), key=lambda bucket: (-bucket[1], bucket[0]))
    if found:
        names = listed([f"{_shown(key)} ({count:,})" for key, count in found])
        lines.append(
            f"{counted(len(found), 'spike')}, over {_SPIKE} x the others' average: {names}"
        )
    elif len(buckets) == 1:
        lines.append(f"one {interval} alone cannot be compared, so no spike can be seen")
    else:
        lines.append("no spikes")
    return lines


def spikes(buckets: _Buckets) -> list[tuple[str, int]]:
    """Those that have more than three times the average of all others."""
    total = sum(count for _, count in buckets)
    others = len(buckets) - 1
    return [
        (key, count)
        for key, count in buckets
        if others and count * others > _SPIKE * (total - count)
    ]


def _lines(buckets: _Buckets, interval: str, most: int) -> list[str]:
    if not buckets:
        return []
    highest = max(count for _, count in buckets)
    marked = {key for key, _ in spikes(buckets)}
    rows: list[tuple[str, object, str]] = []
    for gap, key, count in _with_gaps(buckets[:most], interval):
        if gap:
            rows.append((f"... {counted(gap, interval)} without events", 0, ""))
        bar = "#" * max(1, round(_BAR * count / highest))
        rows.append((_shown(key), count, bar + (" <-- SPIKE" if key in marked else "")))
    return [
        *texts.columns((interval, "events", ""), rows),
        *texts.more(len(buckets) - most, "give since or until, max, or interval=hour"),
    ]


def _with_gaps(buckets: _Buckets, interval: str) -> Iterator[tuple[int, str, int]]:
    """Each bucket, after the number of empty ones before it."""
    before: datetime | None = None
    for key, count in buckets:
        moment = datetime.fromisoformat(key)
        steps = 1 if before is None else (moment - before) // _STEP[interval]
        yield steps - 1, key, count
        before = moment


def _left_out(others: int, without_time: int) -> list[str]:
    lines = []
    if without_time:
        lines.append(f"{counted(without_time, 'event')} without a time that can be read")
    if others:
        lines.append(
            f"{counted(others, 'event')} in still other intervals; give since and until, or"
            " interval=hour"
        )
    return lines


def _shown(key: str) -> str:
    text = key.replace("T", " ")
    return text if ":" in text else f"{text}:00"
