"""One line of a log, whichever of etcd's formats it has.

`oc adm inspect` puts a time before each line. etcd itself writes JSON since 3.4, or else
"2021-03-01 10:00:00.000000 W | package: text"; the programs around it write as klog does.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import NamedTuple

from . import durations

_PREFIX = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)(?: |$)"
)
# What the container runtime puts behind the time, in files from the node: "F" is a whole line.
_STREAM = re.compile(r"(?:stdout|stderr) [FP] ")
_CAPNSLOG = re.compile(r"([A-Z]) \| ")
_KLOG = re.compile(r"([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{1,6})")
# What a slow request was about says nothing of etcd. One without an end goes to that of the line.
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_LEVELS = {"C": "fatal", "D": "debug", "E": "error", "F": "fatal", "I": "info", "N": "info"}
_LEVELS["W"] = "warn"
# The year 10000, in microseconds.
_TOO_LATE = 253_402_300_800_000_000
# Of the other fields of a JSON line, these say most.
_TELLING = (
    *("error", "reason", "alarm", "prefix", "request", "took", "expected-duration"),
    *("remote-peer-id", "to", "rtt", "exceeded-duration", "compact-revision"),
)


class Line(NamedTuple):
    """time: microseconds since 1970 UTC, or None. level: in small letters, "" when unknown.

    text: what the line says, to be judged. shown: the line for a reader. ms: how long it took.
    """

    time: int | None
    level: str
    caller: str
    text: str
    shown: str
    ms: float | None


def parse(raw: str, year: int) -> Line:
    """Read a line, without its newline. The year is for klog, which leaves it out."""
    time, rest = None, raw
    if found := _PREFIX.match(raw):
        time, rest = _time(found[1]), raw[found.end() :]
        rest = _STREAM.sub("", rest, 1) if rest[:3] == "std" else rest
    brace = rest.find('{"')
    if brace >= 0 and (line := _json(rest[brace:], time)) is not None:
        return line
    # Logs of etcd 3.3 have a time of their own, behind that of `oc`.
    if found := _PREFIX.match(rest):
        time = time if time is not None else _time(found[1])
        rest = rest[found.end() :]
    level, judged = "", ""
    if found := _CAPNSLOG.match(rest):
        level, rest = _LEVELS.get(found[1], ""), rest[found.end() :]
        judged = _QUOTED.sub('""', rest) if "took too long" in rest else ""
    elif found := _KLOG.match(rest):
        level = _LEVELS[found[1]]
        if time is None:
            time = _time(f"{year}-{found[2]}-{found[3]} {found[4]}")
    judged = judged or rest
    return Line(time, level, "", judged, rest, durations.within(judged))


def stamp(time: int | None) -> str:
    """A time as it is shown, to the millisecond."""
    if time is None:
        return "(no time)"
    moment = datetime.fromtimestamp(time // 1_000_000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{time % 1_000_000 // 1000:03}Z"


def _time(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    # Whole numbers, for floats would blur microseconds.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    time = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    # In UTC, the first and the last of years may have become one that cannot be written.
    return time if 0 <= time < _TOO_LATE else None


def _json(text: str, time: int | None) -> Line | None:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("msg"), str):
        return None
    if time is None:
        time = _json_time(entry.get("ts"))
    level, caller = str(entry.get("level") or "").lower(), str(entry.get("caller") or "")
    message = entry["msg"]
    judged = " ".join(
        (message, *(str(entry[name]) for name in ("error", "reason") if name in entry))
    )
    details = "; ".join(f"{name}={entry[name]}" for name in _TELLING if entry.get(name))
    shown = f"{level} {message}" + (f" ({details})" if details else "")
    ms = durations.milliseconds(entry.get("took"))
    return Line(time, level, caller, judged, shown, ms)


def _json_time(value: object) -> int | None:
    if isinstance(value, str):
        return _time(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 4e9:
        return int(value * 1_000_000)
    return None
