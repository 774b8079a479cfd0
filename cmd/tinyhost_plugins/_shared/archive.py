"""Reading archives that nobody vouches for: tar, tar.gz and zip.

    with open_archive("a.tar.gz") as archive:
        for member in archive.files():
            if member.name == "config/id":
                text = member.read()

Members are read one after the other, and nothing is written unless `extract` is called. Links,
devices, names that lead out of the archive and other oddities are left out and listed in
`archive.skipped`. How many members there are, how much comes out of them and how long it takes is
limited, so that a small file which unpacks to a huge one ends with an ArchiveError.
"""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from .archive_errors import ArchiveError
from .archive_tar import BLOCK, CHUNK, KINDS, PLAIN_TYPES, Body, Counted, Gunzip, headers

if TYPE_CHECKING:
    import zipfile

__all__ = [
    "Archive",
    "ArchiveError",
    "Extracted",
    "Limits",
    "Member",
    "Skipped",
    "extract",
    "open_archive",
    "safe_name",
]

MIB = 1024 * 1024

_LONGEST_PATH, _LONGEST_NAME, _DEEPEST = 4096, 255, 100
_SKIPPED_KEPT = 100
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
_OTHER_FORMATS = (
    (b"\xfd7zXZ", "xz"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf", "7z"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """entries: members of any kind. entry_bytes: one member's content. total_bytes: all that is
    unpacked, headers included. seconds: the time from opening to the last byte.
    """

    entries: int = 100_000
    entry_bytes: int = 500 * MIB
    total_bytes: int = 1024 * MIB
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A member that was left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """What `extract` has written."""

    files: int
    bytes: int


class Member:
    """A file in the archive. Its content is there until the next member is asked for.

    name: a relative path with "/" between its parts, none of which is "." or "..".
    size: in bytes, as the archive declares it; no more than that is ever read.
    """

    __slots__ = ("_chunks", "_most", "name", "size")

    def __init__(
        self, name: str, size: int, chunks: Callable[[], Iterator[bytes]], most: int
    ) -> None:
        self.name = name
        self.size = size
        self._chunks = chunks
        self._most = most

    def chunks(self) -> Iterator[bytes]:
        """The content, piece by piece, once. Raises ArchiveError."""
        if self.size > self._most:
            raise ArchiveError(
                f"{self.name:.200} has {self.size} bytes; {self._most} are allowed for one file"
            )
        return self._chunks()

    def read(self) -> bytes:
        """The whole content, once. Raises ArchiveError."""
        return b"".join(self.chunks())


class Archive(AbstractContextManager["Archive"]):
    """An open archive; its members can be gone through once.

    entries: members of any kind so far. skipped: the first hundred that were left out.
    skipped_count: how many were. notes: what else is odd about the file.
    """

    def __init__(self, file: BinaryIO, path: Path, limits: Limits) -> None:
        self.path = path
        self.limits = limits
        self.entries = 0
        self.skipped: list[Skipped] = []
        self.skipped_count = 0
        self.notes: list[str] = []
        self._file = file
        self._taken = 0
        self._deadline = time.monotonic() + limits.seconds

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def files(self) -> Iterator[Member]:
        """The regular files, in the archive's order. Raises ArchiveError, also while it goes."""
        head = self._file.read(BLOCK)
        self._file.seek(0)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return self._zip_files()
        if head.startswith(b"\x1f\x8b"):
            plain = Gunzip(self._file, self.path, self.notes)
            return self._tar_files(Counted(plain, self._account))
        for magic, name in _OTHER_FORMATS:
            if head.startswith(magic):
                raise ArchiveError(
                    f"{self.path} is a {name} file; only tar, tar.gz and zip can be read"
                )
        return self._tar_files(Counted(self._file, self._account))

    def _account(self, count: int) -> None:
        self._taken += count
        if self._taken > self.limits.total_bytes:
            most = self.limits.total_bytes
            raise ArchiveError(f"{self.path} unpacks to more than the {most} bytes allowed")
        if time.monotonic() > self._deadline:
            raise ArchiveError(
                f"{self.path} takes longer than the {self.limits.seconds:g} seconds allowed"
            )

    def _entry(self) -> None:
        self.entries += 1
        if self.entries > self.limits.entries:
            raise ArchiveError(
                f"{self.path} has more than the {self.limits.entries} entries that are allowed"
            )

    def _skip(self, name: str, reason: str) -> None:
        self.skipped_count += 1
        if len(self.skipped) < _SKIPPED_KEPT:
            self.skipped.append(Skipped(name[:_LONGEST_NAME], reason))

    def _safe(self, raw: str) -> str | None:
        """The name in its plain form, or None after a note why it is no good."""
        try:
            return safe_name(raw)
        except ValueError as reason:
            self._skip(raw, str(reason))
            return None

    def _tar_files(self, source: Counted) -> Iterator[Member]:
        for info in headers(source, self.path, self.notes):
            self._entry()
            body = Body(source, info, self.path)
            if info.type in PLAIN_TYPES:
                name = self._safe(info.name)
                if name is not None:
                    yield Member(name, info.size, body.chunks, self.limits.entry_bytes)
            elif info.type != tarfile.DIRTYPE:
                self._skip(info.name, KINDS.get(info.type, f"of the unknown type {info.type!r}"))
            body.finish()

    def _zip_files(self) -> Iterator[Member]:
        import zipfile

        from .archive_zip import check_directory, why_not, zip_faults

        check_directory(self._file, self.path, self.limits.entries)
        with zip_faults(self.path):
            opened = zipfile.ZipFile(self._file)
        for info in opened.infolist():
            self._entry()
            reason = why_not(info)
            if reason:
                self._skip(info.filename, reason)
            # The library's is_dir() does not expect an empty name.
            elif not info.filename.endswith("/"):
                name = self._safe(info.filename)
                if name is not None:
                    yield self._zip_member(opened, info, name)

    def _zip_member(self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Member:
        from .archive_zip import zip_faults

        def chunks() -> Iterator[bytes]:
            with zip_faults(self.path):
                content = opened.open(info)
            with content:
                while True:
                    with zip_faults(self.path):
                        piece = content.read(CHUNK)
                    if not piece:
                        return
                    self._account(len(piece))
                    yield piece

        return Member(name, info.file_size, chunks, self.limits.entry_bytes)


def open_archive(path: str | Path, limits: Limits | None = None) -> Archive:
    """Open a tar, tar.gz or zip file, told apart by its content. Raises ArchiveError."""
    path = Path(path)
    try:
        # Opening a pipe would wait for a writer.
        if not path.is_file():
            what = "a folder, not a file" if path.is_dir() else "not there, or not a plain file"
            raise ArchiveError(f"{path} is {what}")
        return Archive(path.open("rb"), path, limits or Limits())
    except OSError as error:
        raise ArchiveError(f"{path} cannot be opened: {error.strerror}") from None
    except ValueError as error:
        raise ArchiveError(f"{str(path)!r:.200} cannot be opened: {error}") from None


def extract(
    archive: Archive, target: Path, want: Callable[[Member], bool] | None = None
) -> Extracted:
    """Write the files of an archive below an empty folder: folders with mode 0700, files with 0600.

    want: says which files are written; all are without it. No links are made, no modes or owners
    are taken over. Of two files with the same name the later one stays. When this raises
    ArchiveError, what it had written is gone again.
    """
    try:
        if any(target.iterdir()):
            raise ArchiveError(
                f"{target} is not empty; an archive is unpacked into an empty folder"
            )
    except OSError as error:
        raise ArchiveError(f"{target} is no folder to unpack into: {error.strerror}") from None
    files = written = 0
    try:
        for member in archive.files():
            if want is None or want(member):
                written += _write(member, target)
                files += 1
    except OSError as error:
        _empty(target)
        raise ArchiveError(f"{archive.path} cannot be unpacked: {error}") from None
    except BaseException:
        _empty(target)
        raise
    return Extracted(files, written)


def safe_name(raw: str) -> str:
    """A member's name without "." and doubled slashes. Raises ValueError with what is wrong."""
    if raw.startswith("/"):
        raise ValueError("an absolute path")
    if "\0" in raw:
        raise ValueError("a NUL character in the name")
    parts = [part for part in raw.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("a path that leaves the archive")
    if not parts:
        raise ValueError("no name")
    longest = max(len(part.encode("utf-8", "surrogatepass")) for part in parts)
    name = "/".join(parts)
    if len(name) > _LONGEST_PATH or longest > _LONGEST_NAME or len(parts) > _DEEPEST:
        raise ValueError("a path that is too long")
    return name


def _write(member: Member, target: Path) -> int:
    # Nothing but plain files and folders is made below the target, so no part of it is a link.
    *folders, name = member.name.split("/")
    folder = target
    for part in folders:
        folder = folder / part
        folder.mkdir(mode=0o700, exist_ok=True)
    written = 0
    with os.fdopen(os.open(folder / name, _NEW_FILE, 0o600), "wb") as out:
        for piece in member.chunks():
            written += out.write(piece)
    return written


def _empty(folder: Path) -> None:
    import shutil

    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
