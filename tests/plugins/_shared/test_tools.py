"""Tools made of functions."""

from __future__ import annotations

import pytest

from tinyhost_plugins._shared.tools import reading_tool
from tinyhost_sdk import HandlerError, ToolContext


def pods(namespace: str = "", limit: int = 0, *, context: ToolContext) -> str:
    return f"{namespace} {limit} {context.session_id}"


TEXTS = {"namespace": "Only this one", "limit": "Rows to show", "unused": ""}


def test_a_tool_only_reads_and_its_arguments_are_described() -> None:
    tool = reading_tool("x_pods", "The pods.", pods, TEXTS)
    assert (tool.name, tool.description, tool.permission) == ("x_pods", "The pods.", "read")
    described = {name: kind["description"] for name, kind in tool.parameters["properties"].items()}
    assert described == {"namespace": "Only this one", "limit": "Rows to show"}


def test_arguments_are_checked_before_the_function_is_called() -> None:
    tool = reading_tool("x_pods", "The pods.", pods, TEXTS)
    context = ToolContext("s")
    assert tool.execute({"namespace": "shop", "limit": 3}, context) == "shop 3 s"
    with pytest.raises(HandlerError, match="limit must be an integer"):
        tool.execute({"limit": "3"}, context)


def test_an_argument_without_a_description_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="namespace"):
        reading_tool("x_pods", "The pods.", pods, {})
