"""What etcd keeps in its database: revisions, and a KeyValue message for each."""

from __future__ import annotations

import struct
from typing import NamedTuple

from .bolt import Corrupt, Data, Element, element_at
from .wire_format import BYTES, VARINT, BadMessage, fields

_REVISION = struct.Struct(">QcQ")
PLAIN, TOMBSTONE = _REVISION.size, _REVISION.size + 1


class Revision(NamedTuple):
    main: int
    sub: int


class Record(NamedTuple):
    """A KeyValue. The value lies between two places of the file."""

    key: bytes
    created: int
    modified: int
    version: int
    start: int
    end: int
    lease: int


def revision(data: Data, start: int, end: int) -> Revision:
    """The revision that is the name of a record; one more byte "t" marks a deletion.

    Raises Corrupt.
    """
    length = end - start
    if length in (PLAIN, TOMBSTONE):
        main, mark, sub = _REVISION.unpack_from(data, start)
        if mark == b"_" and (length == PLAIN or data[end - 1] == ord("t")):
            return Revision(main, sub)
    raise Corrupt(f"the entry at byte {start} is named by no revision")


def is_tombstone(element: Element) -> bool:
    """Whether the record says that its key was deleted."""
    return element.value - element.key == TOMBSTONE


def record(data: Data, start: int, end: int) -> Record:
    """The KeyValue between two places. Raises Corrupt."""
    key = b""
    numbers = [0, 0, 0, 0, 0, 0, 0]
    value = (end, end)
    try:
        for field, kind, first, last in fields(data, start, end):
            if kind == VARINT and field in (2, 3, 4, 6):
                numbers[field] = first
            elif kind == BYTES and field == 1:
                key = data[first:last]
            elif kind == BYTES and field == 5:
                value = (first, last)
    except BadMessage as error:
        raise Corrupt(f"the record at byte {start} cannot be read: {error}") from None
    return Record(key, numbers[2], numbers[3], numbers[4], *value, numbers[6])


def record_at(data: Data, at: int) -> Record:
    """The record of the leaf element at a place that a walk has been through."""
    element = element_at(data, at)
    return record(data, element.value, element.end)


def key_at(data: Data, at: int) -> bytes:
    """The key alone of record_at."""
    element = element_at(data, at)
    for field, kind, first, last in fields(data, element.value, element.end):
        if field == 1 and kind == BYTES:
            return data[first:last]
    return b""
