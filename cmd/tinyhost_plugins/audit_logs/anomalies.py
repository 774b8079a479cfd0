"""audit_anomalies: what may be an attack or a mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._shared.texts import counted
from . import report as texts
from .counts import Counts, share
from .filters import Query
from .findings import Findings, gather
from .moments import shown
from .options import Options
from .scan import Scan

_ROWS = 10
_HOW = "audit_search lists the events"


def report(scan: Scan, query: Query, _args: Mapping[str, Any], options: Options) -> str:
    """The tool's text."""
    found = gather(scan, options)
    if not found.total:
        return texts.nothing(scan, query.text)
    first = (
        f"Anomalies in {counted(found.total, 'event')}, {shown(found.first)} to {shown(found.last)}:"
        f" {counted(found.auth_failures.total, 'failed authentication')},"
        f" {counted(found.deletions.total, 'deletion')},"
        f" {counted(found.escalations.total, 'privilege escalation')},"
        f" {counted(len(found.service_accounts), 'service account')}"
    )
    return texts.text(
        first,
        scan,
        _auth_failures(found),
        _deletions(found),
        _escalations(found),
        _service_accounts(found),
    )


def _auth_failures(found: Findings) -> list[str]:
    total = found.auth_failures.total
    percent = share(total, found.total)
    return [
        f"Authentication failures (401, 403, refused logins): {total:,}, {percent:.1f}%",
        *_top(found.auth_failures, ("events", "user", "code")),
    ]


def _deletions(found: Findings) -> list[str]:
    return [
        f"Deletions: {found.deletions.total:,};"
        f" not counted: {_rest(found.refused_deletions, found.platform_deletions)}",
        *_top(found.deletions, ("events", "user", "verb", "resource", "namespace")),
    ]


def _escalations(found: Findings) -> list[str]:
    return [
        f"Privilege escalation (roles and bindings, impersonation, tokens):"
        f" {found.escalations.total:,};"
        f" not counted: {_rest(found.refused_escalations, found.platform_escalations)}",
        *_top(found.escalations, ("events", "user", "how")),
    ]


def _rest(refused: int, platform: int) -> str:
    return f"{refused:,} refused, {platform:,} by the platform itself"


def _service_accounts(found: Findings) -> list[str]:
    accounts = found.service_accounts
    rows = [(count, key) for key, count in accounts.top(_ROWS)]
    return [
        f"Service accounts: {len(accounts):,}{'+' if accounts.others else ''}"
        f" with {counted(accounts.total, 'event')}",
        *(texts.columns(("events", "service account"), rows) if rows else ()),
        *texts.more(len(accounts) - len(rows), "audit_top by=user user=serviceaccount"),
    ]


def _top(counts: Counts[tuple[str, ...]], headers: Sequence[str]) -> list[str]:
    rows = [(count, *key) for key, count in counts.top(_ROWS)]
    if not rows:
        return []
    return [*texts.columns(headers, rows), *texts.more(len(counts) - len(rows), _HOW)]
