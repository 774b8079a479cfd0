"""A server's list of tools as ours."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.dialects.mcp_tools import MAX_TOOLS, our_name, read_tools

OBJECT = {"type": "object"}


def entry(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OBJECT, **more}


def test_names_that_fit_stay_and_others_are_escaped() -> None:
    tools = read_tools("s", [entry("plain-name_1"), entry("files.read"), entry("a/b c")])
    assert [spec.name for spec in tools.specs] == ["plain-name_1", "files_read", "a_b_c"]
    assert tools.originals["files_read"] == "files.read"
    assert tools.specs[1].id == "plugin__s__files_read"
    assert tools.refused == []


def test_a_long_name_is_cut_and_told_apart_by_a_digest_that_stays() -> None:
    long = "x" * 100
    name = our_name("srv", long)
    assert len(f"plugin__srv__{name}") == 64
    assert name == our_name("srv", long)
    assert name != our_name("srv", long + "y")
    assert re.fullmatch(r"x+_[0-9a-f]{8}", name)


def test_a_plugin_name_that_leaves_no_room_loses_its_long_tools_only() -> None:
    tools = read_tools("p" * 50, [entry("tool"), entry("a-longer-name")])
    assert [spec.name for spec in tools.specs] == ["tool"]
    assert "leaves no room" in tools.refused[0]


def test_of_names_that_become_the_same_the_unchanged_one_is_kept() -> None:
    tools = read_tools("s", [entry("a.b"), entry("z"), entry("a_b"), entry("a b")])
    assert [spec.name for spec in tools.specs] == ["z", "a_b"]
    assert tools.originals["a_b"] == "a_b"
    assert len(tools.refused) == 2
    assert "'a.b' is the same as 'a_b' here" in tools.refused[0]


@pytest.mark.parametrize(
    "bad",
    [
        1,
        {},
        {"name": "", "inputSchema": OBJECT},
        {"name": 3, "inputSchema": OBJECT},
        {"name": "x"},
        {"name": "x", "inputSchema": []},
        {"name": "x", "inputSchema": {"type": "string"}},
        {"name": "x", "inputSchema": OBJECT, "description": 1},
    ],
)
def test_a_bad_tool_is_left_out_alone(bad: Any) -> None:
    tools = read_tools("s", [entry("a"), bad, entry("b")])
    assert [spec.name for spec in tools.specs] == ["a", "b"]
    assert len(tools.refused) == 1


def test_hints_are_kept_and_everything_else_said_of_effects_is_not() -> None:
    notes = {"readOnlyHint": True, "destructiveHint": "no", "title": "T", "other": True}
    [tool] = read_tools("s", [entry("a", annotations=notes, permission="read")]).specs
    assert tool.hints == {"readOnlyHint": True}
    assert tool.permission is None


def test_a_schema_is_passed_on_whole() -> None:
    schema = {"$schema": "x", "type": "object", "$defs": {"a": {}}, "additionalProperties": False}
    [tool] = read_tools("s", [entry("a", inputSchema=schema)]).specs
    assert tool.input_schema == {**schema, "properties": {}}


def test_a_title_stands_in_for_a_missing_description() -> None:
    tools = read_tools("s", [entry("a", title="T"), entry("b", title="T", description="D")])
    assert [spec.description for spec in tools.specs] == ["T", "D"]


def test_a_flood_of_tools_is_cut() -> None:
    tools = read_tools("s", [entry(f"t{number}") for number in range(MAX_TOOLS + 5)])
    assert len(tools.specs) == MAX_TOOLS
    assert "more than" in tools.refused[0]


@given(st.lists(st.text(min_size=1, max_size=90), max_size=20))
def test_all_ids_are_good_and_unique(names: list[str]) -> None:
    tools = read_tools("srv", [entry(name) for name in names])
    ids = [spec.id for spec in tools.specs]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"plugin__srv__[a-zA-Z0-9_-]{1,51}", id) for id in ids)
    assert len(tools.specs) + len(tools.refused) == len(names)
