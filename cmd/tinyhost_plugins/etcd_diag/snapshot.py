"""An open snapshot: a file that has been checked, walked through, and is looked up in."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from pathlib import Path
from typing import NamedTuple

from tinyhost_sdk import HandlerError

from .._shared import texts
from .bolt import Corrupt, Database, element_at
from .options import MIB, Options
from .pace import Pace
from .records import Record, is_tombstone, key_at, record_at
from .survey import Survey, TooManyKeys, survey
from .text import named

# etcdctl appends the SHA-256 of the database, whose length is a number of pages.
_HASH = hashlib.sha256().digest_size
_SECTOR = 512
_CHUNK = 4 * MIB

GOOD, BAD, CUT, ABSENT = "ok", "WRONG", "cut off", "none"


class Snapshot:
    """path, size: of the file. hash: GOOD, BAD, CUT or ABSENT. survey: what there is."""

    def __init__(self, path: Path, data: mmap, seen: os.stat_result, options: Options) -> None:
        self.path = path
        self.size = seen.st_size
        self.prefixes = options.prefixes
        self._seen = _identity(seen)
        self._data = data
        self._tail = _HASH if self.size % _SECTOR == _HASH else 0
        self.database = Database(data, self.size - self._tail)
        self.hash = ABSENT
        self.survey: Survey

    def examine(self, options: Options, pace: Pace) -> None:
        """Check the hash and walk through. Raises Corrupt, TooManyKeys, HandlerError."""
        if self._tail:
            self.hash = GOOD if self._hash_is_right(pace) else BAD
        elif self.size % self.database.meta.page_size:
            # bbolt's files are whole pages, so this is no copy of a database either.
            self.hash = CUT
        self.survey = survey(self.database, options.prefixes, options.max_keys, pace)
        # What was read need not stay in memory; the file is where it was.
        self._data.madvise(MADV_DONTNEED)

    def is_unchanged(self) -> bool:
        """Whether the file is still the one that was opened."""
        try:
            return _identity(self.path.stat()) == self._seen
        except OSError:
            return False

    def check_unchanged(self) -> None:
        """Refuse to go on with a file that is another now: a mapped page may be gone.

        Raises HandlerError.
        """
        if not self.is_unchanged():
            raise HandlerError(
                f"{named(self.path)} has changed since it was opened; call etcd_snapshot_open again"
            )

    def lookup(self, key: str) -> Found | None:
        """The newest record of a key, also when it says that the key is deleted."""
        at = self.survey.keys.find(key.encode(errors="surrogatepass"))
        return self._found(at) if at else None

    def live(self) -> Iterator[tuple[bytes, int]]:
        """Each key that exists with its place, in no order."""
        data = self._data
        for at in self.survey.keys:
            if not is_tombstone(element_at(data, at)):
                yield key_at(data, at), at

    def value_size(self, at: int) -> int:
        """How long the value at a place from live() is, in bytes."""
        item = record_at(self._data, at)
        return item.end - item.start

    def value(self, item: Record, most: int) -> bytes:
        """The beginning of a record's value."""
        return self._data[item.start : min(item.end, item.start + most)]

    def _found(self, at: int) -> Found:
        return Found(record_at(self._data, at), is_tombstone(element_at(self._data, at)))

    def _hash_is_right(self, pace: Pace) -> bool:
        digest = hashlib.sha256()
        end = self.size - self._tail
        for start in range(0, end, _CHUNK):
            digest.update(self._data[start : min(start + _CHUNK, end)])
            pace.tick(f"checking the hash ({texts.size(start)} of {texts.size(end)})")
        return digest.digest() == self._data[end : self.size]


class Found(NamedTuple):
    record: Record
    deleted: bool


def open_snapshot(path: Path, options: Options, pace: Pace) -> Snapshot:
    """Map the file and look at all of it. Raises HandlerError with what is wrong with it."""
    try:
        data, seen = _map(path, options)
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno == errno.ENOMEM:
            why += "; its size counts towards a limit of address space"
        raise HandlerError(f"cannot open {named(path)}: {why}") from None
    try:
        snapshot = Snapshot(path, data, seen, options)
        snapshot.examine(options, pace)
    except Corrupt as error:
        raise HandlerError(_corrupt(path, data, error)) from None
    except TooManyKeys:
        raise HandlerError(
            f"{named(path)} has more than {options.max_keys:,} keys;"
            ' the option "maxKeys" of etcd-diag allows more'
        ) from None
    return snapshot


def _map(path: Path, options: Options) -> tuple[mmap, os.stat_result]:
    # Without O_NONBLOCK, opening a named pipe would wait for its writer.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        seen = os.fstat(number)
        if not stat.S_ISREG(seen.st_mode):
            raise HandlerError(f"{named(path)} is not a file; give the path of a snapshot")
        if seen.st_size > options.max_snapshot:
            raise HandlerError(
                f"{named(path)} has {texts.size(seen.st_size)}, more than the limit of"
                f" {_limit(options.max_snapshot)}; the option "
                '"maxSnapshotMiB" of etcd-diag allows more'
            )
        if not seen.st_size:
            raise HandlerError(f"{named(path)} is empty")
        return mmap(number, seen.st_size, access=ACCESS_READ), seen
    finally:
        os.close(number)


def _limit(size: int) -> str:
    return f"{size // (1024 * MIB)}GiB" if not size % (1024 * MIB) else f"{size // MIB}MiB"


def _corrupt(path: Path, data: mmap, error: Corrupt) -> str:
    if data[:2] == b"\x1f\x8b":
        return (
            f"{named(path)} is compressed: gunzip it, or unpack the .db file from it, and open that"
        )
    return f"{named(path)} is not a sound etcd snapshot: {error}"


def _identity(seen: os.stat_result) -> tuple[int, int, int, int]:
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
