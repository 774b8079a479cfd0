"""audit_health: five checks, each with a rating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._shared.texts import counted
from . import options as names
from . import report as texts
from .counts import share
from .filters import Query
from .findings import Findings, gather
from .moments import seconds_between, shown
from .options import Options
from .scan import Scan

OK, WARN, CRITICAL = "OK", "WARN", "CRITICAL"
_RATINGS = (OK, WARN, CRITICAL)
# A shorter time says nothing about an hour.
_LEAST_SECONDS = 60.0


def rate(value: float, limits: tuple[float | None, float | None]) -> str:
    """The rating of what is over the limit for WARN, or that for CRITICAL."""
    warn, critical = limits
    if critical is not None and value > critical:
        return CRITICAL
    return WARN if warn is not None and value > warn else OK


def report(scan: Scan, query: Query, _args: Mapping[str, Any], options: Options) -> str:
    """The tool's text."""
    found = gather(scan, options)
    if not found.total:
        return texts.nothing(scan, query.text)
    rows = [
        (rate(value, options.thresholds[key]), name, detail)
        for key, name, value, detail in _checks(found)
    ]
    ratings = [row[0] for row in rows]
    overall = max(ratings, key=_RATINGS.index)
    first = (
        f"Overall: [{overall}], {ratings.count(CRITICAL)} critical and {ratings.count(WARN)} to"
        f" watch of {len(rows)} checks"
    )
    about = f"{counted(found.total, 'event')}, {shown(found.first)} to {shown(found.last)}"
    lines = [f"[{rating:<8}] {name:<25} {detail}" for rating, name, detail in rows]
    return texts.text(first, scan, [about, *lines])


def _checks(found: Findings) -> Iterator[tuple[str, str, float, str]]:
    """Option of the limits, name, value and detail of each check."""
    failures = found.auth_failures.total
    percent = share(failures, found.total)
    yield names.AUTH_FAILURES, "auth failures", percent, f"{failures:,}, {percent:.1f}% of events"
    deletions = found.deletions.total
    yield (
        names.DELETIONS,
        "deletions",
        deletions,
        _counted(deletions, found.refused_deletions, found.platform_deletions),
    )
    escalations = found.escalations.total
    yield (
        names.ESCALATION,
        "privilege escalation",
        escalations,
        _counted(escalations, found.refused_escalations, found.platform_escalations),
    )
    hourly = per_hour(found)
    detail = f"{hourly:,.0f} events per hour" if found.first else "no time in the events"
    yield names.VOLUME, "volume", hourly, detail
    errors = found.server_errors
    percent = share(errors, found.total)
    yield (
        names.SERVER_ERRORS,
        "server errors (5xx)",
        percent,
        f"{errors:,}, {percent:.1f}% of events",
    )


def _counted(done: int, refused: int, platform: int) -> str:
    return f"{done:,}; not rated: {refused:,} refused, {platform:,} by the platform itself"


def per_hour(found: Findings) -> float:
    """Events per hour between the first and the last of them; 0 without times."""
    if not found.first:
        return 0.0
    return 3600 * found.total / max(_LEAST_SECONDS, seconds_between(found.first, found.last))
