"""The texts of the two tools."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._shared.table import cell
from .store import Store

DEFAULT_DAYS, MOST_ROWS = 7, 500
# What a result takes at most unless the caller names a limit.
MOST_CHARACTERS = 30_000
_TOP, _LAST, _KNOWN = 10, 5, 20
# Seconds for another process, and in all: calls of other tools wait meanwhile, as the plugin does one thing at a
# time, and a host gives a hook some seconds.
_WAIT, _MOST = 1.0, 4.0
_WIDEST_NAME = 128

_TOTALS = (
    "SELECT (SELECT count(*) FROM sessions), count(*), count(DISTINCT tool_name) FROM tool_calls"
)
_BY_TOOL = (
    "SELECT tool_name, count(*), coalesce(sum(success = 0), 0),"
    " sum(args_hash <> '') - count(DISTINCT CASE WHEN args_hash <> ''"
    " THEN session_id || char(10) || args_hash END),"
    " avg(duration_ms), max(CAST(duration_ms AS INTEGER))"
    " FROM tool_calls GROUP BY tool_name ORDER BY count(*) DESC, tool_name LIMIT ?"
)
_SESSIONS = (
    "SELECT id, started_at, ended_at, coalesce(tool_count, 0) FROM sessions"
    " ORDER BY started_at DESC, id DESC LIMIT ?"
)
_FOUND = "FROM tool_calls WHERE timestamp >= ? AND (? = '' OR tool_name = ?)"
_CALLS = (
    f"SELECT tool_name, timestamp, success, session_id, CAST(duration_ms AS INTEGER) {_FOUND}"
    " ORDER BY timestamp DESC, id DESC LIMIT ?"
)
_TOOLS = "SELECT DISTINCT tool_name FROM tool_calls WHERE timestamp >= ? ORDER BY tool_name LIMIT ?"


class Query(NamedTuple):
    """What telemetry_query is asked. tool: "" for all; limit: None for as many as fit."""

    tool: str
    days: float
    limit: int | None


def read_query(args: Any, most_days: int) -> Query:
    """Check the arguments of telemetry_query. Raises ValueError."""
    args = {} if args is None else args
    if type(args) is not dict:
        raise ValueError("invalid arguments: they have to be an object")
    for key in args:
        if key not in Query._fields:
            known = ", ".join(Query._fields)
            raise ValueError(f'invalid arguments: there is no "{key:.80}"; there are {known}')
    tool = args.get("tool")
    if tool is not None and type(tool) is not str:
        raise ValueError('invalid arguments: "tool" has to be the name of a tool')
    name = (tool or "").encode("utf-8", "replace").decode()
    return Query(name, _days(args.get("days"), most_days), _limit(args.get("limit")))


def _days(value: object, most: int) -> float:
    if value is None:
        return min(DEFAULT_DAYS, most)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError('invalid arguments: "days" has to be a number')
    return min(value if value > 0 else DEFAULT_DAYS, most)


def _limit(value: object) -> int | None:
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 1 <= value <= MOST_ROWS:
        raise ValueError(
            f'invalid arguments: "limit" has to be a whole number from 1 to {MOST_ROWS}'
        )
    return value


def report(store: Store, retention_days: int) -> str:
    """Everything in numbers. Raises StoreError."""
    with store.reading(_WAIT, _MOST) as connection:
        [(sessions, calls, tools)] = connection.execute(_TOTALS).fetchall()
        top = connection.execute(_BY_TOOL, (_TOP,)).fetchall()
        last = connection.execute(_SESSIONS, (_LAST,)).fetchall()
    if not sessions and not calls:
        return "No telemetry data has been collected yet."
    average = f"{calls / sessions:.1f}" if sessions else "0"
    lines = [
        "--- Telemetry Report ---",
        f"Total sessions: {sessions}",
        f"Total tool calls: {calls}",
        f"Average tool calls per session: {average}",
        "",
        "Top 10 tools by call count:",
        *(_tool_line(*row) for row in top),
        *([] if top else ["  none yet"]),
        *_rest(tools - len(top), "tool", "telemetry_query shows the calls"),
        "",
        "Last 5 sessions:",
        *(_session_line(*row) for row in last),
        *_rest(sessions - len(last), "session", "telemetry_query shows their calls"),
        "",
        f"Database: {cell(store.path, 4096)}, kept for {retention_days} days",
    ]
    return "\n".join(lines)


def query(store: Store, wanted: Query) -> str:
    """The calls that fit, newest first. Raises StoreError."""
    since = int(time.time() * 1000 - wanted.days * 86_400_000)
    found = (since, wanted.tool, wanted.tool)
    with store.reading(_WAIT, _MOST) as connection:
        [(count,)] = connection.execute(f"SELECT count(*) {_FOUND}", found).fetchall()
        calls = connection.execute(_CALLS, (*found, wanted.limit or MOST_ROWS)).fetchall()
        others = [] if count else connection.execute(_TOOLS, (since, _KNOWN + 1)).fetchall()
    which = f' for "{cell(wanted.tool, _WIDEST_NAME)}"' if wanted.tool else ""
    span = f"{wanted.days:g} day(s)"
    if not calls:
        return f"No tool calls found{which} in the last {span}." + _other_tools(others)
    lines = _fitting([_call_line(*row) for row in calls], wanted.limit)
    text = "\n".join([f"Tool calls{which} (last {span}): {count} result(s)", "", *lines])
    return text if len(lines) == count else text + _capped(len(lines), wanted.tool)


def _fitting(lines: list[str], limit: int | None) -> Sequence[str]:
    if limit is not None:
        return lines
    length = 0
    for number, line in enumerate(lines):
        length += len(line) + 1
        if length > MOST_CHARACTERS:
            return lines[:number]
    return lines


def _capped(shown: int, tool: str) -> str:
    ways = ["fewer days"] if tool else ["fewer days", "one tool"]
    if shown < MOST_ROWS:
        ways.append(f"a limit up to {MOST_ROWS}")
    return f"\n\nResults capped at {shown}. To see others, ask for {' or '.join(ways)}."


def _other_tools(rows: list[tuple[str]]) -> str:
    names = [cell(name, _WIDEST_NAME) for (name,) in rows[:_KNOWN]]
    if not names:
        return ""
    more = ", and others" if len(rows) > _KNOWN else ""
    return f"\nTools that were called in that time: {', '.join(names)}{more}."


def _tool_line(
    name: str,
    calls: int,
    failed: int,
    repeated: int | None,
    average: float | None,
    most: int | None,
) -> str:
    notes = [f"{failed} failed"] if failed else []
    if repeated:
        notes.append(f"{repeated} repeated with the same arguments")
    if average is not None and most is not None:
        notes.append(f"{_span(average)} on average, {_span(most)} at most")
    return f"  {cell(name, _WIDEST_NAME)}: {calls}" + (f" ({'; '.join(notes)})" if notes else "")


def _session_line(id: str, started: object, ended: object, tools: object) -> str:
    end = "active" if ended is None else _moment(ended)
    return f"  {cell(id)} | started: {_moment(started)} | ended: {end} | tools: {cell(tools)}"


def _call_line(tool: str, when: object, success: int, session: str, duration: int | None) -> str:
    took = "" if duration is None else f" | {_span(duration)}"
    state = "ok" if success else "fail"
    name = cell(tool, _WIDEST_NAME)
    return f"  {name} | {_moment(when)} | {state} | session: {cell(session)}{took}"


def _rest(number: int, what: str, how: str) -> list[str]:
    if number <= 0:
        return []
    return [f"  {number} more {what}{'s' if number != 1 else ''}; {how}"]


def _moment(value: object) -> str:
    """Unix milliseconds as RFC 3339 in UTC."""
    try:
        parts = time.gmtime(int(str(value)) // 1000)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", parts)
    except (ValueError, OverflowError, OSError):
        return cell(value)


def _span(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
