"""Reading bbolt files: pages, buckets and elements, every offset checked before it is used."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from mmap import mmap
from typing import NamedTuple

Data = mmap | bytes

MAGIC, VERSION = 0xED0CDAED, 2
BRANCH, LEAF, META, FREELIST = 0x01, 0x02, 0x04, 0x10
IS_BUCKET = 0x01
NO_FREELIST = 0xFFFFFFFFFFFFFFFF
_MANY = 0xFFFF

_PAGE = struct.Struct("<QHHI")
_META = struct.Struct("<IIIIQQQQQQ")
_BUCKET = struct.Struct("<QQ")
_LEAF = struct.Struct("<IIII")
_BRANCH = struct.Struct("<IIQ")
_COUNT = struct.Struct("<Q")
# A tree with two children at each branch and 2**64 pages is less deep.
_DEEPEST = 64
_PAGE_SIZES = tuple(1 << power for power in range(9, 17))


class Corrupt(Exception):
    """The file is not what bbolt writes; the text says where."""


class Meta(NamedTuple):
    page_size: int
    root: int
    freelist: int
    high_water: int
    txid: int


class Page(NamedTuple):
    """Where a page lies in the file, in bytes."""

    start: int
    end: int
    flags: int
    entries: int


class Element(NamedTuple):
    """An entry of a leaf, in bytes from the start of the file. The key ends where the value starts."""

    at: int
    flags: int
    key: int
    value: int
    end: int


class Bucket(NamedTuple):
    """root: the page its tree begins with; 0 when its only page is inside its value."""

    name: bytes
    root: int
    inline: Page | None


def find_meta(data: Data, length: int) -> Meta:
    """The newer one of the two meta pages that is valid. Raises Corrupt."""
    first = _meta_at(data, length, 0)
    sizes = (first.page_size,) if first else _PAGE_SIZES
    second = [meta for size in sizes if (meta := _meta_at(data, length, size)) is not None]
    found = [meta for meta in (first, *second) if meta is not None]
    if not found:
        raise Corrupt("neither of the two meta pages is valid, so this is no bbolt database")
    return max(found, key=lambda meta: meta.txid)


def _meta_at(data: Data, length: int, at: int) -> Meta | None:
    start = at + _PAGE.size
    if start + _META.size > length:
        return None
    magic, version, page_size, _flags, root, _sequence, freelist, high, txid, checksum = (
        _META.unpack_from(data, start)
    )
    if magic != MAGIC or version != VERSION or page_size not in _PAGE_SIZES:
        return None
    if checksum != fnv1a(data[start : start + _META.size - 8]):
        return None
    return Meta(page_size, root, freelist, high, txid)


def fnv1a(data: bytes) -> int:
    """The 64-bit FNV-1a hash, which protects a meta page."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def element_at(data: Data, at: int) -> Element:
    """The leaf element whose header is there; only for places that elements() gave."""
    flags, pos, key_size, value_size = _LEAF.unpack_from(data, at)
    key = at + pos
    return Element(at, flags, key, key + key_size, key + key_size + value_size)


