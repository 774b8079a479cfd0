"""Reading an archive once, and keeping of it what the tools look at. Nothing is written to disk."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from .._shared.archive import ArchiveError, Limits, Member, Skipped, open_archive
from .objects import listed
from .options import Options

_FOLDERS = (
    "conditional/namespaces/",
    "config/clusteroperator/",
    "config/etcd/",
    "config/machineconfigpools/",
    "config/namespace/",
    "config/node/",
    "config/pdbs/",
    "config/persistentvolumeclaims/",
    "config/persistentvolumes/",
    "config/pod/",
    "config/storage/",
    "events/",
)
# The names in the second part are of other tools that write archives of this kind.
_FILES = frozenset(
    f"config/{name}"
    for name in (
        *("alerts.json", "id", "infrastructure.json", "metrics", "network.json"),
        *("namespaces_with_overlapping_uids.json", "silenced_alerts.json", "version.json"),
        *("clusteroperator.json", "clusteroperators.json", "clusterversion.json"),
        *("namespace.json", "namespaces.json", "node.json", "nodes.json"),
        *("persistentvolume.json", "persistentvolumes.json"),
        *("persistentvolumeclaim.json", "persistentvolumeclaims.json"),
        *("storageclass.json", "storageclasses.json"),
    )
) | {"insights-operator/gathers.json", "monitoring/alerts/alerts.json"}
# Where archives lie below a folder, from the folder of a must-gather on: `oc rsync` and `oc cp` put
# them into one folder more, or less.
_PLACES = ("*", "*/*", "insights-data/*/*", "*/insights-data/*", "*/insights-data/*/*")
_MOST_LOOKED_AT = 10_000
# Far more than the objects of a large cluster; a bomb is made of many.
_MOST_OBJECTS = 1_000_000
_MOST_NAMED = 100
# Objects between two looks at the time.
_OFTEN = 1000

T = TypeVar("T")


class NotAnArchive(ArchiveError):
    """The file can be read, but it is no Insights archive."""


def _never(_what: str) -> bool:
    return False


@dataclass(slots=True)
class Loaded:
    """What is known of an archive.

    stamp: path, size and time of change, by which a changed file is told.
    root: the folder that holds config/, "" or a name with a slash at the end.
    count: the files below the root. content: of those the tools look at.
    left_out: the first files that would not fit, with the reason; left_out_count: how many did not.
    faults: files that could not be decoded. is_over: asked again and again while an answer is made,
    with what is being done; when it says True the answer ends.
    """

    path: Path
    stamp: tuple[str, int, int]
    root: str = ""
    other_roots: list[str] = field(default_factory=list)
    count: int = 0
    content: dict[str, bytes] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    left_out_count: int = 0
    faults: dict[str, str] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0
    notes: list[str] = field(default_factory=list)
    is_over: Callable[[str], bool] = _never

    def for_call(self, is_over: Callable[[str], bool]) -> Loaded:
        """The same archive for one call, since others may ask at the same time: with a time of its
        own, and notes only of what it looks at itself.
        """
        return replace(self, faults={}, left_out=dict(self.left_out), is_over=is_over)

    def text(self, name: str) -> str:
        """A file as text, "" when it is not there."""
        return self.content.get(name, b"").decode("utf-8", "replace")

    def json(self, name: str) -> Any:
        """A file's value, None when it is not there or no JSON, which is noted in `faults`.

        Raises ArchiveError when the time for the answer is over.
        """
        self.check_time()
        data = self.content.get(name)
        if data is None or name in self.faults:
            return None
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            self.faults[name] = (
                "nested too deeply" if isinstance(error, RecursionError) else "no JSON"
            )
            return None

    def check_time(self) -> None:
        """Raises ArchiveError when the time for the answer is over."""
        if self.is_over("answering"):
            raise ArchiveError(
                f"answering from {self.path} takes too long; raise the plugin's option maxSeconds"
            )

    def paced(self, items: Iterable[T]) -> Iterator[T]:
        """The items, with a look at the time every now and then. Raises ArchiveError."""
        for number, item in enumerate(items):
            if number % _OFTEN == 0:
                self.check_time()
            yield item

    def below(self, folder: str, suffix: str = "") -> list[str]:
        """The names of the kept files below a folder, at any depth, sorted."""
        names = (name for name in self.content if name.startswith(folder))
        return sorted(name for name in names if name.endswith(suffix))

    def objects(self, folder: str, *lists: str) -> Iterator[dict[str, Any]]:
        """The objects in the list files named, then those that have a file each in the folder."""
        inside = (name for name in self.below(folder, ".json") if "/" not in name[len(folder) :])
        for name in (*lists, *inside):
            yield from self.paced(listed(self.json(name)))


def stamp_of(path: Path) -> tuple[str, int, int]:
    """Raises ArchiveError when there is no such file."""
    try:
        found = path.stat()
        return str(path.resolve()), found.st_size, found.st_mtime_ns
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ArchiveError(f"{path!s:.500} cannot be opened: {reason}") from None


def load(path: Path, options: Options, is_over: Callable[[str], bool] = _never) -> Loaded:
    """Read an archive. is_over: asked with each file of it, True ends it. Raises ArchiveError."""
    loaded = Loaded(path, stamp_of(path))
    limits = Limits(
        entries=options.max_entries,
        entry_bytes=options.max_file_bytes,
        total_bytes=options.max_total_bytes,
        seconds=options.max_seconds,
    )
    if path.is_dir():
        raise NotAnArchive(_about_folder(path))
    keep = _Keeper(loaded, options)
    try:
        with open_archive(path, limits) as archive:
            for member in archive.files():
                if is_over(f"reading {path.name}"):
                    raise ArchiveError(
                        f"reading {path} takes too long; raise the plugin's option maxSeconds"
                    )
                keep.take(member)
            loaded.skipped, loaded.skipped_count = archive.skipped, archive.skipped_count
            loaded.notes = archive.notes
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror}") from None
    _settle_root(loaded, keep)
    return loaded


class _Keeper:
    """Goes through an archive's files. below: how many there are, by the first part of the name.
    roots: the folders that hold config/.
    """

    def __init__(self, loaded: Loaded, options: Options) -> None:
        self._loaded, self._options = loaded, options
        self._kept = self._objects = 0
        self.below: Counter[str] = Counter()
        self.roots: set[str] = set()

    def take(self, member: Member) -> None:
        """Count a file, and keep its content if a tool looks at it. Raises ArchiveError."""
        first, _slash, after = member.name.partition("/")
        self.below[first] += 1
        if first == "config" and after:
            self.roots.add("")
        elif after.startswith("config/"):
            self.roots.add(f"{first}/")
        if _wanted(member.name):
            self._keep(member)

    def _keep(self, member: Member) -> None:
        # Many files may be little more than their names.
        needed = member.size + len(member.name)
        if member.size > self._options.max_file_bytes:
            self._leave_out(member, f"{member.size} bytes, over maxFileBytes")
        elif self._kept + needed > self._options.max_memory_bytes:
            self._leave_out(member, "maxMemoryBytes is used up")
        else:
            data = member.read()
            # A tiny object takes forty times its text when it is read, and an answer looks at each.
            objects = data.count(b"{")
            if self._objects + objects > _MOST_OBJECTS:
                self._leave_out(member, f"over {_MOST_OBJECTS} JSON objects in the archive")
                return
            self._loaded.content[member.name] = data
            self._kept += needed
            self._objects += objects

    def _leave_out(self, member: Member, why: str) -> None:
        self._loaded.left_out_count += 1
        if len(self._loaded.left_out) < _MOST_NAMED:
            self._loaded.left_out[member.name] = why


def _wanted(name: str) -> bool:
    """Whether a tool looks at this file, also when the archive has a folder around everything."""
    return any(
        place in _FILES or place.startswith(_FOLDERS) for place in (name, name.partition("/")[2])
    )


def _settle_root(loaded: Loaded, keep: _Keeper) -> None:
    """Find the folder that holds config/, and forget what is not below it. Raises NotAnArchive."""
    if not keep.roots:
        raise NotAnArchive(
            f"{loaded.path} is no Insights archive: it has no folder config, at the top or one"
            f" level below, among its {keep.below.total()} files"
        )
    # A folder named config/config is no second archive when there is one at the top.
    loaded.root, *others = [""] if "" in keep.roots else sorted(keep.roots)
    loaded.other_roots = others
    root = loaded.root
    loaded.count = keep.below[root.rstrip("/")] if root else keep.below.total()
    for table in (loaded.content, loaded.left_out):
        _rebase(table, root)
    if loaded.left_out_count <= _MOST_NAMED:
        loaded.left_out_count = len(loaded.left_out)


def _rebase(table: dict[str, Any], root: str) -> None:
    kept = {name[len(root) :]: value for name, value in table.items() if name.startswith(root)}
    table.clear()
    table.update(kept)


def _about_folder(path: Path) -> str:
    try:
        next(path.iterdir(), None)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    archives = sorted(
        {
            str(found.relative_to(path))
            for place in _PLACES
            for found in islice(path.glob(place), _MOST_LOOKED_AT)
            if found.name.endswith((".tar.gz", ".tgz", ".tar", ".zip"))
        }
    )
    if archives:
        return f"{path} is a folder; it holds {', '.join(archives[:10])}: give the path of one"
    return f"{path} is a folder; give the path of the archive itself, insights-....tar.gz"
