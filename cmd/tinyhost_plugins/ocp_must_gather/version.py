"""The version of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from .._shared.conditions import condition, conditions
from .._shared.must_gather import Resource, Values
from .._shared.texts import line
from .report import Ask, Report, nothing

GROUP = "config.openshift.io"
KIND = "ClusterVersion"


def read_version(ask: Ask) -> Resource | None:
    """The cluster version; there is one in a cluster, named "version"."""
    found = sorted(ask.mg.cluster(GROUP, "clusterversions"), key=lambda v: v.name != "version")
    return found[0] if found else None


def headline(found: Resource) -> str:
    """ "OpenShift 4.18.2, channel stable-4.18"."""
    version = line(found.text("status", "desired", "version") or "of unknown version")
    channel = line(found.text("spec", "channel") or "none")
    return f"OpenShift {version}, channel {channel}"


def troubles(found: Resource) -> Iterator[str]:
    """What is wrong with the version: failing, not available, invalid, an update that goes on."""
    known = conditions(found)
    for kind, bad in (
        *(("Failing", "True"), ("Available", "False"), ("Invalid", "True")),
        *(("RetrievedUpdates", "False"), ("Progressing", "True"), ("ReleaseAccepted", "False")),
    ):
        entry = condition(known, kind)
        if entry.status == bad:
            yield f"cluster version: {kind}={bad}: {entry.why() or 'no reason is given'}"


def answer(ask: Ask) -> str:
    """mg_cluster_version."""
    found = read_version(ask)
    if found is None:
        return Report(ask, nothing(ask, KIND)).text()
    report = Report(ask, headline(found))
    report.add(f"Cluster ID: {line(found.text('spec', 'clusterID') or 'unknown')}")
    image = found.text("status", "desired", "image") or ""
    if image:
        report.add(f"Image: {line(image.partition('@')[0])}")
    updates = found.objects("status", "availableUpdates")
    if updates:
        versions = [line(update.text("version") or "?", 40) for update in updates]
        report.add(f"Available updates: {', '.join(versions[:20])}")
    report.section("History, the newest first")
    rows = [_history(entry) for entry in found.objects("status", "history")]
    report.table(("VERSION", "STATE", "STARTED", "COMPLETED", "VERIFIED"), rows)
    report.section("Conditions")
    for entry in conditions(found).values():
        why = entry.why(ask.reason)
        report.add(f"{entry.kind}={entry.status}" + (f": {why}" if why else ""))
    return report.text()


def _history(entry: Values) -> tuple[object, ...]:
    return (
        entry.text("version") or "?",
        entry.text("state") or "?",
        entry.text("startedTime") or "-",
        entry.text("completionTime") or "not yet",
        entry.scalar("verified") or "-",
    )
