"""Times as text that sorts: UTC, "2026-01-02T10:00:00.123456", without a zone."""

from __future__ import annotations

from datetime import UTC, datetime

# A time with nanoseconds and a zone has 35 characters.
_LONGEST = 40


def utc(text: str) -> str:
    """An event's RFC 3339 time as sortable text; "" when it is none."""
    if text[4:17:3] != "--T::" or len(text) > _LONGEST:
        return ""
    try:
        moment = datetime.fromisoformat(text)
        if text.endswith("Z"):
            return text[:-1]
        return "" if moment.tzinfo is None else _sortable(moment)
    except (ValueError, OverflowError):
        return ""


def read_moment(text: str) -> str:
    """A time as people write it, also one that a report has shown; "" when it is none.

    Without a zone it is UTC.
    """
    try:
        moment = datetime.fromisoformat(text.strip().upper().replace(" UTC", "Z"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return _sortable(moment)
    except (ValueError, OverflowError):
        return ""


def _sortable(moment: datetime) -> str:
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    # Without zeros at the end, so that ".5" and ".500000" are not two times.
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds_between(first: str, last: str) -> float:
    """How many seconds lie between two of these texts."""
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def shown(moment: str) -> str:
    """For people: whole seconds, and the zone."""
    return f"{moment[:19]}Z" if moment else "(no time)"
