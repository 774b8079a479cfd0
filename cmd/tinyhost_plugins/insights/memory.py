"""Memory: what was killed for it, what asks for nearly all it may have, and what is used."""

from __future__ import annotations

from collections.abc import Iterator

from .._shared.conditions import condition
from .._shared.report import View
from .._shared.texts import counted, line
from .loading import Loaded
from .metrics import samples
from .nodes import read_nodes
from .objects import conditions, mapping, objects, text
from .pods import Container, Pod, read_pods
from .quantities import in_bytes, size
from .report import Report

DEFAULT_THRESHOLD = 80
_USAGE = "namespace:container_memory_usage_bytes:sum"
_WORDS = ("oom-kill", "oomkill", "out of memory", "systemoom", "oom_kill")


def answer(loaded: Loaded, view: View, threshold: int) -> str:
    """insights_memory. threshold: percent of the limit; 0 is the default."""
    threshold = threshold or DEFAULT_THRESHOLD
    pods = read_pods(loaded)
    containers = [container for pod in pods for container in pod.containers]
    killed = [c for c in containers if c.oom_killed]
    tight = sorted(_tight(containers, threshold), key=lambda pair: (-pair[0], _label(pair[1])))
    report = Report(
        loaded,
        view,
        f"{counted(len(killed), 'OOM-killed container')}, {len(tight)} with a request of at least"
        f" {threshold}% of the limit, among {counted(len(containers), 'container')} of"
        f" {counted(len(pods), 'pod')}",
    )
    report.add(
        "The operator gathers only pods that are not well or have restarted; others are missing."
    )
    _killed(report, killed, [c for c in containers if c.killed])
    _requests(report, tight, threshold, containers)
    _usage(report, loaded)
    _nodes(report, loaded)
    _mentions(report, loaded)
    return report.text()


def oom_killed(pods: list[Pod]) -> list[Container]:
    """The containers that were ended for memory."""
    return [c for pod in pods for c in pod.containers if c.oom_killed]


def _tight(containers: list[Container], threshold: int) -> Iterator[tuple[float, Container]]:
    for c in containers:
        if c.request is not None and c.limit:
            percent = 100 * c.request / c.limit
            if percent >= threshold:
                yield percent, c


def _label(container: Container) -> str:
    return f"{container.pod} {container.name}"


def _killed(report: Report, killed: list[Container], maybe: list[Container]) -> None:
    for title, found in (
        ("OOM-killed containers", killed),
        ("Ended by SIGKILL (exit code 137), which may have been for memory", maybe),
    ):
        if found:
            report.section(title)
            report.table(
                ("POD", "CONTAINER", "WHEN", "RESTARTS", "REQUEST", "LIMIT"),
                (
                    (
                        *(c.pod, c.name, _when(c), c.restarts, size(c.request)),
                        size(c.limit),
                    )
                    for c in found
                ),
            )


def _when(container: Container) -> str:
    ends = {when for when, reason, code in container.ends if reason == "OOMKilled" or code == 137}
    return "now" if "now" in ends else "last run"


def _requests(
    report: Report,
    tight: list[tuple[float, Container]],
    threshold: int,
    containers: list[Container],
) -> None:
    if tight:
        report.section(f"Requests of at least {threshold}% of the limit (not usage)")
        report.table(
            ("POD", "CONTAINER", "PERCENT", "REQUEST", "LIMIT"),
            (
                (c.pod, c.name, f"{percent:.0f}%", size(c.request), size(c.limit))
                for percent, c in tight
            ),
        )
    limited = sum(1 for c in containers if c.limit)
    if containers:
        report.section(f"{limited} of {len(containers)} containers have a memory limit")


def _usage(report: Report, loaded: Loaded) -> None:
    used: dict[str, float] = {}
    for sample in samples(loaded, _USAGE):
        name = sample.labels.get("namespace", "?")
        used[name] = max(used.get(name, 0), sample.value)
    report.section("Memory used by namespace, when the metrics were gathered")
    if not used:
        report.add(f"The archive has no samples of {_USAGE} in config/metrics.")
        return
    rows = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    report.table(("NAMESPACE", "USED"), ((name, size(int(value))) for name, value in rows))


def _nodes(report: Report, loaded: Loaded) -> None:
    nodes = read_nodes(loaded)
    if not nodes:
        return
    report.section("Nodes")
    rows = []
    for node in nodes:
        pressure = condition(conditions(node.raw), "MemoryPressure").status or "-"
        status = mapping(node.raw, "status")
        memory = (
            size(in_bytes(text(status, key, "memory"))) for key in ("capacity", "allocatable")
        )
        rows.append((node.name, pressure, *memory))
    report.table(("NAME", "MEMORY PRESSURE", "CAPACITY", "ALLOCATABLE"), rows)


def _mentions(report: Report, loaded: Loaded) -> None:
    """Events and log lines that speak of memory that ran out."""
    found: list[str] = []
    for name in loaded.below("events/", ".json"):
        for event in objects(loaded.json(name), "items"):
            said = f"{text(event, 'reason')}: {text(event, 'message')}"
            if _speaks(said):
                found.append(f"{name}: {text(event, 'lastTimestamp')} {line(said)}")
    for name in loaded.below("config/node/logs/", ".log"):
        entries = loaded.text(name).splitlines()
        found += [f"{name}: {line(entry, 300)}" for entry in entries if _speaks(entry)]
    if found:
        report.section("Events and kubelet log lines about memory that ran out")
        report.list(found)


def _speaks(said: str) -> bool:
    lower = said.lower()
    return any(word in lower for word in _WORDS)
