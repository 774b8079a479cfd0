"""Cluster operators and the version of the cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._shared.conditions import Condition, condition
from .._shared.report import View
from .._shared.texts import counted
from .loading import Loaded
from .objects import conditions, name_of, objects, text
from .report import Report

# From bad to good; an operator is counted once, under the first that fits.
STATES = ("unavailable", "degraded", "unknown", "progressing", "available")


@dataclass(frozen=True, slots=True)
class Operator:
    """state: one of STATES. version: of its entry "operator", as it reports it."""

    name: str
    version: str
    state: str
    known: Mapping[str, Condition]
    raw: dict[str, Any]


def read_operators(loaded: Loaded) -> list[Operator]:
    """The cluster operators, by name."""
    found = loaded.objects(
        *("config/clusteroperator/", "config/clusteroperator.json", "config/clusteroperators.json")
    )
    return sorted(map(_operator, found), key=lambda operator: operator.name)


def _operator(raw: dict[str, Any]) -> Operator:
    known = conditions(raw)
    versions = {text(v, "name"): text(v, "version") for v in objects(raw, "status", "versions")}
    return Operator(name_of(raw), versions.get("operator", ""), _state(known), known, raw)


def _state(known: Mapping[str, Condition]) -> str:
    available = condition(known, "Available").status
    if available == "False":
        return "unavailable"
    if condition(known, "Degraded").status == "True":
        return "degraded"
    if available != "True":
        return "unknown"
    return "progressing" if condition(known, "Progressing").status == "True" else "available"


def count_states(found: list[Operator]) -> str:
    """ "31 cluster operators: 1 degraded, 30 available"."""
    counts = Counter(operator.state for operator in found)
    parts = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    return f"{counted(len(found), 'cluster operator')}: {', '.join(parts)}"


def answer(loaded: Loaded, view: View) -> str:
    """insights_operators."""
    found = read_operators(loaded)
    if not found:
        return Report(loaded, view, "This archive has no cluster operators.").text()
    report = Report(loaded, view, count_states(found))
    report.add("")
    report.table(
        ("NAME", "AVAILABLE", "DEGRADED", "PROGRESSING", "UPGRADEABLE", "VERSION"),
        (_row(operator) for operator in found),
    )
    for title, kind, bad in (
        ("Not available", "Available", "False"),
        ("Not known whether available", "Available", "Unknown"),
        ("Degraded", "Degraded", "True"),
        ("Progressing", "Progressing", "True"),
        ("Not upgradeable", "Upgradeable", "False"),
    ):
        lines = why(found, kind, bad, 1000)
        if lines:
            report.section(title)
            report.list(lines)
    return report.text()


def why(found: list[Operator], kind: str, bad: str, most: int = 300) -> list[str]:
    """The operators with this status of a condition, each with its reason."""
    return [
        f"{operator.name}: {operator.known[kind].why(most) or 'no reason is given'}"
        for operator in found
        if condition(operator.known, kind).status == bad
    ]


def _row(operator: Operator) -> tuple[object, ...]:
    kinds = ("Available", "Degraded", "Progressing", "Upgradeable")
    states = (condition(operator.known, kind).status or "-" for kind in kinds)
    return (operator.name, *states, operator.version or "-")
