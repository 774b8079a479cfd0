"""Text out of tools' results and back into them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_cli.bridges.responses import text_of, with_text

BLOCKS = [{"type": "text", "text": "one"}, {"type": "image", "data": "x"}]
SHAPES: list[tuple[str, Any]] = [
    ("Bash", {"stdout": "out", "stderr": "err", "interrupted": False}),
    ("Read", {"type": "text", "file": {"filePath": "/a", "content": "old", "numLines": 1}}),
    ("WebFetch", {"result": "old", "code": 200}),
    ("mcp__server__tool", BLOCKS),
    ("mcp__server__tool", {"content": BLOCKS, "isError": False}),
    ("mcp__server__tool", "old"),
    ("Anything", None),
]


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"stdout": "out", "stderr": "err"}, "out\nerr"),
        ({"stdout": "out\n", "stderr": "err"}, "out\nerr"),
        ({"stdout": "", "stderr": "err"}, "err"),
        ({"stdout": "out", "stderr": ""}, "out"),
        (BLOCKS, "one"),
        ({"filePath": "/a", "created": True}, '{"filePath":"/a","created":true}'),
        ([], "[]"),
        (None, ""),
    ],
)
def test_the_text_of_a_result_is_what_a_person_would_read(response: Any, text: str) -> None:
    assert text_of("Tool", response) == text


@pytest.mark.parametrize(("tool", "response"), SHAPES)
@given(text=st.text())
def test_a_replaced_text_is_the_text_of_the_result(tool: str, response: Any, text: str) -> None:
    assert text_of(tool, with_text(tool, response, text)) == text


@pytest.mark.parametrize(("tool", "response"), SHAPES)
def test_a_replacement_keeps_the_shape_and_all_else(tool: str, response: Any) -> None:
    new = with_text(tool, response, "new")
    if isinstance(response, dict):
        assert new.keys() == response.keys()
    if isinstance(response, list):
        assert BLOCKS[1] in new


def test_a_result_without_a_place_for_text_takes_json_of_its_kind_alone() -> None:
    response = {"filePath": "/a"}
    assert with_text("Write", response, '{"filePath":"/b"}') == {"filePath": "/b"}
    for text in ("no JSON", "[]", '"text"', "\ud800"):
        with pytest.raises(ValueError, match="Write has no place for a text"):
            with_text("Write", response, text)