class Database:
    """A bbolt database in `length` bytes of data. Raises Corrupt, also in its methods.

    used: one byte for each page, set when a walk has come through it.
    """

    def __init__(self, data: Data, length: int) -> None:
        self.data = data
        self.length = length
        self.meta = find_meta(data, length)
        self.pages = min(self.meta.high_water, length // self.meta.page_size)
        self.used = bytearray(self.pages)

    @property
    def missing(self) -> int:
        """Bytes that the meta page promises and the file does not have."""
        return max(0, self.meta.high_water * self.meta.page_size - self.length)

    def buckets(self) -> Iterator[Bucket]:
        """The buckets at the top level, in the order of their names."""
        for page in self.leaves(Bucket(b"", self.meta.root, None)):
            for element in self.elements(page):
                yield self.bucket(element)

    def bucket(self, element: Element) -> Bucket:
        """The bucket that an element with the flag IS_BUCKET holds."""
        name = self.data[element.key : element.value]
        if not element.flags & IS_BUCKET or element.end - element.value < _BUCKET.size:
            raise Corrupt(f"the entry {name[:40]!r} at byte {element.at} is not a bucket")
        root, _sequence = _BUCKET.unpack_from(self.data, element.value)
        inline = None
        if not root:
            inline = self._header(element.value + _BUCKET.size, element.end, "an inline page")
            if not inline.flags & LEAF:
                raise Corrupt(f"the bucket {name[:40]!r} is inline, but its page is no leaf")
        return Bucket(name, root, inline)

    def leaves(self, bucket: Bucket, *, backwards: bool = False) -> Iterator[Page]:
        """The leaf pages of a bucket in the order of their keys, or against it.

        Each page may be met once in the life of this object: a page in two places is corruption.
        """
        if bucket.inline is not None:
            yield bucket.inline
            return
        # A stack of what is left to do at each level, instead of recursion.
        levels: list[Iterator[int]] = [iter((bucket.root,))]
        while levels:
            number = next(levels[-1], None)
            if number is None:
                levels.pop()
                continue
            page = self._page(number)
            if page.flags & LEAF:
                yield page
            elif page.flags & BRANCH:
                if len(levels) >= _DEEPEST:
                    raise Corrupt(f"page {number} lies deeper than {_DEEPEST} levels")
                levels.append(self._children(page, backwards))
            else:
                raise Corrupt(f"page {number} is neither a branch nor a leaf")

    def elements(self, page: Page, *, backwards: bool = False) -> Iterator[Element]:
        """The entries of a leaf page in their order, or against it."""
        first = page.start + _PAGE.size
        fields = struct.unpack_from(f"<{4 * page.entries}I", self.data, first)
        order = range(page.entries)
        for index in reversed(order) if backwards else order:
            flags, pos, key_size, value_size = fields[4 * index : 4 * index + 4]
            at = first + _LEAF.size * index
            key = at + pos
            value = key + key_size
            end = value + value_size
            if end > page.end or pos < _LEAF.size:
                raise Corrupt(f"entry {index} of the page at byte {page.start} lies outside of it")
            yield Element(at, flags, key, value, end)

    def freelist(self) -> array[int] | None:
        """The numbers of the free pages; None when the file does not keep them, as etcd's do not."""
        if self.meta.freelist == NO_FREELIST:
            return None
        page = self._page(self.meta.freelist)
        if not page.flags & FREELIST:
            raise Corrupt(f"page {self.meta.freelist} is not the freelist that it should be")
        at, count = page.start + _PAGE.size, page.entries
        if count == _MANY:
            count = _COUNT.unpack_from(self.data, at)[0]
            at += _COUNT.size
        if at + 8 * count > page.end:
            raise Corrupt(f"the freelist claims {count} pages, more than fit into it")
        return array("Q", struct.unpack_from(f"<{count}Q", self.data, at))

    def _page(self, number: int) -> Page:
        size = self.meta.page_size
        if not 2 <= number < self.pages:
            raise Corrupt(f"there is no page {number}: the file has {self.pages}")
        what = f"page {number}"
        written, _flags, _count, overflow = _PAGE.unpack_from(self.data, number * size)
        if written != number:
            raise Corrupt(f"{what} bears the number {written}, at byte {number * size}")
        last = number + overflow
        if last >= self.pages:
            raise Corrupt(f"{what} runs over the end of the file")
        if any(self.used[number : last + 1]):
            raise Corrupt(f"{what} is in use twice")
        self.used[number : last + 1] = b"\1" * (overflow + 1)
        return self._header(number * size, (last + 1) * size, what)

    def _header(self, start: int, end: int, what: str) -> Page:
        if start + _PAGE.size > end:
            raise Corrupt(f"{what} at byte {start} has no room for its header")
        _id, flags, count, _overflow = _PAGE.unpack_from(self.data, start)
        # Branch and leaf elements have the same size.
        if flags & (LEAF | BRANCH) and start + _PAGE.size + _LEAF.size * count > end:
            raise Corrupt(f"{what} at byte {start} claims {count} entries, more than fit into it")
        return Page(start, end, flags, count)

    def _children(self, page: Page, backwards: bool) -> Iterator[int]:
        first = page.start + _PAGE.size
        order = range(page.entries)
        for index in reversed(order) if backwards else order:
            yield _BRANCH.unpack_from(self.data, first + _BRANCH.size * index)[2]
