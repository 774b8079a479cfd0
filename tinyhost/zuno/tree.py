"""What lies in a package's folder: files and folders, nothing else, and not without bounds."""

from __future__ import annotations

import os
import stat

import attrs

MAX_ENTRIES = 20_000
MAX_DEPTH = 32
MAX_BYTES = 256 * 1024 * 1024


@attrs.frozen
class Entry:
    """A file or folder. name: its path below the package's folder."""

    name: str
    is_folder: bool
    mode: int
    size: int = 0


class BadTree(Exception):
    """A folder that cannot be a package's: `path` of what is wrong in it, and why in words."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} {reason}")


def scan(folder: str) -> list[Entry]:
    """All that is below a folder, each folder before what is in it. Raises BadTree.

    Links are refused, as a package is to be whole by itself, and so are sockets and the like.
    """
    found: list[Entry] = []
    total = 0
    todo = [""]
    while todo:
        inner = todo.pop()
        if inner.count("/") >= MAX_DEPTH:
            raise BadTree(f"{folder}/{inner}", f"is deeper than {MAX_DEPTH} folders")
        for entry in _entries(folder, inner):
            found.append(entry)
            total += entry.size
            if entry.is_folder:
                todo.append(entry.name)
        if len(found) > MAX_ENTRIES:
            raise BadTree(folder, f"holds more than {MAX_ENTRIES} files and folders")
        if total > MAX_BYTES:
            raise BadTree(folder, f"holds more than {MAX_BYTES} bytes")
    return found


def _entries(folder: str, inner: str) -> list[Entry]:
    place = f"{folder}/{inner}" if inner else folder
    found = []
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                name = f"{inner}/{entry.name}" if inner else entry.name
                found.append(_entry(entry.path, name, entry.stat(follow_symlinks=False)))
                if len(found) > MAX_ENTRIES:
                    break
    except OSError as error:
        raise BadTree(place, f"cannot be read: {error.strerror}") from None
    return sorted(found, key=lambda entry: entry.name)


def _entry(path: str, name: str, status: os.stat_result) -> Entry:
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return Entry(name, True, mode)
    if stat.S_ISREG(status.st_mode):
        return Entry(name, False, mode, status.st_size)
    what = "a link" if stat.S_ISLNK(status.st_mode) else "neither a file nor a folder"
    raise BadTree(path, f"is {what}; a package holds files and folders only")
