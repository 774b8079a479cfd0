"""Machine config pools, and how many machine configs there are."""

from __future__ import annotations

from dataclasses import dataclass

from .._shared.conditions import condition, conditions
from .._shared.must_gather import Resource
from .._shared.texts import counted, line
from .report import Ask, Report, nothing

GROUP = "machineconfiguration.openshift.io"


@dataclass(frozen=True, slots=True)
class Pool:
    """The counts are of machines, None where they are missing. states: true conditions, in words."""

    name: str
    total: int | None
    ready: int | None
    updated: int | None
    degraded: int | None
    is_paused: bool
    is_degraded: bool
    config: str
    states: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        return not self.is_degraded and self.total == self.ready == self.updated


def read_pools(ask: Ask) -> list[Pool]:
    """The pools by name."""
    pools = (_pool(found, ask.reason) for found in ask.mg.cluster(GROUP, "machineconfigpools"))
    return sorted(pools, key=lambda pool: pool.name)


def _pool(found: Resource, most: int) -> Pool:
    known = conditions(found)
    states = []
    for kind, entry in sorted(known.items()):
        if entry.status == "True":
            why = entry.why(most)
            states.append(f"{kind}: {why}" if why else kind)
    return Pool(
        found.name,
        found.integer("status", "machineCount"),
        found.integer("status", "readyMachineCount"),
        found.integer("status", "updatedMachineCount"),
        found.integer("status", "degradedMachineCount"),
        found.flag("spec", "paused") is True,
        condition(known, "Degraded").status == "True",
        found.text("status", "configuration", "name") or "-",
        tuple(states),
    )


def headline(found: list[Pool]) -> str:
    """ "2 machine config pools, 1 not up to date or degraded"."""
    bad = sum(not pool.is_well for pool in found)
    return (
        f"{counted(len(found), 'machine config pool')}, {bad or 'none'} not up to date or degraded"
    )


def _of(part: int | None, total: int | None) -> str:
    return f"{'?' if part is None else part}/{'?' if total is None else total}"


def answer(ask: Ask) -> str:
    """mg_machine_config."""
    pools = read_pools(ask)
    configs = [
        found.name
        for found in ask.pace.each(
            ask.mg.cluster(GROUP, "machineconfigs"), "reading machine configs"
        )
    ]
    if not pools and not configs:
        return Report(ask, nothing(ask, "machine config pools and no configs")).text()
    report = Report(ask, f"{headline(pools)}; {counted(len(configs), 'machine config')}")
    report.add("")
    report.table(
        ("POOL", "READY", "UPDATED", "DEGRADED", "PAUSED", "CONFIG"),
        (
            (
                *(pool.name, _of(pool.ready, pool.total), _of(pool.updated, pool.total)),
                *(pool.degraded, "yes" if pool.is_paused else "no", pool.config),
            )
            for pool in pools
        ),
    )
    states = [f"{pool.name}: {state}" for pool in pools for state in pool.states]
    if states:
        report.section("Conditions that are true")
        report.list(states)
    rendered = sum(name.startswith("rendered-") for name in configs)
    if configs:
        others = sorted(name for name in configs if not name.startswith("rendered-"))
        report.section(f"Machine configs: {len(configs)}, {rendered} of them rendered")
        report.add(line(", ".join(others), 2000) or "only rendered ones")
    return report.text()
