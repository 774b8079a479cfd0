"""What an archive says about etcd: the operator, its settings, pods, metrics, alerts and events."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .._shared.report import View
from .._shared.texts import line
from .alerts import read_alerts
from .loading import Loaded
from .metrics import samples
from .objects import integer, mapping, name_of, objects, text
from .operators import Operator, read_operators
from .pods import Pod, read_pods
from .report import Report

_NAMESPACES = ("openshift-etcd", "openshift-etcd-operator")
_SETTINGS = "config/clusteroperator/operator.openshift.io/etcd/"
_COUNTERS = (
    "etcd_server_slow_apply_total",
    "etcd_server_slow_read_indexes_total",
    "etcd_server_leader_changes_seen_total",
)
_MOST_DUMPED = 2000


def answer(loaded: Loaded, view: View) -> str:
    """insights_etcd."""
    found = [operator for operator in read_operators(loaded) if operator.name == "etcd"]
    report = Report(loaded, view, _first(found))
    for operator in found:
        _operator(report, operator)
    _settings(report, loaded)
    _pods(report, loaded)
    _counters(report, loaded)
    for title, lines in (
        ("Alerts about etcd", list(_alerts(loaded))),
        ("Events", list(_events(loaded))),
        ("Log lines the operator picked out", list(_logs(loaded))),
        ("Disruption budgets", list(_budgets(loaded))),
    ):
        if lines:
            report.section(title)
            report.list(lines)
    _dumps(report, loaded)
    return report.text()


def _first(found: list[Operator]) -> str:
    if not found:
        return "This archive has no cluster operator etcd."
    version = line(found[0].version, 60) or "unknown"
    return f"The cluster operator etcd is {found[0].state}, version {version}"


def _operator(report: Report, operator: Operator) -> None:
    report.section("Conditions")
    report.list(
        [
            f"{kind}={found.status} since {found.since or '?'}: {found.why(300)}"
            for kind, found in sorted(operator.known.items())
        ]
    )
    report.section("Versions")
    versions = objects(operator.raw, "status", "versions")
    report.list([line(f"{text(v, 'name')} {text(v, 'version')}") for v in versions])


def _settings(report: Report, loaded: Loaded) -> None:
    for raw in loaded.objects(_SETTINGS):
        report.section(f"Settings of the operator ({line(name_of(raw), 60)})")
        spec = mapping(raw, "spec")
        for key, value in sorted(spec.items()):
            report.add(line(f"{key}: {_plain(value)}"))
        if mapping(spec, "unsupportedConfigOverrides"):
            report.add(
                "With unsupportedConfigOverrides the cluster cannot go to the next minor version"
            )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _pods(report: Report, loaded: Loaded) -> None:
    pods = [pod for pod in read_pods(loaded) if pod.name.split("/")[0] in _NAMESPACES]
    report.section("Pods (only those that are not well or have restarted are gathered)")
    if not pods:
        report.add("none in the archive")
        return
    report.table(("POD", "CONTAINER", "RESTARTS", "LAST END", "TROUBLE"), _pod_rows(pods))


def _pod_rows(pods: list[Pod]) -> Iterator[tuple[object, ...]]:
    for pod in pods:
        for c in pod.containers:
            last = [f"{reason} ({code})" for when, reason, code in c.ends if when == "last"]
            if c.restarts or last or pod.trouble:
                yield pod.name, c.name, c.restarts, ", ".join(last) or "-", pod.trouble or "-"


def _counters(report: Report, loaded: Loaded) -> None:
    rows = [
        (
            name,
            sample.labels.get("pod") or sample.labels.get("instance", "?"),
            _figure(sample.value),
        )
        for name in _COUNTERS
        for sample in samples(loaded, name)
    ]
    if rows:
        report.section("Counters since each member started (config/metrics)")
        report.table(("METRIC", "POD", "VALUE"), sorted(rows))


def _figure(value: float) -> str:
    """All digits of a count, which "g" would round to six."""
    return f"{value:.0f}" if value.is_integer() else f"{value:g}"


def _alerts(loaded: Loaded) -> Iterator[str]:
    for alert in read_alerts(loaded):
        if alert.name.lower().startswith("etcd") or alert.labels.get("namespace") in _NAMESPACES:
            yield f"{line(alert.severity, 40)}: {alert.line()}"


def _events(loaded: Loaded) -> Iterator[str]:
    for namespace in _NAMESPACES:
        for event in objects(loaded.json(f"events/{namespace}.json"), "items"):
            if text(event, "type") != "Normal":
                parts = (text(event, key) for key in ("lastTimestamp", "reason", "message"))
                yield line(f"{namespace}: {' '.join(parts)}", 300)


def _logs(loaded: Loaded) -> Iterator[str]:
    for namespace in _NAMESPACES:
        for name in loaded.below(f"config/pod/{namespace}/logs/", ".log"):
            for entry in loaded.text(name).splitlines():
                yield f"{name.split('/')[4]}: {line(entry, 300)}"


def _budgets(loaded: Loaded) -> Iterator[str]:
    for name in loaded.below("config/pdbs/", ".json"):
        raw = loaded.json(name)
        if name_of(raw).startswith("etcd"):
            healthy, expected = (
                integer(raw, "status", k) for k in ("currentHealthy", "expectedPods")
            )
            allowed = integer(raw, "status", "disruptionsAllowed")
            yield line(
                f"{text(raw, 'metadata', 'namespace')}/{name_of(raw)}: {healthy} of {expected} pods"
                f" healthy, {allowed} disruptions allowed"
            )


def _dumps(report: Report, loaded: Loaded) -> None:
    """Files that only other tools than the operator write; their form is not known."""
    for name in loaded.below("config/etcd/", ".json"):
        value = loaded.json(name)
        if value is not None:
            report.section(name)
            report.add(line(json.dumps(value, sort_keys=True), _MOST_DUMPED))
