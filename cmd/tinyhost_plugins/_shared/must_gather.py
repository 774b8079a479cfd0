"""Reading an unpacked OpenShift must-gather.

    mg = open_must_gather("must-gather.local.123")
    for route in mg.namespaced("shop", "route.openshift.io", "routes"):
        print(route.name, route.text("spec", "host"))

Nothing outside of the must-gather is read: links are not followed, and paths that lead out are refused.
Files that cannot be read or are too large are left out and noted in `mg.faults`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from .must_gather_roots import MARKS, roots
from .must_gather_tree import MustGatherError, Tree
from .must_gather_values import Resource, Values, resources
from .must_gather_yaml import MOST_VALUES, FormatError, documents

__all__ = [
    "PARTS",
    "Limits",
    "MustGather",
    "MustGatherError",
    "Resource",
    "Values",
    "open_must_gather",
]

PARTS = (
    *("cluster-scoped-resources", "namespaces", "host_service_logs", "monitoring", "audit_logs"),
    *("ingress_controllers", "etcd_info", "insights-data"),
)
_SUFFIXES = (".yaml", ".yml", ".json")
_VERSIONS = "cluster-scoped-resources/config.openshift.io/clusterversions"
_BYTES_OF_VALUE = 16  # in the YAML of a cluster's objects there are few that take less
_ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")


@dataclass(frozen=True, slots=True)
class Limits:
    """file_bytes: larger files of objects are left out, and noted. entries: files and folders that
    one search looks at.
    """

    file_bytes: int = 32 * 1024 * 1024
    entries: int = 200_000


class MustGather:
    """What one image has gathered.

    root: the folder that holds cluster-scoped-resources or namespaces, without links in its path.
    others: the roots of other images below the same folder, which are not read.
    parts, missing: which of PARTS are there, and which are not.
    namespaces: the names of those that have a folder, sorted.

    top: the folder that was opened, with the root in it.
    """

    def __init__(
        self,
        root: Path,
        others: Sequence[Path] = (),
        limits: Limits | None = None,
        top: Path | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.root = root
        self.others = tuple(others)
        self.tree = Tree(root, self.limits.entries)
        self._top = Tree(top or root)
        there = set(self.tree.folders(""))
        self.parts: Sequence[str] = tuple(part for part in PARTS if part in there)
        self.missing: Sequence[str] = tuple(part for part in PARTS if part not in there)
        self.namespaces: Sequence[str] = tuple(self.tree.folders("namespaces"))

    @property
    def faults(self) -> Mapping[str, str]:
        """What could not be read so far: a path below the root and the reason."""
        return self.tree.faults

    def cluster(self, group: str, plural: str) -> Iterator[Resource]:
        """The cluster-scoped objects of a group ("core" for the group without a name), by file."""
        base = f"cluster-scoped-resources/{_part(group)}/{_part(plural)}"
        return self._distinct(self._files(base), "", set())

    def namespaced(self, namespace: str, group: str, plural: str) -> Iterator[Resource]:
        """The objects in a namespace; none when it is not there. Raises MustGatherError for a name
        that is no name, as "../x".
        """
        folder = f"namespaces/{_part(namespace)}"
        files: Iterable[str] = self._files(f"{folder}/{_part(group)}/{_part(plural)}")
        seen: set[tuple[str, str]] = set()
        if (group, plural) == ("core", "pods"):
            files = chain(files, self._pod_files(f"{folder}/pods", namespace, seen))
        return self._distinct(files, namespace, seen)

    def everywhere(self, group: str, plural: str) -> Iterator[Resource]:
        """The objects of all namespaces."""
        for namespace in self.namespaces:
            if self.tree.is_over(f"reading {plural}"):
                return
            yield from self.namespaced(namespace, group, plural)

    def read_resources(self, path: str | Path, namespace: str = "") -> Iterator[Resource]:
        """The objects of one file; what cannot be read is noted."""
        where = self.tree.relative(path)
        try:
            text = self.read_text(where, self.limits.file_bytes)
            # Who allows larger files allows more values.
            most = max(MOST_VALUES, self.limits.file_bytes // _BYTES_OF_VALUE)
            is_over = partial(self.tree.is_over, f"reading {where}")
            for document in documents(text, most=most, is_over=is_over):
                yield from resources(document, where, namespace)
        except (MustGatherError, FormatError) as error:
            self.tree.note(where, str(error).removeprefix(f"{where} "))

    def find(self, pattern: str) -> Iterator[Path]:
        """The plain files that a pattern like "ingress_controllers/*/*/haproxy.config" names.

        Sorted, absolute paths. "**" stands for any number of folders. Raises MustGatherError for a
        pattern that leads out.
        """
        return self.tree.find(pattern)

    def relative(self, path: str | Path) -> str:
        """A path below the root as it is shown. Raises MustGatherError for one outside."""
        return self.tree.relative(path)

    def read_text(self, path: str | Path, most: int) -> str:
        """A whole file; what is no UTF-8 is replaced. Raises MustGatherError when it cannot be read
        or has more than `most` bytes. A relative path begins at the root.
        """
        return self.tree.read(path, most).decode("utf-8", "replace")

    def open(self, path: str | Path) -> BinaryIO:
        """A file to be read bit by bit. Raises MustGatherError."""
        return self.tree.open(path)

    def gathered(self) -> datetime | None:
        """When the gathering began, from the file "timestamp" of the image or of the whole."""
        for tree in (self.tree, self._top):
            try:
                found = _moment(tree.read("timestamp", 4096).decode("utf-8", "replace"))
            except MustGatherError:
                continue
            if found:
                return found
        return None

    def _files(self, base: str) -> list[str]:
        """A list in a file of the plural's name, then the files in the folder of that name."""
        folder, _slash, plural = base.rpartition("/")
        there = set(self.tree.files(folder))
        found = [f"{base}{suffix}" for suffix in _SUFFIXES if plural + suffix in there]
        inside = self.tree.files(base)
        return found + [f"{base}/{name}" for name in inside if name.endswith(_SUFFIXES)]

    def _pod_files(self, folder: str, namespace: str, seen: set[tuple[str, str]]) -> Iterator[str]:
        """The files of the pods that were in no list: beside the logs of each is its object."""
        for pod in self.tree.folders(folder):
            if (namespace, pod) not in seen and f"{pod}.yaml" in self.tree.files(f"{folder}/{pod}"):
                yield f"{folder}/{pod}/{pod}.yaml"

    def _distinct(
        self, files: Iterable[str], namespace: str, seen: set[tuple[str, str]]
    ) -> Iterator[Resource]:
        """The objects of the files; of two with a name, the first."""
        for file in files:
            if self.tree.is_over(f"reading {file}"):
                return
            for found in self.read_resources(file, namespace):
                key = (found.namespace, found.name)
                if key not in seen or not found.name:
                    seen.add(key)
                    yield found


