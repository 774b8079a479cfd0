"""The headers of a tar file and what is between them, read as a stream.

The library's own reader takes names and other extra headers into memory whatever their size, so
only its parser of single header blocks is used.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from .archive_errors import ArchiveError

CHUNK = 64 * 1024
BLOCK = 512
# The operating system takes no path longer than 4 KiB.
MOST_EXTRA = 64 * 1024
PLAIN_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
KINDS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a named pipe",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}
# The pax records that say something about a member's name or content; a sparse file has several.
_USED, _SPARSE = (b"path", b"size"), "GNU.sparse."
_PAX_TYPES = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_EXTRA_TYPES = (*_PAX_TYPES, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Counted:
    """Exact reads, each of which is accounted for."""

    __slots__ = ("_account", "_source")

    def __init__(self, source: Source, account: Callable[[int], None]) -> None:
        self._source = source
        self._account = account

    def read(self, size: int) -> bytes:
        """`size` bytes, or fewer at the end."""
        pieces: list[bytes] = []
        while size > 0:
            piece = self._source.read(min(size, CHUNK))
            self._account(len(piece))
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


class Gunzip:
    """What is in a gzip file, a piece at a time, checked against its checksums."""

    __slots__ = ("_data", "_file", "_inflate", "_notes", "_over", "_path")

    def __init__(self, file: BinaryIO, path: Path, notes: list[str]) -> None:
        self._file = file
        self._path = path
        self._notes = notes
        self._data = b""
        self._inflate = zlib.decompressobj(31)
        self._over = False

    def read(self, size: int) -> bytes:
        """Some bytes, at most `size`; none at the end."""
        while not self._over:
            if not self._data:
                self._data = self._file.read(CHUNK)
            if self._inflate.eof and not self._begin_next():
                break
            if not self._data:
                raise ArchiveError(f"{self._path} is cut off: its gzip stream has no end")
            try:
                piece = self._inflate.decompress(self._data, size)
            except zlib.error as error:
                raise ArchiveError(f"{self._path} is damaged: {error}") from None
            self._data = self._inflate.unused_data or self._inflate.unconsumed_tail
            if piece:
                return piece
        return b""

    def _begin_next(self) -> bool:
        """After a stream there may be another one, or zeros, or what does not belong there."""
        while self._data and not self._data.strip(b"\0"):
            self._data = self._file.read(CHUNK)
        if self._data.startswith(b"\x1f\x8b"):
            self._inflate = zlib.decompressobj(31)
            return True
        if self._data:
            self._notes.append("something follows the end of the gzip stream; it was not read")
        self._over = True
        return False


class Body:
    """The content of a tar member, and the padding after it."""

    __slots__ = ("_left", "_name", "_padding", "_path", "_source")

    def __init__(self, source: Counted, info: tarfile.TarInfo, path: Path) -> None:
        self._source = source
        self._left = info.size
        self._padding = -info.size % BLOCK
        self._path = path
        self._name = info.name

    def chunks(self) -> Iterator[bytes]:
        """What has not been read yet."""
        while self._left:
            piece = self._source.read(min(self._left, CHUNK))
            if not piece:
                raise ArchiveError(f"{self._path} is cut off in {self._name:.200}")
            self._left -= len(piece)
            yield piece

    def finish(self) -> None:
        """Go past what has not been read."""
        for _piece in self.chunks():
            pass
        self._source.read(self._padding)
        self._padding = 0


def headers(source: Counted, path: Path, notes: list[str]) -> Iterator[tarfile.TarInfo]:
    """The members' headers with their full names. Between two, the content has to be read."""
    extra: dict[str, str] = {}
    first = True
    while block := source.read(BLOCK):
        if not block.strip(b"\0"):
            _rest(source, notes)
            return
        info = _header(block, path, first)
        first = False
        if info.type == tarfile.XGLTYPE:
            _small_body(source, info, path)
        elif info.type in _EXTRA_TYPES:
            extra |= _extra_header(info.type, _small_body(source, info, path), path)
        else:
            if info.type == tarfile.GNUTYPE_SPARSE:
                _pass_sparse_map(source, block)
            _complete(info, extra, path)
            extra = {}
            yield info
    if first:
        raise ArchiveError(f"{path} is empty")
    notes.append("the tar file has no end mark; it may be cut off")


def _header(block: bytes, path: Path, first: bool) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
    except (tarfile.HeaderError, ValueError, OverflowError):
        if first:
            raise ArchiveError(f"{path} is not a tar, tar.gz or zip file") from None
        what = "cut off" if len(block) < BLOCK else "damaged"
        raise ArchiveError(f"{path} is {what} between two files") from None
    if info.size < 0:
        raise ArchiveError(f"{path} has a file of a negative size, {info.name:.200}")
    # Folders, links and devices have no content, whatever the field says.
    if info.type == tarfile.DIRTYPE or (info.type in KINDS and info.type != tarfile.GNUTYPE_SPARSE):
        info.size = 0
    return info


def _pass_sparse_map(source: Counted, block: bytes) -> None:
    more = block[482]
    while more:
        block = source.read(BLOCK)
        more = block[504] if len(block) == BLOCK else 0


def _complete(info: tarfile.TarInfo, extra: dict[str, str], path: Path) -> None:
    """Put in what the extra headers before a member said about it."""
    if "size" in extra and info.type in PLAIN_TYPES:
        if not (extra["size"].isascii() and extra["size"].isdigit() and len(extra["size"]) < 20):
            raise ArchiveError(f"{path} has a file without a proper size, {info.name:.200}")
        info.size = int(extra["size"])
    info.name = extra.get("path", info.name)
    if info.type in PLAIN_TYPES and info.name.endswith("/"):
        info.type = tarfile.DIRTYPE
    if _SPARSE in extra:
        info.type = tarfile.GNUTYPE_SPARSE


def _small_body(source: Counted, info: tarfile.TarInfo, path: Path) -> bytes:
    if info.size > MOST_EXTRA:
        raise ArchiveError(f"{path} has a header of {info.size} bytes; {MOST_EXTRA} are allowed")
    body = source.read(info.size)
    if len(body) < info.size:
        raise ArchiveError(f"{path} is cut off in a header")
    source.read(-info.size % BLOCK)
    return body


def _extra_header(kind: bytes, body: bytes, path: Path) -> dict[str, str]:
    if kind in _PAX_TYPES:
        return _pax(body, path)
    text = body.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")
    return {"path": text} if kind == tarfile.GNUTYPE_LONGNAME else {}


def _pax(body: bytes, path: Path) -> dict[str, str]:
    """The records of a pax header, each "<length> <key>=<value>" and a newline.

    Only those that are used are kept: a member may have any number of such headers before it.
    """
    records: dict[str, str] = {}
    while body.strip(b"\0"):
        digits, blank, _after = body.partition(b" ")
        length = int(digits) if digits.isdigit() and len(digits) < 8 else 0
        key, equals, value = body[len(digits) + 1 : max(length - 1, 0)].partition(b"=")
        if not blank or not equals or length > len(body):
            raise ArchiveError(f"{path} has a damaged pax header")
        if key.startswith(_SPARSE.encode()):
            records[_SPARSE] = ""
        elif key in _USED:
            records[key.decode()] = value.decode("utf-8", "backslashreplace")
        body = body[length:]
    return records


def _rest(source: Counted, notes: list[str]) -> None:
    """Read to the end, so that the checksum is checked; say when something follows the end mark."""
    more = False
    while piece := source.read(CHUNK):
        more = more or bool(piece.strip(b"\0"))
    if more:
        notes.append("something follows the end mark of the tar file; it was not read")
