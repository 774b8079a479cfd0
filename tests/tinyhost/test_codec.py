"""The host's JSON: every value that the text holds comes through."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost import codec

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_every_value_survives_both_ways(value: object) -> None:
    text = codec.dumps(value)
    assert "\n" not in text
    assert codec.loads(text.encode()) == value
    assert json.loads(text) == value


@pytest.mark.parametrize(
    "text",
    ["1.10", "1E400", "-0.0", "1e5", "1.0", "0.1e1", str(2**64), str(-(2**200)), "1e-400"],
)
def test_numbers_keep_their_spelling(text: str) -> None:
    assert codec.dumps(codec.loads(text.encode())) == text
    nested = f'{{"a":[{text},null]}}'
    assert codec.dumps(codec.loads(nested.encode())) == nested


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a":-Infinity}', "", "{", "[1,]", "1 2"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        codec.loads(text.encode())


@pytest.mark.parametrize("value", [math.nan, [None, {"a": math.inf}], (1, -math.inf)])
def test_values_without_a_json_form_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="NaN"):
        codec.dumps(value)


def test_things_are_refused() -> None:
    with pytest.raises(TypeError, match="object cannot be written"):
        codec.dumps({"a": object()})


def test_lone_surrogates_and_bad_utf8_do_not_lose_the_rest() -> None:
    assert codec.loads(b'{"name":"\\ud800","n":1.10}')["name"] == "\ud800"
    assert codec.dumps({"name": "\ud800"}) == '{"name":"\\ud800"}'
    assert codec.loads(b'["\xff"]') == ["\ufffd"]


def test_too_deep_is_an_error_not_a_crash() -> None:
    with pytest.raises(ValueError, match=r"."):
        codec.loads(b"[" * 100_000)


def test_raw_json_is_checked_and_passed_on_as_written() -> None:
    raw = codec.RawJson('{"a":\r\n 1.10}')
    assert raw == '{"a":   1.10}'.replace("   ", "   ")
    assert codec.dumps(raw) == raw
    with pytest.raises(ValueError, match=r"."):
        codec.RawJson('{"a":}')
