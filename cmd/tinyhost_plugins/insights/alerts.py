"""Alerts: those that fire, those that are silenced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._shared.report import View
from .._shared.texts import counted, line
from .loading import Loaded
from .metrics import samples
from .objects import get, mapping, objects, text
from .report import Report

SILENCED = "config/silenced_alerts.json"
_FILES = ("config/alerts.json", "monitoring/alerts/alerts.json")
_METRICS = "config/metrics (ALERTS)"
_NO_SEVERITY = "no severity"
_ORDER = ("critical", "warning", "info", "none")
_NOT_FIRING = ("suppressed", "inhibited", "pending", "resolved")
# What tells two alerts of a name apart.
_TELLING = ("namespace", "node", "pod", "container", "job", "service", "instance", "name", "reason")
_KEYS = ("alerts", "items", "data")
# Here a message is shown whole, unless it is a flood; elsewhere it is one of many things.
_LONG = 1000


@dataclass(frozen=True, slots=True)
class Alert:
    """state: as Alertmanager or Prometheus calls it, or ""; "inhibited" for what Alertmanager calls
    suppressed because of another alert, and not because somebody silenced it.
    """

    name: str
    severity: str
    state: str
    since: str
    labels: dict[str, Any]
    message: str
    source: str

    @property
    def firing(self) -> bool:
        return self.source != SILENCED and self.state not in _NOT_FIRING

    @property
    def silenced(self) -> bool:
        return self.state != "inhibited" and (self.source == SILENCED or self.state == "suppressed")

    @property
    def identity(self) -> str:
        """The same for two alerts that are one in two files."""
        return repr(sorted(self.labels.items()))

    def line(self, most: int = 200) -> str:
        """The alert on one line, without its severity."""
        telling = [f"{key}={text(self.labels, key)}" for key in _TELLING if key in self.labels]
        said = line(self.name, 100) + (f" [{line(', '.join(telling))}]" if telling else "")
        if self.state or self.since:
            since = f"since {self.since}" if self.since else ""
            said += f" {line(' '.join(filter(None, (self.state, since))), 80)}"
        return said + (f": {line(self.message, most)}" if self.message else "")


def read_alerts(loaded: Loaded) -> list[Alert]:
    """All alerts, the worst first; those in config/metrics only when no file has them."""
    found = [_alert(raw, name) for name in _FILES for raw in loaded.paced(_listed(loaded, name))]
    # Alertmanager may list among the others what is silenced.
    known = {alert.identity for alert in found if not alert.firing}
    silenced = (_alert(raw, SILENCED) for raw in loaded.paced(_listed(loaded, SILENCED)))
    found += [alert for alert in silenced if alert.identity not in known]
    if not any(name in loaded.content and name not in loaded.faults for name in _FILES):
        found += [
            _alert({"labels": sample.labels}, _METRICS)
            for sample in samples(loaded, "ALERTS")
            if sample.labels.get("alertstate") != "pending"
        ]
    return sorted(found, key=lambda a: (*rank(a.severity), a.name, a.line()))


def not_known(loaded: Loaded, found: list[Alert]) -> str:
    """Why the archive does not tell which alerts fire, "" when it does. found: all its alerts."""
    broken = [name for name in _FILES if name in loaded.faults]
    if any(alert.firing for alert in found):
        return ""
    if broken:
        return f"It is not known which alerts fire: {broken[0]} cannot be read."
    if not any(name in loaded.content for name in (*_FILES, SILENCED)):
        return f"This archive has no alerts: neither {_FILES[0]} nor {SILENCED}."
    return ""


def rank(severity: str) -> tuple[int, str]:
    """By which severities are sorted: the four that are common, others, then none at all."""
    if severity in _ORDER:
        return _ORDER.index(severity), ""
    return len(_ORDER) + (severity == _NO_SEVERITY), severity


def _listed(loaded: Loaded, name: str) -> list[dict[str, Any]]:
    """The alerts of a file: a list, or one below data.alerts, alerts, items or data."""
    value = loaded.json(name)
    for key in ("data", *_KEYS):
        if isinstance(value, dict) and isinstance(get(value, key), dict | list):
            value = get(value, key)
    return objects({"alerts": value}, "alerts")


def _alert(raw: dict[str, Any], source: str) -> Alert:
    labels = mapping(raw, "labels")
    state = text(raw, "state") or text(raw, "status", "state") or text(labels, "alertstate")
    if get(raw, "status", "inhibitedBy") and not get(raw, "status", "silencedBy"):
        state = "inhibited"
    return Alert(
        name=text(labels, "alertname") or text(raw, "name") or "(no name)",
        severity=text(labels, "severity").lower() or _NO_SEVERITY,
        state=state,
        since=text(raw, "startsAt") or text(raw, "activeAt"),
        labels=labels,
        message=next(filter(None, _messages(raw)), ""),
        source=source,
    )


def _messages(raw: dict[str, Any]) -> Iterator[str]:
    for key in ("message", "description", "summary"):
        yield text(raw, "annotations", key)


def count_severities(found: list[Alert]) -> str:
    """ "1 critical, 7 warning"."""
    counts = Counter(alert.severity for alert in found)
    return ", ".join(f"{counts[key]} {line(key, 40)}" for key in sorted(counts, key=rank))


def answer(loaded: Loaded, view: View, severity: str) -> str:
    """insights_alerts. severity: only these, in any case; "" for all."""
    found = read_alerts(loaded)
    wanted = severity.strip().lower()
    chosen = [alert for alert in found if not wanted or alert.severity == wanted]
    firing = [alert for alert in chosen if alert.firing]
    others = [alert for alert in chosen if not alert.firing]
    first = not_known(loaded, found) or _first(firing, len(others), wanted)
    report = Report(loaded, view, first)
    if wanted and not chosen and found:
        report.add(f"There are alerts of other severities: {count_severities(found)}")
    for title, group in (("", firing), (" (silenced or not firing)", others)):
        for key in sorted({alert.severity for alert in group}, key=rank):
            lines = [f"- {alert.line(_LONG)}" for alert in group if alert.severity == key]
            report.section(f"{line(key, 40)}{title}: {len(lines)}")
            report.list(lines)
    return report.text()


def _first(firing: list[Alert], others: int, wanted: str) -> str:
    of = f" of severity {line(wanted, 40)}" if wanted else ""
    counts = f" ({count_severities(firing)})" if firing and not wanted else ""
    more = f", {others} silenced or not firing" if others else ""
    return f"{counted(len(firing), 'alert fires', 'alerts fire')}{of}{counts}{more}"
