"""Events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from .._shared.matching import Matcher
from .._shared.must_gather import Resource
from .._shared.texts import counted, line
from .namespaces import in_namespaces
from .report import Ask, Report, nothing

_MESSAGE = 120


@dataclass(frozen=True, slots=True)
class Event:
    """last: when it was seen last, as the event says. target: what it is about, "Pod/x"."""

    kind: str
    namespace: str
    reason: str
    count: int
    last: str
    target: str
    message: str


def read_events(ask: Ask, namespace: str) -> list[Event]:
    """Warnings first, then by how often they were seen, then the newest."""
    events = [_event(found) for found in ask.pace.each(_found(ask, namespace), "reading events")]
    events.sort(key=lambda e: (e.namespace, e.reason, e.target, e.message))
    events.sort(key=lambda e: e.last, reverse=True)
    events.sort(key=lambda e: (e.kind != "Warning", -e.count))
    return events


def _found(ask: Ask, namespace: str) -> Iterator[Resource]:
    """The events of both groups that serve them; they have the same names in both."""
    seen: set[tuple[str, str]] = set()
    for found in chain(
        in_namespaces(ask, namespace, "core", "events"),
        in_namespaces(ask, namespace, "events.k8s.io", "events"),
    ):
        key = (found.namespace, found.name)
        if key not in seen or not found.name:
            seen.add(key)
            yield found


def _event(found: Resource) -> Event:
    about = found.values("involvedObject")
    if not about.raw:
        about = found.values("regarding")
    counts = (
        found.integer("count"),
        found.integer("series", "count"),
        found.integer("deprecatedCount"),
    )
    times = (
        found.text("series", "lastObservedTime"),
        *(found.text(key) for key in ("lastTimestamp", "eventTime", "deprecatedLastTimestamp")),
        found.text("metadata", "creationTimestamp"),
    )
    return Event(
        found.text("type") or "-",
        found.namespace,
        found.text("reason") or "-",
        max((count for count in counts if count is not None), default=1),
        next(filter(None, times), "-"),
        f"{about.text('kind') or '?'}/{about.text('name') or '?'}",
        found.text("message") or found.text("note") or "",
    )


def answer(ask: Ask, namespace: str, kind: str, reason: str) -> str:
    """mg_events."""
    every = read_events(ask, namespace)
    where = f" in {line(namespace, 70)}" if namespace else ""
    if not every:
        return Report(ask, nothing(ask, f"events{where}")).text()
    found = [e for e in every if not kind or e.kind.casefold() == kind.casefold()]
    if reason:
        with Matcher(reason, "reason", ask.pace, any_case=True) as matcher:
            found = list(matcher.select(found, lambda event: event.reason))
    warnings = sum(event.kind == "Warning" for event in every)
    of_all = f"{counted(len(every), 'event')}{where}, {warnings or 'none'} of them warnings"
    if kind or reason:
        of_all = f"{len(found) or 'None'} of {of_all}, as asked"
    report = Report(ask, of_all)
    if found:
        report.section("Type, how often, when last, namespace, object, reason: message")
        most = ask.at_most(_MESSAGE)
        report.list([_line(event, most) for event in found])
    return report.text()


def _line(event: Event, most: int) -> str:
    about = f"{event.namespace} {event.target} {event.reason}: {line(event.message, most)}"
    return f"{event.kind} {event.count}x {event.last[:19]} {about}"
