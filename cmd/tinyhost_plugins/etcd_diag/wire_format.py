"""Protocol Buffers on the wire, as much of them as etcd's records and Kubernetes objects need."""

from __future__ import annotations

from collections.abc import Iterator

from .bolt import Data

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class BadMessage(ValueError):
    """These bytes are no message."""


def varint(data: Data, at: int, end: int) -> tuple[int, int]:
    """The number at a place, and the place behind it. Raises BadMessage."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift > 63:
            break
    raise BadMessage("a number has no end")


def fields(data: Data, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Each field of the message between two places as (field, wire type, start, end or value).

    For VARINT the last two are the value and 0. Raises BadMessage.
    """
    while at < end:
        # Nearly all numbers fit into a byte, and this is the inner loop of reading a snapshot.
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = varint(data, at - 1, end)
        kind = tag & 7
        if kind == VARINT:
            value, at = varint(data, at, end)
            yield tag >> 3, VARINT, value, 0
            continue
        if kind == BYTES:
            length, at = varint(data, at, end)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise BadMessage(f"wire type {kind} is unknown")
        if not tag >> 3 or length > end - at:
            raise BadMessage("a field runs over the end")
        yield tag >> 3, kind, at, at + length
        at += length
