"""The native dialect: text and values in, text and values out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost import CallContext, RawJson, ToolResult, dumps
from tinyhost.dialects import native

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_options_are_left_out_when_there_are_none() -> None:
    assert json.loads(native.encode_initialize("/p", {})) == {"version": "1.0", "directory": "/p"}
    assert json.loads(native.encode_initialize("/p", {"a": 1}))["options"] == {"a": 1}


def test_a_hook_without_input_has_no_input_member() -> None:
    assert json.loads(native.encode_hook("dispose", None)) == {"name": "dispose"}
    assert json.loads(native.encode_hook("x", {})) == {"name": "x", "input": {}}


def test_args_go_in_as_they_are_written() -> None:
    text = native.encode_tool("t", dumps(RawJson('{"n": 1.10}')), CallContext(session_id="s"))
    assert text == '{"name":"t","args":{"n": 1.10},"context":{"sessionId":"s","directory":""}}'


@pytest.mark.parametrize(
    ("result", "output"),
    [(None, None), ({}, None), ({"output": None}, None), ({"output": ""}, ""), ({"output": 0}, 0)],
)
def test_absent_and_null_output_are_the_same_and_empty_is_a_value(result: Any, output: Any) -> None:
    assert native.decode_hook(result) == output


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, ToolResult("")),
        ({}, ToolResult("")),
        ({"content": "x"}, ToolResult("x")),
        ({"content": "x", "isError": True, "more": 1}, ToolResult("x", is_error=True)),
    ],
)
def test_a_tool_result_is_content_and_a_flag(result: Any, expected: ToolResult) -> None:
    assert native.decode_tool(result) == expected


def test_a_manifest_in_full() -> None:
    manifest = native.read_manifest(
        "demo",
        {
            "id": "me",
            "version": "3",
            "tools": [
                {
                    "name": "a",
                    "description": "d",
                    "inputSchema": {"required": ["x"]},
                    "permission": "read",
                },
                {"name": "b", "inputSchema": None, "permission": None},
            ],
            "hooks": ["x", "permission.ask", "x"],
            "protocol": {"concurrency": 4, "cancel": True, "progress": True, "maxLineBytes": 99},
            "unknown": True,
        },
    )
    assert (manifest.reported_id, manifest.version) == ("me", "3")
    first, second = manifest.tools
    assert first.id == "plugin__demo__a"
    assert first.input_schema == {"type": "object", "properties": {}, "required": ["x"]}
    assert (first.permission, second.permission) == ("read", None)
    assert manifest.hooks == ("x", "permission.ask")
    assert (manifest.concurrency, manifest.max_line) == (4, 99)
    assert manifest.cancel
    assert manifest.progress


def test_the_go_sdks_manifest_without_handlers() -> None:
    manifest = native.read_manifest("demo", {"id": "demo", "tools": [], "hooks": None})
    assert (manifest.tools, manifest.hooks) == ((), ())
    assert (manifest.concurrency, manifest.max_line) == (1, 1024 * 1024)


@given(JSON_VALUES)
def test_a_manifest_is_understood_or_refused_with_a_reason(value: Any) -> None:
    for result in (value, {"tools": value}, {"hooks": value}, {"tools": [{"name": value}]}):
        try:
            native.read_manifest("demo", result)
        except ValueError as error:
            assert str(error)  # noqa: PT017


@given(JSON_VALUES)
def test_answers_are_understood_or_refused_with_a_reason(value: Any) -> None:
    for decode in (native.decode_hook, native.decode_tool):
        for result in (value, {"content": value}, {"isError": value}):
            try:
                decode(result)
            except ValueError as error:
                assert "not" in str(error)  # noqa: PT017


@pytest.mark.parametrize("tool", ["", "a b", "a.b", "x" * 60, "\u00e9", "a/b"])
def test_tool_ids_are_what_models_accept(tool: str) -> None:
    with pytest.raises(ValueError, match=r"tool id|no name"):
        native.tool_id("demo", tool) if tool else native.read_manifest(
            "demo", {"tools": [{"name": ""}]}
        )
    assert native.tool_id("my.plugin", "t") == "plugin__my_plugin__t"
