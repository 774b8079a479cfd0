"""Namespaces whose ranges of user ids overlap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._shared.report import View
from .._shared.texts import counted, line
from .loading import Loaded
from .objects import name_of, text
from .report import Report

COMPUTED = "config/namespaces_with_overlapping_uids.json"
_LISTS = ("config/namespace.json", "config/namespaces.json")
_RANGE = "openshift.io/sa.scc.uid-range"
_LONGEST = 40


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The ids from first to last, both included."""

    first: int
    last: int
    namespace: str
    given: str


def computed_groups(loaded: Loaded) -> list[list[str]] | None:
    """The groups that the operator has found itself; None when the archive does not say."""
    value = loaded.json(COMPUTED)
    if COMPUTED not in loaded.content or COMPUTED in loaded.faults:
        return None
    groups = value if isinstance(value, list) else []
    named = [
        sorted(name for name in group if isinstance(name, str))
        for group in groups
        if isinstance(group, list)
    ]
    return sorted(group for group in named if group)


def parse_range(namespace: str, given: str) -> Range | None:
    """ "1000650000/10000" (first and how many) or "1000-2000" (first and last); None for others."""
    for sign in ("/", "-"):
        first, found, second = given.strip().partition(sign)
        if found and len(given) <= _LONGEST and _whole(first) and _whole(second):
            start, other = int(first), int(second)
            last = start + other - 1 if sign == "/" else other
            return Range(start, last, namespace, given.strip()) if last >= start else None
    return None


def _whole(digits: str) -> bool:
    return digits.isascii() and digits.isdigit()


def overlapping(ranges: Iterable[Range]) -> list[list[Range]]:
    """Groups of ranges that overlap, each directly or through others of its group."""
    groups: list[list[Range]] = []
    last = -1
    for found in sorted(ranges):
        if groups and found.first <= last:
            groups[-1].append(found)
        else:
            groups.append([found])
            last = -1
        last = max(last, found.last)
    return [group for group in groups if len(group) > 1]


def annotated_groups(loaded: Loaded) -> list[list[Range]]:
    """The groups by the annotations of the namespaces, where the archive has these."""
    return overlapping(_ranges(_annotations(loaded)))


def _annotations(loaded: Loaded) -> dict[str, str]:
    raw = loaded.objects("config/namespace/", *_LISTS)
    return {name_of(space): text(space, "metadata", "annotations", _RANGE) for space in raw}


def _ranges(given: dict[str, str]) -> list[Range]:
    return [found for name, value in given.items() if (found := parse_range(name, value))]


def answer(loaded: Loaded, view: View) -> str:
    """insights_uid_overlap."""
    computed = computed_groups(loaded)
    given = _annotations(loaded)
    if computed is None and not given:
        return Report(
            loaded,
            view,
            f"This archive says nothing about UID ranges: it has neither {COMPUTED}"
            " (which the operator writes since OpenShift 4.11) nor namespaces.",
        ).text()
    ranges = _ranges(given)
    groups = overlapping(ranges)
    report = Report(loaded, view, _first(computed, groups))
    if computed:
        report.section(f"As the operator has found ({COMPUTED}); within a group all overlap")
        report.list([f"- {line(', '.join(group), 1000)}" for group in computed])
    if given:
        report.section(f"From the annotation {_RANGE} of {len(given)} namespaces")
        report.list([f"- {_group(group)}" for group in groups] or ["no ranges overlap"])
        _unusable(report, given, {found.namespace for found in ranges})
    if computed or groups:
        report.section(
            "Pods of such namespaces may run with the same user id, so one can read what the other"
            " keeps on a shared volume or host path."
        )
    return report.text()


def _first(computed: list[list[str]] | None, groups: list[list[Range]]) -> str:
    names = {name for group in computed or [] for name in group}
    names |= {found.namespace for group in groups for found in group}
    if not names:
        return "No namespaces have overlapping UID ranges."
    count = max(len(computed or []), len(groups))
    return f"{len(names)} namespaces have overlapping UID ranges, in {counted(count, 'group')}"


def _group(group: list[Range]) -> str:
    return line(", ".join(f"{found.namespace} {found.given}" for found in group), 1000)


def _unusable(report: Report, given: dict[str, str], usable: set[str]) -> None:
    without = sum(1 for value in given.values() if not value)
    if without:
        report.add(f"without the annotation: {counted(without, 'namespace')}")
    odd = [f"{name} {value}" for name, value in given.items() if value and name not in usable]
    if odd:
        report.add(line(f"with one that is no range: {', '.join(sorted(odd))}", 500))
