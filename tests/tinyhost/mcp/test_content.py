"""What tools put out, as text and as parts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.dialects.mcp_content import tool_result

TEXT = {"type": "text", "text": "words"}
IMAGE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


def resource(**contents: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "file:///a", **contents}}


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (TEXT, "words"),
        (IMAGE, "[image: image/png, 5 bytes]"),
        ({**IMAGE, "type": "audio", "mimeType": "audio/wav"}, "[audio: audio/wav, 5 bytes]"),
        (resource(text="inside"), "[resource file:///a]\ninside"),
        (resource(blob="aGVs", mimeType="x/y"), "[resource file:///a: x/y, 3 bytes]"),
        (resource(blob=""), "[resource file:///a: bytes, 0 bytes]"),
        (LINK, "[resource a: file:///a]"),
        ({"type": "hologram"}, "[content of the unknown type hologram]"),
        ({**LINK, "name": "a\x1b[2J\nb"}, "[resource a\ufffd[2J\ufffdb: file:///a]"),
    ],
)
def test_each_kind_of_content_has_a_text_and_is_kept_as_it_is(
    part: dict[str, Any], text: str
) -> None:
    result = tool_result({"content": [part]})
    assert result.content == text
    assert result.details == {"content": [part]}
    assert not result.is_error


def test_several_parts_are_lines_of_one_text() -> None:
    assert tool_result({"content": [TEXT, IMAGE]}).content == "words\n[image: image/png, 5 bytes]"


def test_structured_content_is_kept_and_stands_for_itself_where_there_is_no_text() -> None:
    both = tool_result({"content": [TEXT], "structuredContent": {"n": 1}})
    assert both.content == "words"
    assert both.details["structuredContent"] == {"n": 1}
    assert tool_result({"structuredContent": {"n": 1}}).content == '{"n":1}'


def test_an_empty_answer_is_empty_text() -> None:
    assert tool_result({}).content == ""
    assert tool_result({"content": [], "isError": True}).is_error


@pytest.mark.parametrize(
    "result",
    [
        {"content": "text"},
        {"content": [1]},
        {"content": [{}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 1}]},
        {"content": [{"type": "image", "data": "x"}]},
        {"content": [{"type": "resource"}]},
        {"content": [{"type": "resource", "resource": {"uri": "x"}}]},
        {"content": [{"type": "resource", "resource": {"uri": "x", "text": None}}]},
        {"content": [{"type": "resource_link", "uri": "x"}]},
        {"isError": "no"},
        {"isError": 0},
    ],
)
def test_content_of_the_wrong_form_is_refused(result: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is not|resource"):
        tool_result(result)


_KEYS = st.sampled_from(
    ["type", "text", "data", "mimeType", "resource", "uri", "blob", "name", "x"]
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["text", "image", "audio", "resource", "resource_link"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "content": _VALUES | st.lists(st.dictionaries(_KEYS, _VALUES, max_size=5), max_size=3),
            "structuredContent": _VALUES,
            "isError": _VALUES,
        },
    )
)
def test_any_answer_gives_text_or_is_refused(result: dict[str, Any]) -> None:
    try:
        found = tool_result(result)
    except ValueError:
        return
    assert type(found.content) is str
