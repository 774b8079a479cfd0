"""Which beginning belongs to which end, and the hash of arguments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.telemetry.calls import MOST_OPEN, OpenCalls, hash_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_calls_of_one_tool_at_the_same_time_are_told_apart_by_their_arguments() -> None:
    calls = OpenCalls()
    for args_hash in ("a", "b", "c"):
        calls.begin("s", "bash", args_hash)
    found = [calls.finish("s", "bash", args_hash) for args_hash in ("b", "a", "c")]
    assert [call and call.args_hash for call in found] == ["b", "a", "c"]
    assert calls.finish("s", "bash", "a") is None


def test_sessions_and_tools_are_told_apart() -> None:
    calls = OpenCalls()
    calls.begin("s", "bash", "a")
    assert calls.finish("t", "bash", "a") is None
    assert calls.finish("s", "read", "a") is None
    assert calls.finish("s", "bash", "a") is not None


def test_a_call_that_was_stopped_is_not_taken_for_a_later_one() -> None:
    calls = OpenCalls()
    calls.begin("s", "bash", "stopped")
    calls.begin("s", "bash", "ran")
    found = calls.finish("s", "bash")
    assert found
    assert found.args_hash == "ran"


def test_a_call_that_was_rewritten_since_is_found() -> None:
    calls = OpenCalls()
    calls.begin("s", "bash", "before")
    assert calls.finish("s", "bash", "after") is not None


def test_what_never_ends_is_limited_and_goes_with_its_session() -> None:
    calls = OpenCalls()
    for number in range(MOST_OPEN + 1):
        calls.begin("s", "bash", str(number))
    calls.begin("t", "bash", "x")
    assert len(calls._open) == MOST_OPEN
    assert calls._open[0].args_hash == "2"
    calls.forget("s")
    assert [call.session for call in calls._open] == ["t"]


def test_a_hash_has_16_digits_and_differs_by_what_is_hashed() -> None:
    assert hash_of("{}") == "44136fa355b3678a"
    assert hash_of('{"a": 1, "b": [2]}') == hash_of('{"b":[2],"a":1}')
    assert hash_of('{"a":1}') != hash_of('{"a":2}')


@pytest.mark.parametrize("text", ["", "rm -rf /", '{"a":', "\udc80", "[" * 50_000, "9" * 9000])
def test_what_is_no_json_is_hashed_as_it_is(text: str) -> None:
    assert len(hash_of(text)) == 16
    assert hash_of(text) != hash_of(text + " x")


def test_long_arguments_are_hashed_too() -> None:
    assert len(hash_of(json.dumps("x" * 200_000))) == 16


@given(VALUES)
def test_the_spelling_of_arguments_does_not_matter(value: object) -> None:
    assert hash_of(json.dumps(value)) == hash_of(json.dumps(value, indent=1, ensure_ascii=False))
