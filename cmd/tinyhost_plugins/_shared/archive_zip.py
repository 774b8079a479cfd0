"""What is looked at in a zip file before the library reads it, and what the library raises."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .archive_errors import ArchiveError

_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    ValueError,
    OverflowError,
    OSError,
)
# The record at the end, and of files with very many members a longer one before it, with a locator
# in between.
_END, _LOCATOR, _LONG_END = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06"
_END_SIZE, _LOCATOR_SIZE, _LONG_END_SIZE = 22, 20, 56
_LONGEST_COMMENT = 65_535
# An entry of the list of members, without its name and what follows that.
_MEMBER, _MEMBER_SIZE = b"PK\x01\x02", 46
# 46 bytes, a name and a time for each member.
_BYTES_PER_ENTRY = 300


@contextmanager
def zip_faults(path: Path) -> Iterator[None]:
    """Makes an ArchiveError of what the library raises for damaged files."""
    try:
        yield
    except _FAULTS as error:
        what = str(error)[:300] or "it ends too early"
        raise ArchiveError(f"{path} is not a whole zip file: {what}") from None


def why_not(info: zipfile.ZipInfo) -> str:
    """Why a member is left out, or ""."""
    kind = info.external_attr >> 16 & 0o170000
    if kind == 0o120000:
        return "a symbolic link"
    if kind not in (0, 0o100000, 0o040000):
        return "a special file"
    if info.flag_bits & 0x1:
        return "encrypted"
    # The library limits what one read unpacks only for these two.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return (
            f"compressed with method {info.compress_type}, and only stored and deflated can be read"
        )
    return ""


def check_directory(file: BinaryIO, path: Path, entries: int) -> None:
    """Raises ArchiveError when there are more members than so many.

    The library reads the list of members as a whole, whatever number of them is written beside it,
    so the list is found and gone through as the library does it.
    """
    start, length = _directory(file, path)
    many = length > entries * _BYTES_PER_ENTRY
    if not many:
        file.seek(start)
        many = _count(file.read(length)) > entries
    file.seek(0)
    if many:
        raise ArchiveError(f"{path} has more than the {entries} entries that are allowed")


def _directory(file: BinaryIO, path: Path) -> tuple[int, int]:
    """Where the list of members begins, and how long it is. Raises ArchiveError."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT - _LOCATOR_SIZE))
    before = file.tell()
    tail = file.read()
    end = tail.rfind(_END)
    if end < 0 or len(tail) < end + _END_SIZE:
        raise ArchiveError(f"{path} is not a whole zip file: its list of members is missing")
    length, after = int.from_bytes(tail[end + 12 : end + 16], "little"), before + end
    locator = tail[max(0, end - _LOCATOR_SIZE) : end]
    if locator.startswith(_LOCATOR):
        after -= _LOCATOR_SIZE + _LONG_END_SIZE
        file.seek(max(after, 0))
        record = file.read(_LONG_END_SIZE)
        # One place would be read here and the other by the library, or by its next version.
        if int.from_bytes(locator[8:16], "little") != after or not record.startswith(_LONG_END):
            raise ArchiveError(f"{path} is not a whole zip file: its last records do not agree")
        length = int.from_bytes(record[40:48], "little")
    if length > after:
        raise ArchiveError(f"{path} is not a whole zip file: its list of members is cut off")
    return after - length, length


def _count(listed: bytes) -> int:
    """The entries of a list of members, up to the first that is damaged."""
    count = at = 0
    while listed.startswith(_MEMBER, at):
        sizes = listed[at + 28 : at + 34]
        at += _MEMBER_SIZE + sum(int.from_bytes(sizes[i : i + 2], "little") for i in (0, 2, 4))
        count += 1
    return count
