"""The rated dimensions of a cluster's health."""

from __future__ import annotations

from collections import Counter

from .._shared.table import cell
from . import classes, cluster_state
from .cluster_state import CRITICAL, OK, WARN, Finding
from .log_tools import Logs

_RATINGS = (OK, WARN, CRITICAL)
# name: (title, WARN above, CRITICAL above)
_THRESHOLDS = {
    classes.SLOW_APPLY: ("slow applies", 10, 100),
    classes.SLOW_FSYNC: ("slow fsyncs", 10, 100),
    classes.LEADER: ("leader changes", 3, 10),
    classes.NETWORK: ("network errors", 5, 50),
    classes.OVERLOAD: ("overload", 10, 100),
    classes.STORAGE: ("storage errors", 0, 0),
}


class Leaders:
    """How often the leader changed.

    Each member writes a line or two about the same election, so terms are counted, not lines.
    """

    def __init__(self) -> None:
        self._terms: set[int] = set()
        self._without = 0
        self._lost: set[int] = set()

    def add(self, line: str) -> None:
        term = classes.term_of(line)
        if term is None:
            self._without += 1
        elif "lost leader" in line:
            self._lost.add(term)
        else:
            self._terms.add(term)

    def changes(self) -> int:
        return max(len(self._terms) + self._without, len(self._lost))


def health(logs: Logs) -> str:
    """Each dimension with its rating; the worst is that of the whole."""
    found = _log_findings(logs)
    state = cluster_state.read(logs.root)
    found += cluster_state.findings(state)
    worst = max((finding.rating for finding in found), key=_RATINGS.index)
    bad = [finding.name for finding in found if finding.rating == worst and worst != OK]
    lines = [f"overall: {worst}" + (f" ({', '.join(dict.fromkeys(bad))})" if bad else ""), ""]
    lines += [f"[{finding.rating}] {finding.name}: {cell(finding.said, 300)}" for finding in found]
    for part in (cluster_state.members_table(state), cluster_state.objects_table(state)):
        lines += ["", part] if part else []
    return "\n".join((*lines, "", logs.about() if logs.files else logs.none()))


def _log_findings(logs: Logs) -> list[Finding]:
    if not logs.files:
        return [Finding(WARN, "logs", "there are no etcd logs")]
    counts: Counter[str] = Counter()
    leaders = Leaders()
    for event in logs.events():
        counts.update(event.classes)
        if classes.LEADER in event.classes:
            leaders.add(event.text)
    counts[classes.LEADER] = leaders.changes()
    unread = [Finding(WARN, "logs", why)] if (why := logs.unread()) else []
    return unread + [
        Finding(_rating(counts[name], warn, critical), title, f"{counts[name]:,}")
        for name, (title, warn, critical) in _THRESHOLDS.items()
    ]


def _rating(count: int, warn: int, critical: int) -> str:
    if count > critical:
        return CRITICAL
    return WARN if count > warn else OK
