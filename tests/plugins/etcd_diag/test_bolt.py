"""Reading bbolt: what a real etcd wrote, and the same with every kind of damage."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.bolt import Corrupt, Database, fnv1a
from tinyhost_plugins.etcd_diag.options import PREFIXES
from tinyhost_plugins.etcd_diag.pace import Pace
from tinyhost_plugins.etcd_diag.survey import Survey, survey
from tinyhost_sdk import ToolContext

from .conftest import Saved

PAGE = 4096


def database(saved: Saved) -> bytes:
    return saved.path.read_bytes()[:-32]


def walk(data: bytes) -> Survey:
    return survey(Database(data, len(data)), PREFIXES, 100_000, Pace(ToolContext(), 60))


def newer_meta(data: bytes) -> int:
    """Where the meta page starts that is in use."""
    first, second = (struct.unpack_from("<Q", data, page * PAGE + 16 + 48)[0] for page in (0, 1))
    return PAGE if second > first else 0


def with_meta(data: bytes, **numbers: int) -> bytes:
    """The same database with other numbers in the meta page that is in use, and a right checksum."""
    places = {"root": 16, "freelist": 32, "high_water": 40}
    changed = bytearray(data)
    start = newer_meta(data) + 16
    for name, number in numbers.items():
        struct.pack_into("<Q", changed, start + places[name], number)
    checksum = fnv1a(bytes(changed[start : start + 56]))
    struct.pack_into("<Q", changed, start + 56, checksum)
    return bytes(changed)


def test_the_hash_of_a_meta_page_is_fnv_1a() -> None:
    assert fnv1a(b"") == 0xCBF29CE484222325
    assert fnv1a(b"a") == 0xAF63DC4C8601EC8C
    assert fnv1a(b"foobar") == 0x85944171F73967E8


def test_a_damaged_meta_page_leaves_the_other_one(saved: Saved) -> None:
    whole = database(saved)
    for page in (0, 1):
        data = bytearray(whole)
        data[page * PAGE + 16 + 40] ^= 0xFF
        meta = Database(bytes(data), len(data)).meta
        assert meta.page_size == PAGE
    data = bytearray(whole)
    data[16] ^= 1
    data[PAGE + 16] ^= 1
    with pytest.raises(Corrupt, match="neither of the two meta pages"):
        Database(bytes(data), len(data))


def test_every_page_is_either_used_or_free(saved: Saved) -> None:
    data = database(saved)
    base = Database(data, len(data))
    found = survey(base, PREFIXES, 100_000, Pace(ToolContext(), 60))
    assert base.pages * PAGE == len(data)
    assert sum(base.used) + found.free_pages + 2 == base.pages


def test_a_freelist_that_is_stored_is_held_against_the_pages(saved: Saved) -> None:
    data = database(saved)
    base = Database(data, len(data))
    free = next(page for page in range(2, base.pages) if not _used(data)[page])
    number = base.pages

    def stored(*pages: int) -> bytes:
        page = struct.pack("<QHHI", number, 0x10, len(pages), 0)
        page += b"".join(struct.pack("<Q", page) for page in pages)
        return with_meta(data + page.ljust(PAGE, b"\0"), freelist=number, high_water=number + 1)

    others = [page for page in range(2, base.pages) if not _used(data)[page]]
    assert walk(stored(*others)).leaked == 0
    assert walk(stored(free)).leaked == len(others) - 1
    used = next(page for page in range(2, base.pages) if _used(data)[page])
    with pytest.raises(Corrupt, match=f"calls page {used} free, which it is not"):
        walk(stored(used))


def _used(data: bytes) -> bytearray:
    base = Database(data, len(data))
    survey(base, PREFIXES, 100_000, Pace(ToolContext(), 60))
    return base.used


def test_a_tree_that_comes_back_to_a_page_is_refused(saved: Saved) -> None:
    data = bytearray(database(saved))
    base = Database(bytes(data), len(data))
    branches = [
        page
        for page in range(2, base.pages)
        if struct.unpack_from("<QH", data, page * PAGE) == (page, 1) and _used(bytes(data))[page]
    ]
    assert branches, "the snapshot should be large enough to have a branch page"
    # Let its first child be the branch page itself.
    struct.pack_into("<Q", data, branches[0] * PAGE + 16 + 8, branches[0])
    with pytest.raises(Corrupt, match="in use twice"):
        walk(bytes(data))


def test_a_root_outside_of_the_file_is_refused(saved: Saved) -> None:
    data = database(saved)
    for root in (0, 1, 1 << 40, len(data) // PAGE):
        with pytest.raises(Corrupt, match=f"there is no page {root}"):
            walk(with_meta(data, root=root))


def test_a_high_water_mark_beyond_the_file_is_called_missing_bytes(saved: Saved) -> None:
    data = database(saved)
    more = Database(with_meta(data, high_water=len(data) // PAGE + 3), len(data))
    assert more.missing == 3 * PAGE
    assert Database(data, len(data)).missing == 0


@given(
    damage=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=20),
    keep=st.floats(0, 1),
)
def test_no_damage_is_more_than_corrupt(
    saved: Saved, damage: list[tuple[float, int]], keep: float
) -> None:
    data = bytearray(database(saved))
    for where, byte in damage:
        data[int(where * (len(data) - 1))] = byte
    del data[int(max(keep, 0.5) * len(data)) :]
    with contextlib.suppress(Corrupt):
        assert walk(bytes(data)).revisions >= 0


@given(page=st.floats(0, 1), at=st.integers(0, 200), content=st.binary(min_size=1, max_size=24))
def test_no_damage_to_the_headers_of_a_page_is_more_than_corrupt(
    saved: Saved, page: float, at: int, content: bytes
) -> None:
    data = bytearray(database(saved))
    start = int(page * (len(data) // PAGE - 1)) * PAGE + at
    data[start : start + len(content)] = content
    with contextlib.suppress(Corrupt):
        assert walk(bytes(data)).revisions >= 0


@given(st.binary(max_size=300))
def test_what_is_no_database_is_corrupt(content: bytes) -> None:
    with pytest.raises(Corrupt):
        Database(content, len(content))
