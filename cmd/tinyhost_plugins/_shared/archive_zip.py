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
_END, _LOCATOR = b"PK\x05\x06", b"PK\x06\x07"
# The record at the end, and a comment of at most 64 KiB.
_TAIL = 22 + 65_535 + 20
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
    """The library reads the list of members as a whole, so its size is checked before."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    end = tail.rfind(_END)
    if end < 0 or len(tail) < end + 22:
        raise ArchiveError(f"{path} is not a whole zip file: its list of members is missing")
    length = int.from_bytes(tail[end + 12 : end + 16], "little")
    locator = tail[max(0, end - 20) : end]
    if locator.startswith(_LOCATOR):
        file.seek(min(int.from_bytes(locator[8:16], "little"), size))
        length = int.from_bytes(file.read(56)[40:48], "little")
    file.seek(0)
    if length > entries * _BYTES_PER_ENTRY:
        raise ArchiveError(f"{path} has more than the {entries} entries that are allowed")