def open_must_gather(path: str | Path, limits: Limits | None = None) -> MustGather:
    """The must-gather in a folder, or in one at most four levels below.

    Of several images' folders the fullest is taken, and `others` has the rest. Raises
    MustGatherError when there is none.
    """
    top = _folder(path)
    found = sorted(roots(top))
    if not found:
        raise MustGatherError(_about(top))
    gathers = [
        MustGather(root, [other for other in found if other != root], limits, top) for root in found
    ]
    # max() takes the first of equals, which are sorted by name.
    return max(gathers, key=_fullness)


def _fullness(gather: MustGather) -> tuple[bool, int, int]:
    has_version = (gather.root / _VERSIONS).is_dir() or (
        gather.root / f"{_VERSIONS}.yaml"
    ).is_file()
    return has_version, len(gather.parts), len(gather.namespaces)


def _folder(path: str | Path) -> Path:
    try:
        if "\0" in str(path):
            raise ValueError("a NUL character in the name")
        given = Path(path).expanduser()
        if given.is_file() and given.name.endswith(_ARCHIVES):
            raise MustGatherError(f"{given} is an archive; unpack it and give the folder")
        if not given.is_dir():
            what = "is not a folder" if given.exists() else "does not exist"
            raise MustGatherError(f"{given} {what}; give the folder of an unpacked must-gather")
        return given.resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MustGatherError(f"{str(path)!r:.300} cannot be opened: {reason}") from None


def _about(top: Path) -> str:
    text = f"{top} is no must-gather: no folder in it has {' or '.join(MARKS)}"
    for above in top.parents:
        if any((above / mark).is_dir() for mark in MARKS):
            return f"{text}; it seems to be a part of the one in {above}"
    try:
        archives = sorted(p.name for p in top.iterdir() if p.name.endswith(_ARCHIVES))
    except OSError:
        archives = []
    if archives:
        text += f"; it has {', '.join(archives[:5])}, which may have to be unpacked"
    return text


def _part(name: str) -> str:
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise MustGatherError(f"{name!r:.100} is no name of a namespace or of a kind of objects")
    return name


def _moment(text: str) -> datetime | None:
    """The first time in a text like "2026-03-01 10:00:00.123456789 +0000 UTC m=+0.1"."""
    found = re.search(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)?", text)
    if not found:
        return None
    try:
        moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{found[3] or 'Z'}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
