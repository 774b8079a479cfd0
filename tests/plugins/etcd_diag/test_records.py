"""Revisions, records, the table of keys, and the wire format below them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.bolt import Corrupt
from tinyhost_plugins.etcd_diag.key_table import KeyTable
from tinyhost_plugins.etcd_diag.records import Revision, record, revision
from tinyhost_plugins.etcd_diag.wire_format import BadMessage, fields
from tinyhost_plugins.etcd_diag.wire_format import varint as read_varint

from .conftest import field, varint

NUMBERS = st.integers(0, 2**63 - 1)


@given(NUMBERS, NUMBERS)
def test_a_revision_is_two_numbers_and_perhaps_the_mark_of_a_deletion(main: int, sub: int) -> None:
    name = struct.pack(">QcQ", main, b"_", sub)
    assert revision(name, 0, 17) == Revision(main, sub)
    assert revision(b"xx" + name + b"t", 2, 20) == Revision(main, sub)


@pytest.mark.parametrize("name", [b"", b"/registry/pods/a", bytes(17), bytes(8) + b"_" + bytes(9)])
def test_what_names_no_revision_is_corrupt(name: bytes) -> None:
    with pytest.raises(Corrupt, match="is named by no revision"):
        revision(name, 0, len(name))


@given(st.binary(max_size=50), NUMBERS, NUMBERS, NUMBERS, st.binary(max_size=300), NUMBERS)
def test_a_record_comes_back_as_etcd_writes_it(
    key: bytes, created: int, modified: int, version: int, value: bytes, lease: int
) -> None:
    message = field(1, key)
    for number, content in ((2, created), (3, modified), (4, version)):
        message += varint(number << 3) + varint(content)
    message += field(5, value) + varint(6 << 3) + varint(lease)
    found = record(b"??" + message, 2, 2 + len(message))
    assert found[:4] == (key, created, modified, version)
    assert found.lease == lease
    assert (b"??" + message)[found.start : found.end] == value


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_corrupt(content: bytes) -> None:
    try:
        found = record(content, 0, len(content))
    except Corrupt:
        return
    assert 0 <= found.start <= found.end <= len(content)


@given(st.binary(max_size=200))
def test_fields_stay_within_the_message(content: bytes) -> None:
    try:
        for _, kind, start, end in fields(content, 0, len(content)):
            assert kind == 0 or 0 <= start <= end <= len(content)
    except BadMessage:
        pass


@given(st.integers(0, 2**64 - 1))
def test_a_number_comes_back(value: int) -> None:
    content = varint(value)
    assert read_varint(content, 0, len(content)) == (value, len(content))
    with pytest.raises(BadMessage):
        read_varint(content, 0, len(content) - 1)


@given(st.lists(st.binary(max_size=3), max_size=3000))
def test_the_table_keeps_the_first_place_of_each_key(keys: list[bytes]) -> None:
    places = list(enumerate(keys, 1))
    table = KeyTable(lambda place: keys[place - 1])
    first: dict[bytes, int] = {}
    for place, key in places:
        assert table.add(key, place) == (key not in first)
        first.setdefault(key, place)
    assert len(table) == len(first)
    assert sorted(table) == sorted(first.values())
    assert all(table.find(key) == place for key, place in first.items())
    assert table.find(b"none of them") == 0


def test_the_table_grows_over_its_first_size() -> None:
    keys = [b"%d" % number for number in range(20_000)]
    table = KeyTable(lambda place: keys[place - 1])
    assert all(table.add(key, place) for place, key in enumerate(keys, 1))
    assert [table.find(key) for key in keys] == list(range(1, 20_001))
