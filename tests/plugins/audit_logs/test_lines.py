"""Blocks of whole lines from plain and packed logs."""

from __future__ import annotations

import gzip
import io
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.audit_logs import lines
from tinyhost_plugins.audit_logs.lines import CHUNK, Damaged, blocks, chunks


def unpacked(data: bytes) -> bytes:
    return b"".join(chunks(io.BytesIO(data)))


def until_the_damage(file: io.BytesIO) -> tuple[bytes, str]:
    """All that comes out, and why there is no more, "" at the end."""
    found = b""
    try:
        for piece in chunks(file):
            found += piece
    except Damaged as damage:
        return found, str(damage)
    return found, ""


def noise(size: int) -> bytes:
    """What gzip cannot make smaller."""
    return random.Random(1).randbytes(size)


@given(st.lists(st.binary(max_size=40)), st.integers(1, 200))
def test_blocks_hold_the_same_text_and_end_where_lines_end(pieces: list[bytes], size: int) -> None:
    text = b"".join(pieces)
    found = list(blocks(pieces, 10_000, lambda: None))
    assert b"".join(found) == text
    assert all(block.endswith(b"\n") for block in found[:-1])


@given(st.lists(st.integers(0, 60), max_size=20), st.integers(1, 30), st.booleans())
def test_only_lines_that_are_too_long_are_left_out(
    sizes: list[int], step: int, ended: bool
) -> None:
    longest = 20
    text = b"\n".join(b"x" * size for size in sizes) + (b"\n" if ended else b"")
    pieces = [text[place : place + step] for place in range(0, len(text), step)]
    dropped: list[int] = []
    found = b"".join(blocks(pieces, longest, lambda: dropped.append(1))).split(b"\n")
    kept = [size for size in sizes if size <= longest]
    # A longer one may stay where it ends within the piece that makes it too long.
    surely_dropped = sum(1 for size in sizes if size > longest + step)
    assert surely_dropped <= len(dropped) <= len(sizes) - len(kept)
    left = [len(line) for line in found if line]
    assert [size for size in left if size <= longest] == [size for size in kept if size]
    assert all(size <= longest + step for size in left)


@given(st.lists(st.binary(max_size=2000), max_size=5))
def test_packed_members_are_unpacked_one_after_the_other(members: list[bytes]) -> None:
    assert unpacked(b"".join(map(gzip.compress, members))) == b"".join(members)


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17])
@pytest.mark.parametrize("make", [noise, bytes])
def test_any_size_comes_out_whole_in_small_pieces(size: int, make: type[bytes]) -> None:
    data = make(size)
    assert unpacked(data) == data
    pieces = list(chunks(io.BytesIO(gzip.compress(data))))
    assert b"".join(pieces) == data
    assert all(len(piece) <= CHUNK for piece in pieces)


class Slow(io.BytesIO):
    """Gives as many bytes at a time as are said, so that all boundaries are met."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._step)


@given(st.lists(st.binary(max_size=60), max_size=4), st.integers(2, 40), st.integers(0, 50))
def test_it_does_not_matter_where_reads_end(members: list[bytes], step: int, zeros: int) -> None:
    packed = b"".join(gzip.compress(member) + bytes(zeros) for member in members)
    assert b"".join(chunks(Slow(packed, step))) == b"".join(members)


def test_zeros_after_the_end_are_padding() -> None:
    assert unpacked(gzip.compress(b"text") + bytes(100_000)) == b"text"
    assert unpacked(gzip.compress(b"a") + bytes(900_000) + gzip.compress(b"b")) == b"ab"
    assert unpacked(gzip.compress(b"a") + bytes(512) + gzip.compress(b"b")) == b"ab"


def test_where_there_is_no_text_for_long_the_caller_can_stop() -> None:
    members = chunks(io.BytesIO(gzip.compress(b"") * 1000))
    assert sum(1 for _ in members) >= 1000
    zeros = chunks(io.BytesIO(gzip.compress(b"text") + bytes(100 * CHUNK)))
    assert sum(1 for _ in zeros) >= 100


@pytest.mark.parametrize("size", [100, 3 * CHUNK])
def test_a_log_that_was_cut_gives_all_before_the_cut(size: int) -> None:
    data = noise(size)
    text, why = until_the_damage(io.BytesIO(gzip.compress(data)[: -size // 2]))
    assert why == "it ends in the middle"
    assert data.startswith(text)
    assert len(text) >= size // 3


@pytest.mark.parametrize("step", [11, 64, 10_000])
def test_nothing_that_was_unpacked_is_lost_at_a_cut(step: int) -> None:
    data = bytes(3 * CHUNK)
    text, why = until_the_damage(Slow(gzip.compress(data)[:-8], step))
    assert why == "it ends in the middle"
    assert text == data


@given(st.binary(min_size=1, max_size=300), st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_log_is_read_or_refused_and_nothing_else(
    data: bytes, place: int, change: int
) -> None:
    packed = bytearray(gzip.compress(data))
    packed[place % len(packed)] ^= change
    _, why = until_the_damage(io.BytesIO(packed))
    assert why == "" or why.startswith(("it is damaged (", "it ends in the middle"))


def test_what_unpacks_to_very_much_takes_little_memory() -> None:
    bomb = gzip.compress(b'{"verb":"' + bytes(64 * 1024 * 1024), compresslevel=9)
    dropped: list[int] = []
    tracemalloc.start()
    try:
        found = list(blocks(chunks(io.BytesIO(bomb)), 64 * 1024, lambda: dropped.append(1)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found, dropped) == ([], [1])
    assert peak < 4 * 1024 * 1024


def test_pieces_fit_the_numbers_that_the_page_names() -> None:
    assert lines.CHUNK == 256 * 1024
