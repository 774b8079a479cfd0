"""Nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .._shared.must_gather import Resource
from .conditions import condition, conditions
from .report import Ask, Report, counted, line

_ROLE = "node-role.kubernetes.io/"
_STATE = "machineconfiguration.openshift.io/state"
_REASON = "machineconfiguration.openshift.io/reason"


@dataclass(frozen=True, slots=True)
class Node:
    """ready: "Ready", "NotReady" or "Unknown". issues: kinds of trouble with their reasons."""

    name: str
    ready: str
    why: str
    roles: tuple[str, ...]
    issues: tuple[tuple[str, str], ...]
    cpu: str
    memory: str
    kubelet: str


def read_nodes(ask: Ask) -> list[Node]:
    """The nodes by name."""
    return sorted(map(_node, ask.mg.cluster("core", "nodes")), key=lambda node: node.name)


def _node(found: Resource) -> Node:
    ready = condition(conditions(found), "Ready")
    labels = found.mapping("metadata", "labels") or {}
    return Node(
        found.name,
        {"True": "Ready", "False": "NotReady"}.get(ready.status, "Unknown"),
        ready.why or "no reason is given",
        tuple(sorted(key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE))),
        tuple(_issues(found)),
        found.scalar("status", "capacity", "cpu") or "-",
        memory(found.scalar("status", "capacity", "memory") or ""),
        found.text("status", "nodeInfo", "kubeletVersion") or "-",
    )


def _issues(found: Resource) -> Iterator[tuple[str, str]]:
    for kind, entry in conditions(found).items():
        if kind != "Ready" and entry.status not in ("False", ""):
            yield kind if entry.status == "True" else f"{kind}={entry.status}", entry.why
    if found.flag("spec", "unschedulable"):
        yield "SchedulingDisabled", "the node is cordoned"
    state = found.text("metadata", "annotations", _STATE)
    if state not in (None, "", "Done"):
        yield f"config {state}", line(found.text("metadata", "annotations", _REASON) or "")


def memory(quantity: str) -> str:
    """ "16Gi" for "16777216Ki"; other quantities as they are."""
    number = quantity.removesuffix("Ki")
    if number == quantity or not number.isascii() or not number.isdigit() or len(number) > 15:
        return quantity or "-"
    return f"{int(number) / 1024**2:.1f}".removesuffix(".0") + "Gi"


def headline(found: list[Node]) -> str:
    """ "6 nodes: 5 ready, 1 not ready"."""
    ready = sum(node.ready == "Ready" for node in found)
    return f"{counted(len(found), 'node')}: {ready} ready, {len(found) - ready or 'none'} not ready"


def answer(ask: Ask, role: str) -> str:
    """mg_nodes."""
    every = read_nodes(ask)
    if not every:
        return Report(ask, "This must-gather has no nodes.").text()
    found = [node for node in every if not role or role in node.roles]
    if not found:
        roles = sorted({name for node in every for name in node.roles})
        said = f"None of the {counted(len(every), 'node')} has the role {line(role, 60)}"
        return Report(ask, f"{said}; there are {', '.join(roles) or 'no roles'}.").text()
    of_all = f" (role {line(role, 60)}, of {len(every)} in all)" if role else ""
    report = Report(ask, headline(found) + of_all)
    report.add("")
    report.table(
        ("NAME", "STATUS", "ROLES", "ISSUES", "CPU", "MEMORY", "KUBELET"), map(_row, found)
    )
    reasons = [f"{node.name}: {node.ready}: {node.why}" for node in found if node.ready != "Ready"]
    reasons += [f"{node.name}: {kind}: {why}" for node in found for kind, why in node.issues]
    if reasons:
        report.section("Reasons")
        report.list(sorted(reasons))
    return report.text()


def _row(node: Node) -> tuple[object, ...]:
    issues = ",".join(kind for kind, _why in node.issues)
    roles = ",".join(node.roles)
    return node.name, node.ready, roles or "-", issues or "-", node.cpu, node.memory, node.kubelet
