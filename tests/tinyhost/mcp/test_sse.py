from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.mcp.sse import Event, EventParser


def parse(*chunks: bytes, limit: int = 1000) -> list[Event]:
    parser = EventParser(limit)
    return [event for chunk in chunks for event in parser.feed(chunk)]


def test_an_event_has_data_kind_id_and_retry() -> None:
    [event] = parse(b"event: x\nid: 7\nretry: 500\ndata: a\ndata:b\n\n")
    assert event == Event(b"a\nb", "x", "7", 500)


def test_without_a_kind_it_is_a_message_and_comments_are_passed_over() -> None:
    [event] = parse(b": hello\n\n:\ndata: a\n\n")
    assert event == Event(b"a", "message", "", None)


def test_an_id_stays_until_another_comes() -> None:
    events = parse(b"id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n")
    assert [event.id for event in events] == ["1", "1", "2"]


def test_what_is_not_finished_is_no_event() -> None:
    assert parse(b"data: a\n") == []


@pytest.mark.parametrize("bad", [b"retry: soon\n", b"retry: -1\n", b"id: a\0b\n", b"unknown: 1\n"])
def test_fields_that_make_no_sense_are_passed_over(bad: bytes) -> None:
    assert parse(bad + b"data: a\n\n") == [Event(b"a", "message", "", None)]


def test_an_event_that_is_too_long_is_refused_wherever_it_is_cut() -> None:
    with pytest.raises(ValueError, match="longer than 1000"):
        parse(b"data: " + b"x" * 1200)
    with pytest.raises(ValueError, match="longer than 1000"):
        parse(*[b"data: " + b"x" * 90 + b"\n"] * 20)
    assert len(parse(*[b"data: " + b"x" * 90 + b"\n\n"] * 20)) == 20


_LINES = st.sampled_from(
    [b"data: a", b"data:", b"id: 1", b"retry: 5", b"event: e", b":c", b"", b"data: \xff", b"x"]
)


@given(
    st.lists(st.tuples(_LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=20),
    st.lists(st.integers(0, 200), max_size=10),
)
def test_events_are_the_same_however_the_bytes_are_cut(
    lines: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    data = b"\xef\xbb\xbf" + b"".join(line + end for line, end in lines)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in itertools.pairwise(places)]
    assert parse(*pieces) == parse(data)
    assert parse(*(bytes([byte]) for byte in data)) == parse(data)
