"""Files below a folder that nobody vouches for: found, opened and read without leaving it.

Links are never followed, whole files are read up to a limit, and what was left out is kept in
`Tree.faults` so that an answer can say so.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a pipe would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DEEPEST = 32
_FAULTS_KEPT = 100


class MustGatherError(Exception):
    """A must-gather, or a file of it, cannot be read; the text says which and why."""


@dataclass(slots=True)
class Tree:
    """A folder. most_entries: files and folders that one search looks at.

    faults: what could not be read, a path below the root and the reason; the first hundred.
    fault_count: how many there were. is_over: asked again and again while something is read, with
    what that is; when it says True the reading ends. A caller whose time is bounded sets it.
    """

    root: Path
    most_entries: int = 200_000
    faults: dict[str, str] = field(default_factory=dict)
    fault_count: int = 0
    is_over: Callable[[str], bool] = lambda _what: False

    def note(self, where: str, why: str) -> None:
        """Keep that something could not be read. The same again changes nothing."""
        if where in self.faults:
            return
        self.fault_count += 1
        if len(self.faults) < _FAULTS_KEPT:
            self.faults[where] = why

    def forget_faults(self) -> None:
        """Begin anew, for the next question."""
        self.faults.clear()
        self.fault_count = 0

    def relative(self, path: str | Path) -> str:
        """The path below the root, with "/" between its parts. Raises MustGatherError."""
        given = PurePosixPath(path)
        if given.is_absolute():
            if not given.is_relative_to(self.root):
                raise MustGatherError(f"{path!s:.200} is outside of {self.root}")
            given = given.relative_to(self.root)
        if ".." in given.parts or "\0" in str(given):
            raise MustGatherError(f"{str(path)!r:.200} is no path below {self.root}")
        return str(given)

    def open(self, path: str | Path) -> BinaryIO:
        """A regular file for reading. Raises MustGatherError."""
        where = self.relative(path)
        *folders, name = PurePosixPath(where).parts or ("",)
        held = -1
        try:
            held = os.open(self.root, _FOLDER)
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=held)
                os.close(held)
                held = inner
            file = os.open(name, _FILE, dir_fd=held)
        except OSError as error:
            raise MustGatherError(f"{where:.500} cannot be read: {_why(error)}") from None
        finally:
            if held >= 0:
                os.close(held)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise MustGatherError(f"{where:.500} is no plain file")
        return os.fdopen(file, "rb")

    def size(self, path: str | Path) -> int:
        """The bytes of a regular file. Raises MustGatherError."""
        with self.open(path) as file:
            return os.fstat(file.fileno()).st_size

    def read(self, path: str | Path, most: int) -> bytes:
        """A whole file. Raises MustGatherError when it has more than `most` bytes."""
        with self.open(path) as file:
            try:
                data = file.read(most + 1)
            except OSError as error:
                raise MustGatherError(f"{path!s:.500} cannot be read: {_why(error)}") from None
            if len(data) > most:
                size = os.fstat(file.fileno()).st_size
                raise MustGatherError(
                    f"{self.relative(path):.500} has {size} bytes; at most {most} are read"
                )
        return data

    def folders(self, where: str) -> list[str]:
        """The names of the folders in a folder, sorted; none when it is not there."""
        return [name for name, is_folder in self._entries(where) if is_folder]

    def files(self, where: str) -> list[str]:
        """The names of the plain files in a folder, sorted; none when it is not there."""
        return [name for name, is_folder in self._entries(where) if not is_folder]

    def find(self, pattern: str) -> Iterator[Path]:
        """The plain files that a pattern like "monitoring/**/*.json" names, sorted by folder.

        "*", "?" and "[...]" stay within a name; "**" stands for any number of folders. A search
        that would look at more than `most_entries` ends early and is noted in `faults`.
        Raises MustGatherError for a pattern that leads out.
        """
        parts = PurePosixPath(self.relative(pattern)).parts
        if parts and parts[-1] == "**":
            parts += ("*",)
        budget = [self.most_entries]
        seen: set[str] = set()
        for found in self._find("", parts, budget):
            # Two "**" may lead to a file in more than one way.
            if found not in seen:
                seen.add(found)
                yield self.root / found
        if budget[0] <= 0:
            self.note(pattern, f"the search ended after {self.most_entries} entries")

    def _find(self, where: str, parts: tuple[str, ...], budget: list[int]) -> Iterator[str]:
        if not parts or where.count("/") > _DEEPEST:
            return
        first, rest = parts[0], parts[1:]
        if first == "**":
            yield from self._find(where, rest, budget)
        matches = re.compile(fnmatch.translate(first)).match
        for name, is_folder in self._entries(where):
            budget[0] -= 1
            if budget[0] <= 0:
                return
            path = f"{where}/{name}" if where else name
            if is_folder:
                if first == "**":
                    yield from self._find(path, parts, budget)
                elif matches(name):
                    yield from self._find(path, rest, budget)
            elif not rest and first != "**" and matches(name):
                yield path

    def _entries(self, where: str) -> list[tuple[str, bool]]:
        """Names, and whether they are folders. Links and devices are left out."""
        found: list[tuple[str, bool]] = []
        folder = self.root / where
        try:
            if where and self._has_link(where):
                return []
            with os.scandir(folder) as entries:
                for number, entry in enumerate(entries):
                    if number == self.most_entries:
                        self.note(
                            where or ".", f"has more than {number} entries; the rest is left out"
                        )
                        break
                    if entry.is_symlink():
                        self.note(f"{where}/{entry.name}".lstrip("/"), "a link; not followed")
                    elif entry.is_dir(follow_symlinks=False):
                        found.append((entry.name, True))
                    elif entry.is_file(follow_symlinks=False):
                        found.append((entry.name, False))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.note(where, _why(error))
        return sorted(found)

    def _has_link(self, where: str) -> bool:
        path = self.root
        for part in PurePosixPath(where).parts:
            path = path / part
            if path.is_symlink():
                self.note(self.relative(path), "a link; not followed")
                return True
        return False


def _why(error: OSError) -> str:
    import errno

    if error.errno in (errno.ELOOP, errno.EMLINK):
        return "it is a link, which is not followed"
    return error.strerror or type(error).__name__
