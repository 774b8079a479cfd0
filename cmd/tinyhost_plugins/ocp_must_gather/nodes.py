"""Nodes."""

from __future__ import annotations

from dataclasses import dataclass

from .._shared.conditions import condition, conditions
from .._shared.must_gather import Resource
from .._shared.nodes import readiness, roles, troubles
from .._shared.texts import counted, line
from .report import Ask, Report, nothing


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
    nodes = (_node(found, ask.reason) for found in ask.mg.cluster("core", "nodes"))
    return sorted(nodes, key=lambda node: node.name)


def _node(found: Resource, most: int) -> Node:
    ready = condition(conditions(found), "Ready")
    return Node(
        found.name,
        readiness(found),
        ready.why(most) or "no reason is given",
        roles(found),
        tuple(troubles(found)),
        found.scalar("status", "capacity", "cpu") or "-",
        memory(found.scalar("status", "capacity", "memory") or ""),
        found.text("status", "nodeInfo", "kubeletVersion") or "-",
    )


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
        return Report(ask, nothing(ask, "nodes")).text()
    found = [node for node in every if not role or role in node.roles]
    if not found:
        known = sorted({name for node in every for name in node.roles})
        said = f"None of the {counted(len(every), 'node')} has the role {line(role, 60)}"
        return Report(ask, f"{said}; there are {', '.join(known) or 'no roles'}.").text()
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
    named = ",".join(node.roles)
    return node.name, node.ready, named or "-", issues or "-", node.cpu, node.memory, node.kubelet
