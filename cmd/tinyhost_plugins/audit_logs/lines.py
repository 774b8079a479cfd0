"""A log as blocks of whole lines, unpacked where it is packed, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

# Large enough for the costs of a block not to count, small enough for the processor's cache.
CHUNK = 256 * 1024
_PACKED = 64 * 1024
_GZIP = b"\x1f\x8b"
_WITH_GZIP_HEADER = 31


class Damaged(Exception):
    """The rest of a packed log cannot be read; the text says why."""


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """The text in pieces of at most CHUNK bytes. Whether it is packed, its first bytes tell.

    Some pieces are empty, so that whoever takes them can stop also where there is no text for long.
    Raises Damaged, after all that can be read, and OSError.
    """
    data = file.read(CHUNK)
    if data.startswith(_GZIP):
        yield from _unpacked(data, file)
        return
    while data:
        yield data
        data = file.read(CHUNK)


def _unpacked(data: bytes, file: BinaryIO) -> Iterator[bytes]:
    stream = zlib.decompressobj(_WITH_GZIP_HEADER)
    while True:
        try:
            text = stream.decompress(data, CHUNK)
        except zlib.error as error:
            raise Damaged(f"it is damaged ({error})") from None
        data = stream.unconsumed_tail
        yield text
        if stream.eof:
            # Another member may follow, and zeros that fill up a block.
            data = stream.unused_data
            while not (data := data.lstrip(b"\0")):
                data = file.read(_PACKED)
                if not data:
                    return
                yield b""
            stream = zlib.decompressobj(_WITH_GZIP_HEADER)
        elif not data:
            data = file.read(_PACKED)
            if not data and not text:
                raise Damaged("it ends in the middle")


def blocks(pieces: Iterable[bytes], longest: int, left_out: Callable[[], None]) -> Iterator[bytes]:
    """The pieces, cut after the ends of lines.

    A line of more than `longest` bytes that does not end within a piece is left out; left_out
    is called for each.
    """
    rest = b""
    skipping = False
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        start = 0
        if skipping:
            start = piece.find(b"\n") + 1
            if not start:
                continue
            skipping = False
        if end > start:
            yield rest + piece[start:end]
            rest = b""
        # Where there was no end of a line, this is what continues it.
        rest += piece[end:]
        if len(rest) > longest:
            rest, skipping = b"", True
            left_out()
    if rest:
        yield rest
