"""One walk through a database: what there is of each kind, and what is history."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from . import bolt, kinds
from .bolt import Bucket, Corrupt, Data, Database, Element
from .cluster_state import alarm_name
from .key_table import KeyTable
from .pace import Pace
from .records import Revision, is_tombstone, key_at, record, revision
from .wire_format import VARINT, BadMessage, fields

KEY_BUCKET = b"key"
_META_BUCKET = b"meta"
_REVISION_NAMES = (b"finishedCompactRev", b"scheduledCompactRev")
_NUMBER_NAMES = (b"consistent_index", b"term")
_OFTEN = 1024
_MOST_KINDS = 5000
_MOST_MEMBERS = 64
_MOST_FACTS = 16
# etcd has no bucket within a bucket.
_DEEPEST = 8
LARGEST, BUSIEST = 20, 10


class TooManyKeys(Exception):
    """There are more keys than may be remembered."""


@dataclass(slots=True)
class Tally:
    """Counts for the keys of one kind. Bytes are those of values, without keys.

    live: keys that exist. old: records that a newer one of the same key has replaced.
    gone: keys that are deleted, of which a record is still there.
    """

    live: int = 0
    live_bytes: int = 0
    largest: int = 0
    old: int = 0
    old_bytes: int = 0
    gone: int = 0


class Top:
    """The entries with the greatest numbers; equal ones in the order of their keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: list[tuple[int, bytes]] = []
        self._least = 0

    def add(self, number: int, key: bytes) -> None:
        if number >= self._least:
            self._entries.append((-number, key))
            if len(self._entries) >= 4 * self._most:
                self._trim()

    def entries(self) -> list[tuple[int, bytes]]:
        """At most that many, greatest first."""
        self._trim()
        return [(-number, key) for number, key in self._entries]

    def _trim(self) -> None:
        self._entries.sort()
        del self._entries[self._most :]
        if len(self._entries) == self._most:
            self._least = -self._entries[-1][0]


@dataclass(slots=True)
class Survey:
    """What a snapshot holds.

    entries: by bucket, for all buckets. revisions: records in the bucket "key"; tombstones is how
    many of them are deletions, puts the others. first, last: the lowest and highest revision.
    free_pages: of pages; unused and not counted as the lists of free pages.
    leaked: pages that are neither used nor free, when the file says which are free.
    """

    keys: KeyTable
    kinds: dict[tuple[str, str], Tally] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    members: list[bytes] = field(default_factory=list)
    largest: Top = field(default_factory=lambda: Top(LARGEST))
    busiest: Top = field(default_factory=lambda: Top(BUSIEST))
    first: Revision | None = None
    last: Revision | None = None
    revisions: int = 0
    tombstones: int = 0
    leased: int = 0
    free_pages: int = 0
    leaked: int | None = None

    def total(self) -> Tally:
        """The counts of all kinds together."""
        sums = Tally()
        for tally in self.kinds.values():
            sums.live += tally.live
            sums.live_bytes += tally.live_bytes
            sums.largest = max(sums.largest, tally.largest)
            sums.old += tally.old
            sums.old_bytes += tally.old_bytes
            sums.gone += tally.gone
        return sums


def survey(database: Database, prefixes: tuple[str, ...], most: int, pace: Pace) -> Survey:
    """Walk through the whole database. Raises Corrupt, TooManyKeys, HandlerError."""
    data = database.data
    result = Survey(KeyTable(lambda at: key_at(data, at)))
    free = database.freelist()
    for bucket in database.buckets():
        if bucket.name == KEY_BUCKET:
            count = _Walk(database, result, prefixes, most, pace).go(bucket)
        else:
            count = _small(database, bucket, result, pace)
        result.entries[bucket.name.decode(errors="backslashreplace")] = count
    _count_pages(database, result, free)
    return result


def _count_pages(database: Database, result: Survey, free: Sequence[int] | None) -> None:
    unused = database.pages - 2 - sum(database.used)
    if free is None:
        result.free_pages = unused
        return
    used = database.used
    for number in free:
        if not 2 <= number < database.pages or used[number]:
            raise Corrupt(f"the freelist calls page {number} free, which it is not")
    result.free_pages = len(free)
    result.leaked = unused - len(set(free))


