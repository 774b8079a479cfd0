"""What cluster this is, and what the archive holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .._shared.conditions import condition
from .._shared.report import View
from .._shared.texts import counted, line
from .alerts import count_severities, not_known, read_alerts
from .loading import Loaded
from .nodes import count_roles, read_nodes, read_pools
from .objects import conditions, get, mapping, objects, text
from .operators import count_states, read_operators, why
from .pods import read_pods
from .report import Report
from .storage import read_classes, read_volumes

_VERSIONS = ("config/version.json", "config/clusterversion.json")
_GATHERS, _REPORTS = "insights-operator/gathers.json", "status_reports"


def cluster_version(loaded: Loaded) -> dict[str, Any]:
    """The ClusterVersion object, empty when there is none."""
    return next(loaded.objects("config/clusterversion/", *_VERSIONS), {})


def version_text(loaded: Loaded) -> str:
    """ "OpenShift 4.7.16", or that the version is not known."""
    version = text(cluster_version(loaded), "status", "desired", "version")
    return f"OpenShift {line(version, 60)}" if version else "OpenShift of an unknown version"


def cluster_id(loaded: Loaded) -> str:
    """Of the ClusterVersion, else of the file config/id; "" when neither is there."""
    found = text(cluster_version(loaded), "spec", "clusterID") or loaded.text("config/id").strip()
    return line(found, 60)


def version_troubles(loaded: Loaded) -> list[str]:
    """What the ClusterVersion says is wrong, one line for each."""
    return _version_conditions(
        loaded,
        *(("Failing", "True"), ("Available", "False"), ("Invalid", "True")),
        # The release that was asked for has not been taken: no valid signature, for example.
        ("ReleaseAccepted", "False"),
    )


def version_changes(loaded: Loaded) -> list[str]:
    """That the cluster is on its way to another version, one line at most."""
    return _version_conditions(loaded, ("Progressing", "True"))


def _version_conditions(loaded: Loaded, *looked_for: tuple[str, str]) -> list[str]:
    known = conditions(cluster_version(loaded))
    return [
        f"cluster version: {kind}={status}: {known[kind].why(300)}"
        for kind, status in looked_for
        if condition(known, kind).status == status
    ]


def gather_troubles(loaded: Loaded) -> list[str]:
    """The gatherers that failed or panicked, one line for each."""
    lines = []
    for entry in objects(loaded.json(_GATHERS), _REPORTS):
        panic = entry.get("panic")
        said = [str(panic)] if panic else get(entry, "errors")
        if isinstance(said, list) and said:
            word = "panicked" if panic else "failed"
            lines.append(line(f"{text(entry, 'name')} {word}: {'; '.join(map(str, said))}", 300))
    return sorted(lines)


def answer(loaded: Loaded, view: View) -> str:
    """insights_summary."""
    version = cluster_version(loaded)
    first = f"{version_text(loaded)}, cluster {cluster_id(loaded) or 'without an id'}"
    report = Report(loaded, view, first)
    for title, value in _facts(loaded, version):
        if value:
            report.add(f"{title}: {line(value, 300)}")
    report.section("State")
    for value in _states(loaded):
        report.add(value)
    operators = read_operators(loaded)
    for title, lines in (
        ("The cluster version says", _version_lines(version)),
        ("History (newest first)", _history(version)),
        ("Operators that are not available", why(operators, "Available", "False")),
        ("Operators that are degraded", why(operators, "Degraded", "True")),
        ("Gatherers that failed, so that data is missing", gather_troubles(loaded)),
    ):
        if lines:
            report.section(title)
            report.list(lines)
    return report.text()


def _facts(loaded: Loaded, version: dict[str, Any]) -> Iterator[tuple[str, str]]:
    status = mapping(next(loaded.objects("", "config/infrastructure.json"), {}), "status")
    network = next(loaded.objects("", "config/network.json"), {})
    yield "Channel", text(version, "spec", "channel") or "none"
    updates = [text(update, "version") for update in objects(version, "status", "availableUpdates")]
    yield "Available updates", ", ".join(updates[-10:])
    yield "Platform", text(status, "platformStatus", "type") or text(status, "platform")
    yield "Infrastructure name", text(status, "infrastructureName")
    yield "Control plane", text(status, "controlPlaneTopology")
    yield "API", text(status, "apiServerURL")
    found = mapping(network, "status") or mapping(network, "spec")
    blocks = [text(block, "cidr") for block in objects(found, "clusterNetwork")]
    services = found.get("serviceNetwork")
    blocks += [str(block) for block in services] if isinstance(services, list) else []
    yield "Network", " ".join([text(found, "networkType"), *blocks]).strip()
    other, known = loaded.text("config/id").strip(), text(version, "spec", "clusterID")
    if other and known and other != known:
        yield "config/id differs", f"{other}; parts may be of different clusters"
    beats = max((node.heartbeat for node in read_nodes(loaded)), default="")
    yield "Last node heartbeat", beats


def _states(loaded: Loaded) -> Iterator[str]:
    nodes, operators = read_nodes(loaded), read_operators(loaded)
    pods, alerts = read_pods(loaded), read_alerts(loaded)
    firing = [alert for alert in alerts if alert.firing]
    yield count_roles(nodes) if nodes else "no nodes in the archive"
    yield count_states(operators) if operators else "no cluster operators in the archive"
    bad = [pod.name for pod in read_pools(loaded) if pod.degraded]
    if bad:
        yield line(f"machine config pools degraded: {', '.join(bad)}")
    phases = Counter(pod.phase or "unknown" for pod in pods)
    by_phase = ", ".join(f"{count} {phase}" for phase, count in sorted(phases.items()))
    yield line(f"{len(pods)} pods gathered ({by_phase})" if pods else "no pods in the archive")
    yield not_known(loaded, alerts) or (
        f"{counted(len(firing), 'alert fires', 'alerts fire')}"
        + (f": {count_severities(firing)}" if firing else "")
    )


def _version_lines(version: dict[str, Any]) -> list[str]:
    lines = []
    for kind, found in conditions(version).items():
        normal = "False" if kind in ("Failing", "Progressing", "Invalid") else "True"
        if found.status != normal and not kind.startswith("Implicit"):
            lines.append(f"{kind}={found.status}: {found.why(600)}")
    return sorted(lines)


def _history(version: dict[str, Any]) -> list[str]:
    return [
        line(
            f"{text(entry, 'version')} {text(entry, 'state')} {text(entry, 'startedTime')}"
            f" to {text(entry, 'completionTime') or 'now'}"
        )
        for entry in objects(version, "status", "history")[:5]
    ]


def after_loading(loaded: Loaded, view: View) -> str:
    """insights_use: what has been found."""
    first = f"Loaded {loaded.path.name}: {version_text(loaded)}, {counted(loaded.count, 'file')}"
    report = Report(loaded, view, first)
    report.add(f"Cluster: {cluster_id(loaded) or 'no id in the archive'}")
    where = f"below {line(loaded.root.rstrip('/'))} in the archive" if loaded.root else "at its top"
    report.add(f"Archive: {loaded.path}, config is {where}; nothing was unpacked to disk")
    if loaded.other_roots:
        report.add(f"Not looked at: {line(', '.join(loaded.other_roots))}")
    report.section("Found")
    report.table(("WHAT", "COUNT", "TOOL"), _inventory(loaded))
    for title, lines in (
        ("Gatherers that failed, so that data is missing", gather_troubles(loaded)),
        ("Odd about the file", _odd(loaded)),
    ):
        if lines:
            report.section(title)
            report.list(lines)
    return report.text()


def _inventory(loaded: Loaded) -> list[tuple[str, int, str]]:
    alerts = read_alerts(loaded)
    events = sum(
        len(objects(loaded.json(name), "items")) for name in loaded.below("events/", ".json")
    )
    return [
        ("nodes", len(read_nodes(loaded)), "insights_nodes"),
        ("cluster operators", len(read_operators(loaded)), "insights_operators"),
        ("pods, not well or restarted", len(read_pods(loaded)), "insights_memory, insights_health"),
        ("alerts firing", sum(1 for a in alerts if a.firing), "insights_alerts"),
        ("alerts silenced", sum(1 for a in alerts if not a.firing), "insights_alerts"),
        (
            "storage classes",
            len(read_classes(loaded)),
            "insights_storage",
        ),
        ("persistent volumes", len(read_volumes(loaded)), "insights_storage"),
        ("events", events, "insights_etcd, insights_memory"),
        ("metric lines", loaded.text("config/metrics").count("\n"), "insights_memory"),
        ("gatherers run", _gatherers(loaded), "insights_summary"),
    ]


def _gatherers(loaded: Loaded) -> int:
    """Those that have a name of their own; the entries of whole groups have no slash."""
    return sum("/" in text(entry, "name") for entry in objects(loaded.json(_GATHERS), _REPORTS))


def _odd(loaded: Loaded) -> list[str]:
    lines = list(loaded.notes)
    if loaded.skipped_count:
        lines.append(f"Skipped: {counted(loaded.skipped_count, 'entry', 'entries')}")
        lines += [f"  {line(found.name)}: {found.reason}" for found in loaded.skipped]
    return lines
