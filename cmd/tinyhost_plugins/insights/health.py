"""All that is wrong with a cluster, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .._shared.conditions import condition
from .._shared.report import View
from .._shared.texts import counted, line
from .alerts import read_alerts
from .loading import Loaded
from .memory import oom_killed
from .namespaces import annotated_groups, computed_groups
from .nodes import count_roles, read_nodes, read_pools
from .objects import objects, text
from .operators import count_states, read_operators
from .pods import read_pods
from .report import Report
from .storage import storage_troubles
from .summary import (
    cluster_version,
    gather_troubles,
    version_changes,
    version_text,
    version_troubles,
)

CRITICAL, WARNING = "critical", "warning"
_OFTEN = 10
# The worst first: the reason of the first that fits is given.
_OPERATOR_TROUBLES = (
    (CRITICAL, "not available", "Available", "False"),
    (CRITICAL, "degraded", "Degraded", "True"),
    (WARNING, "perhaps not available", "Available", "Unknown"),
    (WARNING, "progressing", "Progressing", "True"),
)


def answer(loaded: Loaded, view: View) -> str:
    """insights_health."""
    found = list(issues(loaded))
    counts = Counter(severity for severity, _text in found)
    first = (
        f"{counted(len(found), 'issue')}: {counts[CRITICAL]} critical, {counts[WARNING]} warning"
    )
    nodes, operators = read_nodes(loaded), read_operators(loaded)
    tells = bool(cluster_version(loaded) or nodes or operators)
    report = Report(loaded, view, first if found else _nothing(loaded, tells))
    report.add(version_text(loaded))
    report.add(count_roles(nodes) if nodes else "no nodes in the archive")
    report.add(count_states(operators) if operators else "no cluster operators in the archive")
    for severity in (CRITICAL, WARNING):
        lines = [f"- {said}" for kind, said in found if kind == severity]
        if lines:
            report.section(f"{severity}: {len(lines)}")
            report.list(lines)
    return report.text()


def _nothing(loaded: Loaded, tells: bool) -> str:
    """What is said when there are no issues. tells: whether it has a version, nodes or operators."""
    if not tells:
        return "Too little can be read of this archive to tell whether there are issues."
    if loaded.faults or loaded.left_out:
        return "No issues found in what could be read of this archive."
    return "No issues found in this archive."


def issues(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """Each issue with its severity, on one line."""
    for said in version_troubles(loaded):
        yield CRITICAL, said
    for said in version_changes(loaded):
        yield WARNING, said
    yield from _operators(loaded)
    yield from _machines(loaded)
    yield from _alerts(loaded)
    yield from _pods(loaded)
    for said in storage_troubles(loaded):
        yield WARNING, said
    groups = len(computed_groups(loaded) or annotated_groups(loaded))
    if groups:
        said = f"{counted(groups, 'group')} of namespaces with overlapping UID ranges"
        yield WARNING, f"{said}; see insights_uid_overlap"
    yield from _events(loaded)
    for said in gather_troubles(loaded):
        yield WARNING, f"gatherer {said}"


def _operators(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """One issue for an operator, however many of its conditions are bad."""
    for operator in read_operators(loaded):
        bad = [
            (severity, word, operator.known[kind].why(300) or "no reason is given")
            for severity, word, kind, status in _OPERATOR_TROUBLES
            if condition(operator.known, kind).status == status
        ]
        if bad:
            words = " and ".join(word for _severity, word, _why in bad)
            yield bad[0][0], f"operator {operator.name} is {words}: {bad[0][2]}"
        elif operator.state == "unknown":
            yield WARNING, f"operator {operator.name} does not say whether it is available"


def _machines(loaded: Loaded) -> Iterator[tuple[str, str]]:
    for node in read_nodes(loaded):
        if node.ready != "Ready":
            yield CRITICAL, f"node {node.name} is {node.ready}: {node.why}"
        for kind, reason in node.troubles:
            yield WARNING, f"node {node.name}: {kind}: {reason}"
    for pool in read_pools(loaded):
        if pool.degraded:
            yield CRITICAL, f"machine config pool {pool.name} is degraded: {pool.degraded}"


def _alerts(loaded: Loaded) -> Iterator[tuple[str, str]]:
    silenced = 0
    for alert in read_alerts(loaded):
        if alert.firing and alert.severity in (CRITICAL, WARNING):
            yield alert.severity, f"alert {alert.line()}"
        silenced += alert.silenced and alert.severity == CRITICAL
    if silenced:
        yield WARNING, f"{counted(silenced, 'critical alert')} silenced; see insights_alerts"


def _pods(loaded: Loaded) -> Iterator[tuple[str, str]]:
    pods = read_pods(loaded)
    for container in oom_killed(pods):
        yield WARNING, line(f"OOM killed: {container.pod} {container.name}")
    for pod in pods:
        if pod.trouble:
            yield WARNING, line(f"pod {pod.name}: {pod.trouble}", 300)
    often = [c for pod in pods for c in pod.containers if c.restarts >= _OFTEN]
    if often:
        most = max(often, key=lambda c: c.restarts)
        yield (
            WARNING,
            f"{counted(len(often), 'container')} restarted {_OFTEN} times or more;"
            f" {line(f'{most.pod} {most.name}')} {most.restarts} times",
        )


def _events(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """Warnings of one reason in a namespace are one issue, with the last of their messages."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in loaded.below("events/", ".json"):
        for event in objects(loaded.json(name), "items"):
            if text(event, "type") not in ("Normal", ""):
                key = (text(event, "namespace") or name, text(event, "reason"))
                said = text(event, "lastTimestamp"), text(event, "message")
                found.setdefault(key, []).append(said)
    for (namespace, reason), all_said in sorted(found.items()):
        when, message = max(all_said)
        many = f" ({len(all_said)} times)" if len(all_said) > 1 else ""
        yield WARNING, line(f"event in {namespace}: {reason}{many}, {when}: {message}", 300)
