"""Storage classes, volumes, claims, and what OpenShift Data Foundation says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .._shared.report import View
from .._shared.texts import counted, line
from .loading import Loaded
from .objects import conditions, get, mapping, name_of, text
from .operators import count_states, read_operators
from .quantities import in_bytes, size
from .report import Report

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_BETA_DEFAULT = "storageclass.beta.kubernetes.io/is-default-class"
_OPERATORS = ("csi-snapshot-controller", "storage")
_FOLDER = "config/storage/"
_GOOD_HEALTH = ("", "HEALTH_OK")
_GOOD_PHASES = ("", "Ready", "Connected")
# The status with which a condition of a Ceph or storage cluster tells of trouble.
_BAD = {
    "Available": "False",
    "Degraded": "True",
    "Failure": "True",
    "Progressing": "True",
    "Ready": "False",
    "ReconcileComplete": "False",
}


def answer(loaded: Loaded, view: View) -> str:
    """insights_storage."""
    classes = read_classes(loaded)
    volumes = read_volumes(loaded)
    claims = _claims(loaded)
    clusters = list(_odf(loaded))
    report = Report(
        loaded,
        view,
        f"{counted(len(classes), 'storage class', 'storage classes')},"
        f" {counted(len(volumes), 'persistent volume')}, {counted(len(claims), 'claim')},"
        f" {counted(len(clusters), 'Ceph or storage cluster')} in this archive",
    )
    _show_classes(report, classes)
    _show_volumes(report, volumes)
    _show_claims(report, claims, volumes)
    _show_clusters(report, clusters)
    found = [operator for operator in read_operators(loaded) if operator.name in _OPERATORS]
    if found:
        report.section(count_states(found) + f" ({', '.join(o.name for o in found)})")
    return report.text()


def storage_troubles(loaded: Loaded) -> list[str]:
    """Volumes, claims, Ceph and storage clusters that are not well, one line each."""
    lost = [
        (f"persistent volume {name_of(raw)}", raw)
        for raw in read_volumes(loaded)
        if text(raw, "status", "phase") == "Failed"
    ] + [
        (f"claim {text(raw, 'metadata', 'namespace')}/{name_of(raw)}", raw)
        for raw in _claims(loaded)
        if text(raw, "status", "phase") == "Lost"
    ]
    lines = [
        line(f"{what} is {text(raw, 'status', 'phase')}: {_why(raw)}".removesuffix(": "), 300)
        for what, raw in lost
    ]
    return lines + [
        f"{kind} {name}: {trouble}" for kind, name, _phase, _v, trouble in _odf(loaded) if trouble
    ]


def _why(raw: dict[str, Any]) -> str:
    return ": ".join(filter(None, (text(raw, "status", key) for key in ("reason", "message"))))


def _lists(name: str) -> tuple[str, ...]:
    return f"config/{name}.json", f"config/{name}s.json", f"config/storage/{name}s.json"


def _sorted(loaded: Loaded, folder: str, *lists: str) -> list[dict[str, Any]]:
    def place(raw: dict[str, Any]) -> tuple[str, str]:
        return text(raw, "metadata", "namespace"), name_of(raw)

    return sorted(loaded.objects(folder, *lists), key=place)


def read_classes(loaded: Loaded) -> list[dict[str, Any]]:
    """The storage classes, by name."""
    lists = ("config/storage/storageclasses.json", "config/storageclass.json")
    return _sorted(loaded, "config/storage/storageclasses/", *lists, "config/storageclasses.json")


def read_volumes(loaded: Loaded) -> list[dict[str, Any]]:
    """The persistent volumes, by name."""
    return _sorted(loaded, "config/persistentvolumes/", *_lists("persistentvolume"))


def _claims(loaded: Loaded) -> list[dict[str, Any]]:
    return _sorted(loaded, "config/persistentvolumeclaims/", *_lists("persistentvolumeclaim"))


def _show_classes(report: Report, classes: list[dict[str, Any]]) -> None:
    report.section("Storage classes")
    if not classes:
        report.add("none in the archive")
        return
    report.table(
        ("NAME", "DEFAULT", "PROVISIONER", "RECLAIM", "BINDING", "EXPANSION"),
        (
            (
                name_of(raw),
                "yes" if _is_default(raw) else "",
                text(raw, "provisioner"),
                text(raw, "reclaimPolicy"),
                text(raw, "volumeBindingMode"),
                text(raw, "allowVolumeExpansion"),
            )
            for raw in classes
        ),
    )
    defaults = sum(map(_is_default, classes))
    if defaults != 1:
        report.add(f"{defaults} of them are the default class; there should be one")


def _is_default(raw: dict[str, Any]) -> bool:
    notes = mapping(raw, "metadata", "annotations")
    return "true" in (text(notes, _DEFAULT), text(notes, _BETA_DEFAULT))


def _show_volumes(report: Report, volumes: list[dict[str, Any]]) -> None:
    sizes = [in_bytes(get(raw, "spec", "capacity", "storage")) for raw in volumes]
    total = f", {size(sum(filter(None, sizes)))} in all" if volumes else ""
    report.section(f"Persistent volumes: {_phases(volumes)}{total}")
    if volumes:
        report.table(
            ("NAME", "CAPACITY", "PHASE", "CLASS", "RECLAIM", "CLAIM"),
            (
                (
                    name_of(raw),
                    size(capacity),
                    text(raw, "status", "phase") or "-",
                    text(raw, "spec", "storageClassName") or "-",
                    text(raw, "spec", "persistentVolumeReclaimPolicy") or "-",
                    _claim(raw) or "-",
                )
                for raw, capacity in zip(volumes, sizes, strict=True)
            ),
        )


def _claim(raw: dict[str, Any]) -> str:
    found = mapping(raw, "spec", "claimRef")
    return f"{text(found, 'namespace')}/{text(found, 'name')}" if found else ""


def _phases(found: list[dict[str, Any]]) -> str:
    counts = Counter(text(raw, "status", "phase") or "without a phase" for raw in found)
    parts = [f"{count} {line(phase, 40)}" for phase, count in sorted(counts.items())]
    return ", ".join(parts) or "none in the archive"


def _show_claims(
    report: Report, claims: list[dict[str, Any]], volumes: list[dict[str, Any]]
) -> None:
    if not claims:
        bound = sum(1 for raw in volumes if _claim(raw))
        named = f"the volumes above name {bound or 'none'}"
        report.section(f"Claims: none in the archive; {named}")
        return
    report.section(f"Claims: {_phases(claims)}")
    report.table(
        ("NAMESPACE", "NAME", "PHASE", "CAPACITY", "CLASS", "VOLUME"),
        (
            (
                text(raw, "metadata", "namespace"),
                name_of(raw),
                text(raw, "status", "phase") or "-",
                size(in_bytes(get(raw, "status", "capacity", "storage"))),
                text(raw, "spec", "storageClassName") or "-",
                text(raw, "spec", "volumeName") or "-",
            )
            for raw in claims
        ),
    )


def _odf(loaded: Loaded) -> Iterator[tuple[str, str, str, str, str]]:
    """Kind, namespace/name, phase, version and trouble of each cluster of Data Foundation."""
    for name in loaded.below(_FOLDER, ".json"):
        parts = name[len(_FOLDER) : -len(".json")].split("/")
        if len(parts) != 3 or parts[1] not in ("cephclusters", "storageclusters"):
            continue
        raw = loaded.json(name)
        # The file of a Ceph cluster holds its status alone.
        status = mapping(raw, "status") or mapping(raw)
        phase = text(status, "phase")
        version = text(status, "version", "version") or text(raw, "spec", "version")
        kind = parts[1].removesuffix("s")
        yield kind, f"{parts[0]}/{parts[2]}", phase or "-", version, _trouble(status)


def _trouble(status: dict[str, Any]) -> str:
    health = text(status, "ceph", "health")
    if health not in _GOOD_HEALTH:
        return line(f"{health} {', '.join(sorted(mapping(status, 'ceph', 'details')))}".strip())
    phase = text(status, "phase")
    said = [] if phase in _GOOD_PHASES else [f"phase {line(phase, 40)}"]
    said += [
        f"{kind}={found.status}: {found.why()}"
        for kind, found in conditions(status).items()
        if found.status == _BAD.get(kind)
    ]
    return "; ".join(said[:3])


def _show_clusters(report: Report, clusters: list[tuple[str, str, str, str, str]]) -> None:
    if clusters:
        report.section("OpenShift Data Foundation")
        report.table(("KIND", "NAME", "PHASE", "VERSION"), (cluster[:4] for cluster in clusters))
        report.list([f"{name}: {trouble}" for _k, name, _p, _v, trouble in clusters if trouble])
