"""Reading an archive once, and keeping of it what the tools look at. Nothing is written to disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from .._shared.archive import ArchiveError, Limits, Skipped, open_archive
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
# Where archives lie below a folder, from the folder of a must-gather on.
_PLACES = ("*", "*/*", "insights-data/*/*", "*/insights-data/*/*")
_MOST_LOOKED_AT = 10_000


class NotAnArchive(ArchiveError):
    """The file can be read, but it is no Insights archive."""


@dataclass(slots=True)
class Loaded:
    """What is known of an archive.

    stamp: path, size and time of change, by which a changed file is told.
    root: the folder that holds config/, "" or a name with a slash at the end.
    sizes: of all files below the root. content: of those the tools look at.
    left_out: files that would not fit, with the reason. faults: files that could not be decoded.
    """

    path: Path
    stamp: tuple[str, int, int]
    root: str = ""
    other_roots: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    content: dict[str, bytes] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0
    notes: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        """A file as text, "" when it is not there."""
        return self.content.get(name, b"").decode("utf-8", "replace")

    def json(self, name: str) -> Any:
        """A file's value, None when it is not there or no JSON, which is noted in `faults`."""
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

    def below(self, folder: str, suffix: str = "") -> list[str]:
        """The names of the kept files below a folder, at any depth, sorted."""
        names = (name for name in self.content if name.startswith(folder))
        return sorted(name for name in names if name.endswith(suffix))

    def objects(self, folder: str, *lists: str) -> Iterator[dict[str, Any]]:
        """The objects in the list files named, then those that have a file each in the folder."""
        for name in lists:
            yield from listed(self.json(name))
        for name in self.below(folder, ".json"):
            if "/" not in name[len(folder) :]:
                yield from listed(self.json(name))


def stamp_of(path: Path) -> tuple[str, int, int]:
    """Raises ArchiveError when there is no such file."""
    try:
        found = path.stat()
        return str(path.resolve()), found.st_size, found.st_mtime_ns
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ArchiveError(f"{path!s:.500} cannot be opened: {reason}") from None


def load(path: Path, options: Options) -> Loaded:
    """Read an archive. Raises ArchiveError."""
    loaded = Loaded(path, stamp_of(path))
    limits = Limits(
        entries=options.max_entries,
        entry_bytes=options.max_file_bytes,
        total_bytes=options.max_total_bytes,
        seconds=options.max_seconds,
    )
    if path.is_dir():
        raise NotAnArchive(_about_folder(path))
    kept = 0
    try:
        with open_archive(path, limits) as archive:
            for member in archive.files():
                loaded.sizes[member.name] = member.size
                if not _wanted(member.name):
                    continue
                if member.size > options.max_file_bytes:
                    loaded.left_out[member.name] = f"{member.size} bytes, over maxFileBytes"
                elif kept + member.size > options.max_memory_bytes:
                    loaded.left_out[member.name] = "maxMemoryBytes is used up"
                else:
                    loaded.content[member.name] = member.read()
                    kept += member.size
            loaded.skipped, loaded.skipped_count = archive.skipped, archive.skipped_count
            loaded.notes = archive.notes
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror}") from None
    _settle_root(loaded)
    return loaded


def _wanted(name: str) -> bool:
    """Whether a tool looks at this file, also when the archive has a folder around everything."""
    return any(
        place in _FILES or place.startswith(_FOLDERS) for place in (name, name.partition("/")[2])
    )


def _settle_root(loaded: Loaded) -> None:
    """Find the folder that holds config/, and forget what is not below it. Raises NotAnArchive."""
    roots: set[str] = set()
    for name in loaded.sizes:
        first, _slash, after = name.partition("/")
        if first == "config" and after:
            roots.add("")
        elif after.startswith("config/"):
            roots.add(f"{first}/")
    if not roots:
        raise NotAnArchive(
            f"{loaded.path} is no Insights archive: it has no folder config, at the top or one"
            f" level below, among its {len(loaded.sizes)} files"
        )
    # A folder named config/config is no second archive when there is one at the top.
    loaded.root, *others = [""] if "" in roots else sorted(roots)
    loaded.other_roots = others
    for table in (loaded.sizes, loaded.content, loaded.left_out):
        _rebase(table, loaded.root)


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
