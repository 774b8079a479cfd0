"""The texts of the tools that read logs: stats, errors, timeline, compare."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from .._shared import texts
from .._shared.table import cell, table
from . import classes, text
from .figures import Durations
from .gather import MOST_FILES, find_root, log_files
from .lines import stamp
from .options import Options
from .pace import Pace
from .scan import Event, Recent, Scan, events

MOST_LINES = 2000
_MOST_MESSAGES = 500
_MESSAGES_SHOWN = 5
_SLOWEST = 5
_LINE, _DETAIL = 200, 150
_TIMED = (classes.SLOW_APPLY, classes.SLOW_FSYNC, classes.COMPACTION)
_COLUMNS = {
    "SLOW_APPLY": classes.SLOW_APPLY,
    "SLOW_FSYNC": classes.SLOW_FSYNC,
    "LEADER": classes.LEADER,
    "COMPACT": classes.COMPACTION,
    "NET_ERR": classes.NETWORK,
    "STOR_ERR": classes.STORAGE,
    "OVERLOAD": classes.OVERLOAD,
}
# When there are more events than may be shown, these come first.
_RANK = (
    *(classes.STORAGE, classes.LEADER, classes.DEFRAG, classes.OVERLOAD, classes.NETWORK),
    *(classes.SLOW_FSYNC, classes.COMPACTION, classes.SLOW_APPLY),
)
_NUMBER = re.compile(r"[0-9a-f]{8,}|\d+(?:\.\d+)*")


class Logs:
    """The logs of one must-gather, to be gone through once."""

    def __init__(self, path: Path, options: Options, pace: Pace) -> None:
        self.root = find_root(path)
        self.files = log_files(self.root)
        self.scan = Scan()
        if len(self.files) == MOST_FILES:
            self.scan.notes.append(f"only the first {MOST_FILES:,} logs were looked at")
        self._most = options.max_logs
        self._pace = pace

    def events(self) -> Iterator[Event]:
        return events(self.files, self.scan, self._most, self._pace)

    def none(self) -> str:
        return (
            f"no etcd logs in {text.named(self.root)}: a must-gather has them in"
            " namespaces/openshift-etcd/pods/etcd-NODE/"
        )

    def unread(self) -> str:
        """Why the logs do not tell all, once they were gone through; "" when they do."""
        if self.scan.notes:
            return "not all of them could be read; see the notes below"
        return "" if self.scan.lines else "there is no line in them"

    def about(self) -> str:
        """What was read, in a line; then what was not."""
        scan = self.scan
        pods = len({file.pod for file in self.files})
        line = (
            f"read: {texts.counted(scan.files, 'log file')} of {texts.counted(pods, 'pod')},"
            f" {texts.counted(scan.lines, 'line')}, {texts.size(scan.bytes)};"
            f" {stamp(scan.first)} to {stamp(scan.last)}"
        )
        return "\n".join((line, *(f"note: {note}" for note in scan.all_notes()[:20])))


def stats(logs: Logs) -> str:
    """How often etcd was slow, and how long it took."""
    if not logs.files:
        return logs.none()
    counts: Counter[str] = Counter()
    durations = {name: Durations() for name in _TIMED}
    slowest: list[Event] = []
    for event in logs.events():
        for name in event.classes:
            counts[name] += 1
            if event.ms is not None and name in durations:
                durations[name].add(event.ms)
        if event.ms is not None and classes.SLOW_APPLY in event.classes:
            slowest = _slowest(slowest, event)
    rows = [(name, counts[name], *_figures(durations[name])) for name in _TIMED]
    headers = ("EVENT", "COUNT", "TIMED", "MIN", "MEDIAN", "AVERAGE", "P99", "MAX")
    lines = [
        f"{texts.counted(counts[classes.SLOW_APPLY], 'slow apply', 'slow applies')},"
        f" {texts.counted(counts[classes.SLOW_FSYNC], 'slow fsync')},"
        f" {texts.counted(counts[classes.COMPACTION], 'compaction')}; times in ms{_but(logs)}",
        "",
        table(headers, rows),
    ]
    if slowest:
        lines += ["", "slowest applies:", *map(_line, slowest)]
    return "\n".join((*lines, "", logs.about()))


def _figures(durations: Durations) -> tuple[object, ...]:
    if not durations.count:
        return 0, "-", "-", "-", "-", "-"
    values = (
        *(durations.least, durations.median(), durations.average()),
        *(durations.percentile(99), durations.greatest),
    )
    return durations.count, *map(text.milliseconds, values)


def _slowest(kept: list[Event], event: Event) -> list[Event]:
    if len(kept) == _SLOWEST and (event.ms or 0) <= (kept[-1].ms or 0):
        return kept
    return sorted((*kept, event), key=lambda one: (-(one.ms or 0), one.key()))[:_SLOWEST]


def errors(logs: Logs, most: int) -> str:
    """Errors by category: how many, what they say, and the newest of them."""
    if not logs.files:
        return logs.none()
    recent = {name: Recent(most) for name in classes.ERRORS}
    messages: dict[str, Counter[str]] = defaultdict(Counter)
    for event in logs.events():
        name = classes.error_of(event.classes)
        if name:
            recent[name].add(event)
            _count(messages[name], _NUMBER.sub("N", event.text[:_LINE]))
    total = sum(found.count for found in recent.values())
    share = _share({name: min(found.count, most) for name, found in recent.items()}, most)
    shown = sum(share.values())
    lines = [_errors_head(total, shown, recent) + _but(logs)]
    for name, found in recent.items():
        if found.count:
            lines += ["", f"{classes.ERRORS[name]}: {found.count:,}"]
            lines += _messages(messages[name])
            lines += ["  newest:"] if share[name] else []
            lines += [f"  {_line(event)}" for event in found.newest(share[name])]
    if shown < total:
        lines += [
            "",
            f"{total - shown:,} older lines are not shown (limit {most}); raise "
            f'"max" (up to {MOST_LINES})',
        ]
    return "\n".join((*lines, "", logs.about()))


def _errors_head(total: int, shown: int, recent: dict[str, Recent]) -> str:
    if not total:
        return "no errors"
    names = ", ".join(
        f"{classes.ERRORS[name].split()[0].lower()} {found.count:,}"
        for name, found in recent.items()
        if found.count
    )
    return f"{texts.counted(total, 'error')} ({names}); the newest {shown:,} are shown"


def _count(counts: Counter[str], message: str) -> None:
    if message not in counts and len(counts) >= _MOST_MESSAGES:
        message = "(others)"
    counts[message] += 1


def _messages(counts: Counter[str]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [
        f"  {count:>7,} x {cell(message, _DETAIL)}" for message, count in ordered[:_MESSAGES_SHOWN]
    ]
    left = len(ordered) - _MESSAGES_SHOWN
    return [*lines, f"  and {texts.counted(left, 'other message')}"] if left > 0 else lines


def _share(wanted: dict[str, int], most: int) -> dict[str, int]:
    """Deal out lines to those that want some, one at a time, so that nobody goes empty."""
    given = dict.fromkeys(wanted, 0)
    while most > 0:
        hungry = [name for name in wanted if given[name] < wanted[name]]
        if not hungry:
            break
        each = max(1, most // len(hungry))
        for name in hungry:
            more = min(each, wanted[name] - given[name], most)
            given[name] += more
            most -= more
    return given


def timeline(logs: Logs, most: int, only: str) -> str:
    """What happened, in order."""
    if not logs.files:
        return logs.none()
    recent = {name: Recent(most) for name in classes.EVENTS}
    for event in logs.events():
        name = classes.event_of(event.classes)
        if name and (not only or only == name):
            recent[name].add(event)
    counts = {name: found.count for name, found in recent.items() if found.count}
    total = sum(counts.values())
    left, chosen = most, list[tuple[str, Event]]()
    for name in _RANK:
        newest = recent[name].newest(left)
        chosen += [(name, event) for event in newest]
        left -= len(newest)
    chosen.sort(key=lambda pair: pair[1].key())
    if not total:
        of_class = f" of the class {only}" if only else ""
        return "\n".join((f"no events{of_class}{_but(logs)}", "", logs.about()))
    lines = [
        f"{texts.counted(total, 'event')}: {', '.join(f'{name} {n:,}' for name, n in counts.items())}"
        + _but(logs),
        "",
        *(
            f"{stamp(event.time)} {name:<20}{_pad(event.pod)}{cell(event.shown, _DETAIL)}"
            for name, event in chosen
        ),
    ]
    if total > len(chosen):
        lines.append(
            f"{total - len(chosen):,} events are not shown, of the commonest classes the older ones;"
            f' raise "max" (up to {MOST_LINES}) or name a "class"'
        )
    return "\n".join((*lines, "", logs.about()))


def compare(logs: Logs) -> str:
    """The pods beside each other, and which of them stands out."""
    if not logs.files:
        return logs.none()
    pods = sorted({file.pod for file in logs.files})
    counts: dict[str, Counter[str]] = {pod: Counter() for pod in pods}
    slowest: dict[str, dict[str, float]] = {pod: {} for pod in pods}
    for event in logs.events():
        for name in event.classes:
            counts[event.pod][name] += 1
            if event.ms is not None:
                known = slowest[event.pod].get(name, 0.0)
                slowest[event.pod][name] = max(known, event.ms)
    outliers = _outliers(counts) if len(pods) > 1 else []
    rows = [(pod, *(counts[pod][name] for name in _COLUMNS.values())) for pod in pods]
    maxima = [(pod, *(_maximum(slowest[pod], name) for name in _TIMED)) for pod in pods]
    lines = [
        f"{texts.counted(len(pods), 'pod')}, {texts.counted(len(outliers), 'outlier')}{_but(logs)}",
        *(f"outlier: {outlier}" for outlier in outliers),
        "",
        table(("POD", *_COLUMNS), rows),
        "",
        table(("POD", "MAX APPLY MS", "MAX FSYNC MS", "MAX COMPACTION MS"), maxima),
    ]
    return "\n".join((*lines, "", logs.about()))


def _outliers(counts: dict[str, Counter[str]]) -> list[str]:
    """Pods with more than twice the mean of a counter."""
    found = []
    for column, name in _COLUMNS.items():
        mean = sum(count[name] for count in counts.values()) / len(counts)
        found += [
            f"{pod} has {count[name]:,} {column}, the mean is {mean:.1f}"
            for pod, count in counts.items()
            if count[name] > 2 * mean
        ]
    return found


def _maximum(slowest: dict[str, float], name: str) -> str:
    return text.milliseconds(slowest[name]) if name in slowest else "-"


def _but(logs: Logs) -> str:
    """For the first line: logs that were not read may hold what it says there is none of."""
    return "; not all logs could be read" if logs.scan.notes else ""


def _line(event: Event) -> str:
    return f"{stamp(event.time)} [{event.pod}] {cell(event.shown, _LINE)}"


def _pad(pod: str) -> str:
    return f"{pod:<20} " if len(pod) >= 20 else f"{pod:<20}"
