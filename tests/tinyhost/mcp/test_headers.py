from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.mcp.headers import encode, mirrored, parameter_headers, schema_problem


def with_header(name: Any, kind: str = "string") -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": kind, "x-mcp-header": name}}}


def test_method_name_and_marked_arguments_are_repeated() -> None:
    schema = {
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "on": {"type": "boolean", "x-mcp-header": "On"},
            "gone": {"type": "string", "x-mcp-header": "Gone"},
        }
    }
    args = {"region": "us", "deep": {"n": 4}, "on": False, "gone": None}
    assert mirrored("tools/call", {"name": "t", "arguments": args}, schema) == {
        "Mcp-Method": "tools/call",
        "Mcp-Name": "t",
        "Mcp-Param-Region": "us",
        "Mcp-Param-N": "4",
        "Mcp-Param-On": "false",
    }
    assert mirrored("resources/read", {"uri": "file:///a"}, None)["Mcp-Name"] == "file:///a"
    assert mirrored("tools/list", {}, None) == {"Mcp-Method": "tools/list"}


@pytest.mark.parametrize(
    "schema",
    [
        with_header(""),
        with_header("a b"),
        with_header("a\r\nX: y"),
        with_header(1),
        with_header("A", "number"),
        with_header("A", "object"),
        {"x-mcp-header": "A"},
        {"properties": {"a": {"items": {"type": "string", "x-mcp-header": "A"}}}},
        {"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]},
        {"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}},
        {
            "properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"},
            }
        },
    ],
)
def test_headers_that_are_not_allowed_make_a_schema_unusable(schema: dict[str, Any]) -> None:
    assert "x-mcp-header" in (schema_problem(schema) or "")


def test_data_in_a_schema_is_no_schema() -> None:
    schema = {"properties": {"x-mcp-header": {"default": {"x-mcp-header": 1}, "enum": [{}]}}}
    assert schema_problem(schema) is None
    assert parameter_headers(schema) == {}


@given(st.text())
def test_any_text_arrives_as_it_was(text: str) -> None:
    value = encode(text)
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()
    if value.startswith("=?base64?") and value.endswith("?="):
        assert base64.b64decode(value[9:-2]).decode() == text.encode("utf-8", "replace").decode()
    else:
        assert value == text
