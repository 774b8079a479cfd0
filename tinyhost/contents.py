"""What files hold, as hashes: to know later whether they are still the same."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping

import attrs

from .ownership import file_problem

MAX_SIZE = 256 * 1024 * 1024  # bytes, of all files together
MAX_FILES = 20_000
_CHUNK = 1024 * 1024


class Unreadable(Exception):
    """What is to be hashed cannot be: `path`, and why in words."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} {reason}")


@attrs.frozen
class File:
    """One file of a folder. name: below the folder. target: where a link on the way leads."""

    name: str
    mode: int
    size: int
    sha256: str
    target: str = ""

    @property
    def mark(self) -> str:
        """Changes when the file does."""
        return f"{self.mode:03o} {self.sha256} {self.target}".rstrip()


@attrs.frozen
class Contents:
    """The files of a folder, sorted by name. kept: the bytes of those that were asked for."""

    files: tuple[File, ...]
    kept: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """Bytes, of all files together."""
        return sum(file.size for file in self.files)

    @property
    def sha256(self) -> str:
        """One hash over names, modes, link targets and contents."""
        whole = hashlib.sha256()
        for file in self.files:
            for part in (file.name, file.mark):
                # No name holds a zero byte, so no two lists of files look the same.
                whole.update(os.fsencode(part) + b"\0")
        return whole.hexdigest()


def hash_file(path: str) -> tuple[str, int]:
    """The SHA-256 of a file, as sha256sum prints it, and its size. Raises Unreadable."""
    found = _read(path, MAX_SIZE)
    return found.sha256, found.size


def read_folder(folder: str, *, keep: Collection[str] = ()) -> Contents:
    """Hash every file below a folder, links followed. Raises Unreadable.

    keep: names of files whose bytes are wanted: those that were hashed, and no later ones.
    """
    files: list[File] = []
    kept: dict[str, bytes] = {}
    left = MAX_SIZE
    for name in _walk(folder):
        path = f"{folder}/{name}"
        if len(files) >= MAX_FILES:
            raise Unreadable(folder, f"holds more than {MAX_FILES} files")
        found = _read(path, left, keep=name in keep)
        left -= found.size
        real = os.path.realpath(path)
        target = "" if real == os.path.join(os.path.realpath(folder), name) else real  # noqa: PTH118
        files.append(File(name, found.mode, found.size, found.sha256, target))
        if name in keep:
            kept[name] = found.data
    return Contents(tuple(files), kept)


def owner_problems(folder: str, contents: Contents) -> list[str]:
    """For each file of a folder that somebody else could change: which, and how to fix it."""
    paths = [f"{folder}/{file.name}" for file in contents.files]
    return [f"{path} {problem}" for path in paths if (problem := file_problem(path))]


def _walk(folder: str) -> Iterator[str]:
    """Names of all that is no folder, sorted; a folder that holds itself is entered once."""
    names: list[str] = []
    todo: list[tuple[str, tuple[str, ...]]] = [("", ())]
    entered = 0
    while todo:
        inner, above = todo.pop()
        entered += 1
        if entered > MAX_FILES:
            # A handful of folders that link to each other can be entered on endless ways.
            raise Unreadable(folder, f"holds more than {MAX_FILES} folders, or ways through links")
        place = f"{folder}/{inner}".rstrip("/")
        real = os.path.realpath(place)
        if real in above:
            continue
        try:
            found = os.listdir(place)  # noqa: PTH208
        except OSError as error:
            raise Unreadable(place, f"cannot be read: {error.strerror}") from None
        for entry in found:
            name = f"{inner}/{entry}" if inner else entry
            if os.path.isdir(f"{folder}/{name}"):  # noqa: PTH112
                todo.append((name, (*above, real)))
            else:
                names.append(name)
        if len(names) + len(todo) > MAX_FILES:
            raise Unreadable(folder, f"holds more than {MAX_FILES} files")
    return iter(sorted(names, key=os.fsencode))


@attrs.frozen
class _Read:
    """What one file was when it was read."""

    mode: int
    size: int
    sha256: str
    data: bytes


def _read(path: str, limit: int, *, keep: bool = False) -> _Read:
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for its other end.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        handle = os.open(path, flags)
    except OSError as error:
        if os.path.islink(path):  # noqa: PTH114
            raise Unreadable(path, "is a link that leads nowhere") from None
        raise Unreadable(path, f"cannot be read: {error.strerror}") from None
    try:
        return _read_open(path, handle, limit, keep)
    except OSError as error:
        raise Unreadable(path, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)


def _read_open(path: str, handle: int, limit: int, keep: bool) -> _Read:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(path, "is not a regular file")
    whole, size, parts = hashlib.sha256(), 0, []
    while data := os.read(handle, _CHUNK):
        whole.update(data)
        size += len(data)
        if size > limit:
            raise Unreadable(path, f"is too big: at most {MAX_SIZE} bytes are looked at")
        if keep:
            parts.append(data)
    return _Read(stat.S_IMODE(found.st_mode), size, whole.hexdigest(), b"".join(parts))
