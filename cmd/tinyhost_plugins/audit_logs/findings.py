"""What audit_anomalies and audit_health look for, counted in one pass."""

from __future__ import annotations

from . import events as kinds
from .counts import Counts
from .events import Event
from .moments import utc
from .options import Options
from .scan import Scan


class Findings:
    """What was found.

    total: all events. Deletions and escalations are told apart: done, refused by the server,
    and done by the platform's own users, which is its daily work. first, last: times as in
    moments, "" without any.
    """

    def __init__(self, options: Options) -> None:
        most = options.max_keys
        self.total = 0
        self.first = ""
        self.last = ""
        self.server_errors = 0
        self.auth_failures: Counts[tuple[str, ...]] = Counts(most)
        self.deletions: Counts[tuple[str, ...]] = Counts(most)
        self.refused_deletions = 0
        self.platform_deletions = 0
        self.escalations: Counts[tuple[str, ...]] = Counts(most)
        self.refused_escalations = 0
        self.platform_escalations = 0
        self.service_accounts: Counts[str] = Counts(most)
        self._platform = options.platform

    def add(self, event: Event) -> None:
        """Take an event into account."""
        self.total += 1
        if event.status.code >= 500:
            self.server_errors += 1
        if kinds.failed_authentication(event):
            code = str(event.status.code or "-")
            self.auth_failures.add((kinds.acting_user(event), code))
        if kinds.deletes(event):
            self._add_deletion(event)
        way = kinds.escalation(event)
        if way:
            self._add_escalation(event, way)
        if event.user.username.startswith(kinds.SERVICE_ACCOUNT):
            self.service_accounts.add(event.user.username)
        self._add_time(utc(event.time))

    def _add_time(self, moment: str) -> None:
        if moment:
            self.first = min(self.first or moment, moment)
            self.last = max(self.last, moment)

    def _add_deletion(self, event: Event) -> None:
        if not kinds.succeeded(event):
            self.refused_deletions += 1
        elif self._is_platform(event):
            self.platform_deletions += 1
        else:
            what = kinds.resource_name(event.target)
            where = event.target.namespace or kinds.NO_NAMESPACE
            self.deletions.add((kinds.acting_user(event), event.verb, what, where))

    def _add_escalation(self, event: Event, way: str) -> None:
        if not kinds.succeeded(event):
            self.refused_escalations += 1
        elif self._is_platform(event):
            self.platform_escalations += 1
        else:
            self.escalations.add((kinds.user_name(event), way))

    def _is_platform(self, event: Event) -> bool:
        return event.user.username.startswith(self._platform)


def gather(scan: Scan, options: Options) -> Findings:
    """Read everything."""
    findings = Findings(options)
    for _, events in scan:
        for event in events:
            findings.add(event)
    return findings
