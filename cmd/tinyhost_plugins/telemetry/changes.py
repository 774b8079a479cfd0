"""What the hooks write: each event as statements with their values. Times are Unix milliseconds."""

from __future__ import annotations

from .store import Change

# A long file is cut down over several sessions, so that no hook takes long.
MOST_PRUNED = 20_000
_DAY = 86_400_000

_START = (
    "INSERT INTO sessions (id, started_at) VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET ended_at = NULL"
)
_KNOW = "INSERT OR IGNORE INTO sessions (id, started_at) VALUES (?, ?)"
_CALL = (
    "INSERT INTO tool_calls (session_id, tool_name, args_hash, timestamp, duration_ms, success)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
_COUNT = "UPDATE sessions SET tool_count = coalesce(tool_count, 0) + 1 WHERE id = ?"
_END = "UPDATE sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL"
_PRUNE_CALLS = (
    "DELETE FROM tool_calls WHERE id IN (SELECT id FROM tool_calls WHERE timestamp < ?"
    " OR id <= (SELECT id FROM tool_calls ORDER BY id DESC LIMIT 1 OFFSET ?) LIMIT ?)"
)
# By their calls as well: no call is left without its session.
_PRUNE_SESSIONS = (
    "DELETE FROM sessions WHERE started_at < ?"
    " AND NOT EXISTS (SELECT 1 FROM tool_calls WHERE session_id = sessions.id)"
)


def start(session: str, now: int) -> list[Change]:
    """A session begins, or goes on after the plugin was started again."""
    return [(_START, (session, now))]


def call(
    session: str, tool: str, args_hash: str, now: int, duration: int | None, success: bool
) -> list[Change]:
    """A call has ended. duration: milliseconds, None when its beginning was not seen."""
    return [
        (_KNOW, (session, now)),
        (_CALL, (session, tool, args_hash, now, duration, int(success))),
        (_COUNT, (session,)),
    ]


def end(session: str, now: int) -> list[Change]:
    """A session is over; a second end changes nothing."""
    return [(_END, (now, session))]


def prune(now: int, days: int, calls: int) -> list[Change]:
    """Drop what is older than `days`, and the oldest beyond the number of calls that are kept."""
    oldest = now - days * _DAY
    return [
        (_PRUNE_CALLS, (oldest, calls, MOST_PRUNED)),
        (_PRUNE_SESSIONS, (oldest,)),
    ]
