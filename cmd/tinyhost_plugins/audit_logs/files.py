"""Finds the audit logs of a must-gather."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tinyhost_sdk import HandlerError

from .._shared.table import cell
from .counts import listed

# The order in which they are read and shown.
AREAS = (
    "kube-apiserver",
    "openshift-apiserver",
    "oauth-apiserver",
    "oauth-server",
    "monitoring",
    "etcd",
)
_FOLDERS = ("audit_logs", "audit-logs")
_LEVELS = 4  # from the folder that is named to its audit_logs, and from there to the files
_MOST_FOLDERS = 20_000
_MOST_FILES = 10_000
_ENDINGS = (".log", ".log.gz")
_PACKED = ".gz"
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".zip")
_EXPECTED = ", ".join(f"audit_logs/{area}" for area in AREAS[:3])


class LogFile(msgspec.Struct, frozen=True):
    """One log. label: where it is below its audit_logs. node: "" where the name has none.

    size: in bytes, packed as it is. twin: whether the same log is beside it packed, which is not read.
    """

    path: str
    label: str
    area: str
    node: str
    size: int
    twin: bool = False


def find(path: str, directory: str, roots: tuple[str, ...]) -> list[LogFile]:
    """The logs that a path stands for, in a stable order.

    directory: what a relative path starts from. Raises HandlerError when there are none, when
    there are several must-gathers, and outside of the roots.
    """
    try:
        place = Path(directory, Path(path).expanduser()).resolve()
        _check_inside(place, roots)
        files = _logs_of(place)
    except (OSError, ValueError, RuntimeError) as error:
        # The text of an OSError would have the path again, in full length.
        why = getattr(error, "strerror", None) or error
        raise HandlerError(f"cannot read {path!r:.400}: {why}") from None
    if not files:
        raise HandlerError(
            f"no audit logs in {_named(place)}: expected {_EXPECTED} in it or up to {_LEVELS} levels below,"
            " with files that end in .log or .log.gz."
            " They are gathered by: oc adm must-gather -- /usr/bin/gather_audit_logs"
        )
    return files


def _logs_of(place: Path) -> list[LogFile]:
    if not place.exists():
        raise HandlerError(f"there is no {_named(place)}; path must be an unpacked must-gather")
    if not place.is_dir():
        return [_single(place)]
    area, base = _audit_folder(place)
    return _collect(base, area)


def _named(path: object) -> str:
    """For a message: what names hold is not to be believed."""
    return cell(path, 400)


def _check_inside(place: Path, roots: tuple[str, ...]) -> None:
    if roots and not any(place.is_relative_to(Path(root).resolve()) for root in roots):
        raise HandlerError(
            f"{_named(place)} is outside of the folders that may be read: {', '.join(roots)};"
            " the plugin's option roots names them"
        )


def _audit_folder(place: Path) -> tuple[str, Path]:
    """The folder to read, and the area that it is, "" for one that holds areas."""
    if place.name in _FOLDERS:
        return "", place
    found = [folder for folder in _folders_below(place) if any(_logs_below(folder, _LEVELS))]
    if len(found) > 1:
        names = listed([_named(one) for one in found])
        raise HandlerError(f"{_named(place)} holds several must-gathers; name one of: {names}")
    if found:
        return "", found[0]
    return place.name, place


def _folders_below(place: Path) -> Iterator[Path]:
    """The audit_logs folders, those near by before those far down, in the order of names."""
    level, seen = [place], 0
    for _ in range(_LEVELS + 1):
        below: list[Path] = []
        for folder in level:
            for entry in _readable_entries(folder):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in _FOLDERS:
                        yield Path(entry.path)
                    else:
                        below.append(Path(entry.path))
            seen += 1
            if seen > _MOST_FOLDERS:
                return
        level = below


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _readable_entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return _entries(folder)
    except OSError:
        # A folder of something else, on the way to the logs.
        return []


def _collect(base: Path, area: str) -> list[LogFile]:
    # A folder that is no part of a must-gather is not searched for other programs' logs.
    levels = _LEVELS if not area or base.parent.name in _FOLDERS else 0
    entries = {entry.path: entry for entry in _logs_below(base, levels)}
    found = [
        _log_file(entry, base, area, twin=path + _PACKED in entries)
        for path, entry in entries.items()
        # Whoever unpacks a log may keep the packed one; counting both would double everything.
        if path.removesuffix(_PACKED) == path or path.removesuffix(_PACKED) not in entries
    ]
    if len(found) > _MOST_FILES:
        raise HandlerError(f"more than {_MOST_FILES} logs in {_named(base)}; name a part of it")
    return sorted(found, key=_order)


def _logs_below(folder: Path, levels: int) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        # Links are not followed: what they lead to is not part of the must-gather.
        if entry.is_dir(follow_symlinks=False):
            if levels > 0:
                yield from _logs_in(entry, levels - 1)
        elif entry.is_file(follow_symlinks=False) and _is_log(entry.name):
            yield entry


def _logs_in(folder: os.DirEntry[str], levels: int) -> Iterator[os.DirEntry[str]]:
    """Of a folder that cannot be read, itself: the report then says what was not read."""
    try:
        yield from _logs_below(Path(folder.path), levels)
    except OSError:
        yield folder


def _is_log(name: str) -> bool:
    # What an API server said when it ended is beside its audit logs, but is none.
    return name.endswith(_ENDINGS) and "termination.log" not in name


def _log_file(entry: os.DirEntry[str], base: Path, area: str, *, twin: bool) -> LogFile:
    path = Path(entry.path)
    size = entry.stat(follow_symlinks=False).st_size
    inside = path.relative_to(base)
    if not area and len(inside.parts) > 1:
        area = inside.parts[0]
    elif area:
        inside = Path(area) / inside
    return LogFile(str(path), str(inside), area, _node(path, area), size, twin)


def _node(path: Path, area: str) -> str:
    """NODE-audit.log.gz, NODE-audit-2026-01-02T10-00-00.000.log.gz; of monitoring, the pod."""
    node = path.name.rpartition("-audit")[0]
    if not node and area == "monitoring" and path.parent.name != area:
        return path.parent.name
    return node


def _single(path: Path) -> LogFile:
    if not path.is_file():
        raise HandlerError(f"{_named(path)} is neither a folder nor a file")
    if path.name.lower().endswith(_ARCHIVES):
        raise HandlerError(f"{_named(path)} is an archive; unpack it and give the folder")
    area = path.parent.name if path.parent.name in AREAS else ""
    return LogFile(str(path), path.name, area, _node(path, area), path.stat().st_size)


def _order(file: LogFile) -> tuple[int, str]:
    place = AREAS.index(file.area) if file.area in AREAS else len(AREAS)
    return place, file.label


def in_area(files: list[LogFile], area: str) -> list[LogFile]:
    """Those of an API server. Raises HandlerError, naming what there is."""
    there = list(dict.fromkeys(file.area for file in files if file.area))
    if area not in there:
        names = listed([_named(one) for one in there])
        raise HandlerError(f'there are no audit logs of "{area:.80}"; area must be one of: {names}')
    return [file for file in files if file.area == area]