class _Walk:
    """The walk through the records, newest first: the first record of a key is its state."""

    def __init__(
        self,
        database: Database,
        result: Survey,
        prefixes: tuple[str, ...],
        most: int,
        pace: Pace,
    ) -> None:
        self._database = database
        self._result = result
        self._prefixes = prefixes
        self._most = most
        self._pace = pace

    def go(self, bucket: Bucket) -> int:
        database, result = self._database, self._result
        newer: Revision | None = None
        count = 0
        for page in database.leaves(bucket, backwards=True):
            for element in database.elements(page, backwards=True):
                at = revision(database.data, element.key, element.value)
                if newer is None:
                    result.last = at
                elif at >= newer:
                    raise Corrupt(f"revision {at.main} at byte {element.at} is out of order")
                newer = at
                self._take(element)
                count += 1
                if not count % _OFTEN:
                    self._pace.tick(f"reading the snapshot ({count:,} revisions so far)")
        result.first, result.revisions = newer, count
        return count

    def _take(self, element: Element) -> None:
        result = self._result
        item = record(self._database.data, element.value, element.end)
        tally = self._tally(item.key)
        size = item.end - item.start
        deleted = is_tombstone(element)
        result.tombstones += deleted
        if not result.keys.add(item.key, element.at):
            tally.old += 1
            tally.old_bytes += size
        elif len(result.keys) > self._most:
            raise TooManyKeys
        elif deleted:
            tally.gone += 1
        else:
            tally.live += 1
            tally.live_bytes += size
            tally.largest = max(tally.largest, size)
            result.leased += bool(item.lease)
            result.largest.add(size, item.key)
            result.busiest.add(item.version, item.key)

    def _tally(self, key: bytes) -> Tally:
        prefix, kind, _namespace, _name = kinds.place(key.decode(errors="replace"), self._prefixes)
        tallies = self._result.kinds
        tally = tallies.get((prefix, kind))
        if tally is None:
            if len(tallies) >= _MOST_KINDS:
                prefix, kind = "", "(others)"
            tally = tallies.setdefault((prefix, kind), Tally())
        return tally


def _small(database: Database, bucket: Bucket, result: Survey, pace: Pace, depth: int = 0) -> int:
    """Walk through a bucket other than that of the records; how many entries it has."""
    data = database.data
    count = 0
    for page in database.leaves(bucket):
        for element in database.elements(page):
            count += 1
            if not count % _OFTEN:
                pace.tick(f"reading the bucket {bucket.name[:40]!r}")
            if element.flags & bolt.IS_BUCKET:
                if depth == _DEEPEST:
                    raise Corrupt(f"buckets lie {depth} deep in each other at byte {element.at}")
                count += _small(database, database.bucket(element), result, pace, depth + 1)
            elif bucket.name == _META_BUCKET:
                _note(data[element.key : element.value], data[element.value : element.end], result)
            elif bucket.name == b"members" and len(result.members) < _MOST_MEMBERS:
                result.members.append(data[element.value : element.end][:4096])
            elif bucket.name == b"alarm":
                _note_alarm(data, element, result)
            elif bucket.name == b"cluster" and len(result.facts) < _MOST_FACTS:
                name = data[element.key : element.value][:40].decode(errors="replace")
                value = data[element.value : element.end][:80].decode(errors="replace")
                result.facts[name] = value
    return count


def _note(name: bytes, value: bytes, result: Survey) -> None:
    """Keep what is known of the bucket "meta"."""
    if name in _REVISION_NAMES and len(value) >= 8:
        result.numbers[name.decode()] = struct.unpack_from(">Q", value)[0]
    elif name in _NUMBER_NAMES and len(value) == 8:
        result.numbers[name.decode()] = struct.unpack(">Q", value)[0]
    elif name == b"storageVersion":
        result.facts["storageVersion"] = value[:40].decode(errors="replace")


def _note_alarm(data: Data, element: Element, result: Survey) -> None:
    """An alarm is named by a message of the member and what it complains of."""
    numbers = [0, 0, 0]
    with suppress(BadMessage):
        for number, kind, value, _ in fields(data, element.key, element.value):
            if kind == VARINT and number in (1, 2):
                numbers[number] = value
    name = alarm_name(numbers[2])
    result.facts["alarm"] = f"{name} on {numbers[1]:x}"
