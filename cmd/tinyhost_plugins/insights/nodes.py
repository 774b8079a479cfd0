"""Nodes and the pools that configure them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from .._shared.conditions import condition
from .._shared.must_gather_values import Values
from .._shared.nodes import readiness, roles, troubles
from .._shared.report import View
from .._shared.texts import counted, line
from .loading import Loaded
from .objects import conditions, integer, mapping, name_of, objects, text
from .quantities import in_bytes, size
from .report import Report

CONTROL_PLANE = {"control-plane", "master"}
# Of each kubelet log.
_MOST_MESSAGES = 3


@dataclass(frozen=True, slots=True)
class Node:
    """ready: "Ready", "NotReady" or "Unknown". troubles: pressure and the like, with reasons."""

    name: str
    ready: str
    why: str
    roles: tuple[str, ...]
    troubles: tuple[tuple[str, str], ...]
    heartbeat: str
    raw: dict[str, Any]


def read_nodes(loaded: Loaded) -> list[Node]:
    """The nodes, by name."""
    found = loaded.objects("config/node/", "config/node.json", "config/nodes.json")
    return sorted((_node(raw) for raw in found), key=lambda node: node.name)


def _node(raw: dict[str, Any]) -> Node:
    node = Values(raw)
    ready = condition(conditions(raw), "Ready")
    beats = [text(entry, "lastHeartbeatTime") for entry in objects(raw, "status", "conditions")]
    return Node(
        name_of(raw),
        readiness(node),
        ready.why() if ready.status else "it has no condition Ready",
        roles(node),
        tuple(troubles(node)),
        max(beats, default=""),
        raw,
    )


def count_roles(found: list[Node]) -> str:
    """ "3 nodes (3 control plane, 2 worker), 1 not ready"."""
    control = sum(1 for node in found if CONTROL_PLANE & set(node.roles))
    workers = sum(1 for node in found if "worker" in node.roles)
    bad = sum(1 for node in found if node.ready != "Ready")
    of_roles = f"{control} control plane, {workers} worker"
    return f"{counted(len(found), 'node')} ({of_roles}), {bad or 'none'} not ready"


@dataclass(frozen=True, slots=True)
class Pool:
    """A machine config pool. degraded: why it is, or ""."""

    name: str
    degraded: str
    row: tuple[object, ...]


def read_pools(loaded: Loaded) -> list[Pool]:
    """The machine config pools, by name."""
    return sorted(map(_pool, loaded.objects("config/machineconfigpools/")), key=lambda p: p.name)


def _pool(raw: dict[str, Any]) -> Pool:
    known = conditions(raw)
    name = name_of(raw)
    bad = condition(known, "Degraded")
    counts = (
        integer(raw, "status", key)
        for key in (
            *("machineCount", "readyMachineCount"),
            *("updatedMachineCount", "degradedMachineCount"),
        )
    )
    paused = "yes" if mapping(raw, "spec").get("paused") is True else "no"
    states = (condition(known, kind).status or "-" for kind in ("Updated", "Updating", "Degraded"))
    why = bad.why() or "no reason is given"
    return Pool(name, why if bad.status == "True" else "", (name, *states, paused, *counts))


def answer(loaded: Loaded, view: View) -> str:
    """insights_nodes."""
    found = read_nodes(loaded)
    report = Report(loaded, view, count_roles(found) if found else "This archive has no nodes.")
    if found:
        report.add("")
        report.table(
            ("NAME", "STATUS", "ROLES", "PROBLEMS", "CPU", "MEMORY", "ALLOCATABLE", "KUBELET"),
            map(_row, found),
        )
    _reasons(report, found)
    _pools(report, loaded)
    _logs(report, loaded)
    return report.text()


def _row(node: Node) -> tuple[object, ...]:
    status = mapping(node.raw, "status")
    return (
        node.name,
        node.ready,
        ",".join(node.roles) or "-",
        ",".join(kind for kind, _why in node.troubles) or "-",
        text(status, "capacity", "cpu") or "-",
        size(in_bytes(text(status, "capacity", "memory"))),
        size(in_bytes(text(status, "allocatable", "memory"))),
        text(status, "nodeInfo", "kubeletVersion") or "-",
    )


def _reasons(report: Report, found: list[Node]) -> None:
    lines = [f"{node.name}: {node.ready}: {node.why}" for node in found if node.ready != "Ready"]
    lines += [f"{node.name}: {kind}: {why}" for node in found for kind, why in node.troubles]
    if lines:
        report.section("Reasons")
        report.list(sorted(lines))


def _pools(report: Report, loaded: Loaded) -> None:
    pools = read_pools(loaded)
    if pools:
        report.section("Machine config pools")
        report.table(
            (
                *("NAME", "UPDATED", "UPDATING", "DEGRADED", "PAUSED", "MACHINECOUNT"),
                *("READYMACHINECOUNT", "UPDATEDMACHINECOUNT", "DEGRADEDMACHINECOUNT"),
            ),
            (pool.row for pool in pools),
        )
        report.list([f"{pool.name}: {pool.degraded}" for pool in pools if pool.degraded])


def _logs(report: Report, loaded: Loaded) -> None:
    """Kubelet logs are in the archive only for nodes where something was found."""
    names = loaded.below("config/node/logs/", ".log")
    if not names:
        return
    report.section("Kubelet log excerpts (the operator keeps chosen lines only)")
    for name in names[:5]:
        lines = loaded.text(name).splitlines()
        errors = [entry for entry in lines if _is_error(entry)]
        report.add(f"{name}: {counted(len(lines), 'line')}, {counted(len(errors), 'error')}")
        found = _by_message(errors)
        report.list([f"  {entry}" for entry in found[:_MOST_MESSAGES]])
        if len(found) > _MOST_MESSAGES:
            report.add(f"  {counted(len(found) - _MOST_MESSAGES, 'other message')}, less often")
    if len(names) > 5:
        report.add(f"{len(names) - 5} more files")


def _is_error(entry: str) -> bool:
    """klog's severity letter: "... kubenswrapper[2296]: E1110 14:17:41 ..."."""
    head = entry.partition("]: ")[2][:5]
    return head[:1] in ("E", "F") and head[1:].isdigit()


def _by_message(errors: list[str]) -> list[str]:
    """The messages, those that come most often first. A kubelet repeats one for as long as it holds."""
    counts: Counter[str] = Counter()
    last: dict[str, str] = {}
    for entry in errors:
        # After klog's place in the source; the time is that of the journal.
        message = entry.partition("]: ")[2].partition("] ")[2] or entry
        counts[message] += 1
        last[message] = entry[:15]
    return [
        f"{counted(count, 'time')}, last {line(last[message])}: {line(message, 600)}"
        for message, count in counts.most_common()
    ]
