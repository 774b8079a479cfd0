"""Cluster operators."""

from __future__ import annotations

from dataclasses import dataclass

from .._shared.conditions import Condition, condition, conditions
from .._shared.must_gather import Resource
from .._shared.texts import counted
from .report import Ask, Report, nothing
from .version import GROUP

_GOOD = {"Available": "True", "Degraded": "False", "Progressing": "False", "Upgradeable": "True"}


@dataclass(frozen=True, slots=True)
class Operator:
    """known: its conditions by type. version: that of the operator itself."""

    name: str
    version: str
    known: dict[str, Condition]

    def status(self, kind: str) -> str:
        """ "True", "False", "Unknown", or "-" when it is not said."""
        return condition(self.known, kind).status or "-"

    @property
    def is_degraded(self) -> bool:
        return self.status("Degraded") == "True"

    @property
    def is_unavailable(self) -> bool:
        return self.status("Available") != "True"

    @property
    def is_progressing(self) -> bool:
        return self.status("Progressing") == "True"

    def reasons(self, most: int) -> list[str]:
        """Why it is not as it should be. most: characters of each reason."""
        return [
            f"{self.name}: {kind}={entry.status}: {entry.why(most) or 'no reason is given'}"
            for kind, good in _GOOD.items()
            if (entry := condition(self.known, kind)).status not in ("", good)
        ]


def read_operators(ask: Ask) -> list[Operator]:
    """The operators, those in trouble first, then by name."""
    found = map(_operator, ask.mg.cluster(GROUP, "clusteroperators"))
    return sorted(
        found, key=lambda o: (not o.is_degraded, not o.is_unavailable, not o.is_progressing, o.name)
    )


def _operator(found: Resource) -> Operator:
    versions = {v.text("name"): v.text("version") for v in found.objects("status", "versions")}
    return Operator(found.name, versions.get("operator") or "-", conditions(found))


def headline(found: list[Operator]) -> str:
    """ "33 operators: 31 healthy, 1 degraded, 1 unavailable, 2 progressing".

    Healthy ones are available and not degraded; they may be progressing.
    """
    healthy = sum(not o.is_degraded and not o.is_unavailable for o in found)
    counts = (
        f"{healthy} healthy",
        f"{sum(o.is_degraded for o in found)} degraded",
        f"{sum(o.is_unavailable for o in found)} unavailable",
        f"{sum(o.is_progressing for o in found)} progressing",
    )
    return f"{counted(len(found), 'operator')}: {', '.join(counts)}"


def answer(ask: Ask) -> str:
    """mg_operators."""
    found = read_operators(ask)
    if not found:
        return Report(ask, nothing(ask, "cluster operators")).text()
    report = Report(ask, headline(found))
    report.add("")
    kinds = ("Available", "Degraded", "Progressing")
    report.table(
        ("NAME", *map(str.upper, kinds), "VERSION"),
        ((o.name, *map(o.status, kinds), o.version) for o in found),
    )
    reasons = [reason for operator in found for reason in operator.reasons(ask.reason)]
    if reasons:
        report.section("Reasons")
        report.list(reasons)
    return report.text()
