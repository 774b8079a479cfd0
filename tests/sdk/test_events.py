"""The objects that handlers receive and return."""

import pytest

from tinyhost_sdk import answers, events
from tinyhost_sdk.errors import BadInput, HandlerError
from tinyhost_sdk.events import (
    PermissionAsk,
    PermissionOutput,
    SessionEnd,
    SessionStart,
    SessionStartOutput,
    ShellEnv,
    ShellEnvOutput,
    ToolExecuteAfter,
    ToolExecuteAfterOutput,
    ToolExecuteBefore,
    ToolExecuteBeforeOutput,
)


@pytest.mark.parametrize(
    ("kind", "wire", "expected"),
    [
        (SessionStart, {"sessionId": "s", "directory": "/d"}, SessionStart("s", "/d")),
        (SessionEnd, {"sessionId": "s"}, SessionEnd("s")),
        (
            PermissionAsk,
            {"sessionId": "s", "toolName": "bash", "toolArgs": "{}", "permission": "p"},
            PermissionAsk("s", "bash", "{}", "p"),
        ),
        (
            ShellEnv,
            {"sessionId": "s", "directory": "/d", "env": {"A": "1"}},
            ShellEnv("s", "/d", {"A": "1"}),
        ),
        (
            ToolExecuteBefore,
            {"sessionId": "s", "toolName": "t", "toolArgs": "[1]"},
            ToolExecuteBefore("s", "t", "[1]"),
        ),
        (
            ToolExecuteAfter,
            {"sessionId": "s", "toolName": "t", "output": "o", "isError": True, "toolArgs": "[1]"},
            ToolExecuteAfter("s", "t", "o", True, "[1]"),
        ),
        (
            events.InitializeEvent,
            {"version": "1.0", "directory": "/d", "options": {"a": [1]}},
            events.InitializeEvent("1.0", "/d", {"a": [1]}),
        ),
    ],
)
def test_camel_case_on_the_wire_is_snake_case_here(kind, wire, expected):
    event = kind.from_wire({**wire, "somethingNew": 1})
    assert event == expected
    assert repr(event) == repr(expected)
    assert event != kind()
    assert kind.from_wire({}) == kind()
    assert kind.from_wire(dict.fromkeys(wire)) == kind()


@pytest.mark.parametrize(
    ("kind", "wire", "text"),
    [
        (SessionStart, {"sessionId": 1}, "sessionId is not a string"),
        (PermissionAsk, {"toolArgs": {"command": "rm"}}, "toolArgs is not a string"),
        (ShellEnv, {"env": ["A=1"]}, "env is not an object"),
        (ShellEnv, {"env": {"A": 1}}, "env.A is not a string"),
        (ToolExecuteAfter, {"isError": "no"}, "isError is not true or false"),
        (ToolExecuteAfter, {"isError": 1}, "isError is not true or false"),
        (SessionEnd, None, "the input is not an object"),
        (SessionEnd, ["s"], "the input is not an object"),
    ],
)
def test_a_field_of_a_wrong_type_is_refused(kind, wire, text):
    with pytest.raises(BadInput, match=text):
        kind.from_wire(wire)


def test_events_cannot_be_changed():
    event = ShellEnv("s", "/d", {"A": "1"})
    with pytest.raises(AttributeError, match="ShellEnv cannot be changed: session_id"):
        event.session_id = "t"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del event.session_id
    with pytest.raises(AttributeError):
        event.something_else = 1
    with pytest.raises(TypeError):
        event.env["A"] = "2"
    assert {SessionEnd("s"), SessionEnd("s")} == {SessionEnd("s")}
    assert SessionEnd("s") != "s"


def test_a_change_to_the_callers_dict_does_not_reach_the_event():
    env = {"A": "1"}
    event, output = ShellEnv(env=env), ShellEnvOutput(env)
    env["A"] = "2"
    assert (event.env["A"], output.env["A"]) == ("1", "1")


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"command":"ls"}', {"command": "ls"}), ("[1]", [1]), ("rm -rf /", None), ("", None)],
)
def test_args_are_the_value_of_the_json_text_or_none(text, value):
    assert PermissionAsk(tool_args=text).args() == value
    assert ToolExecuteBefore(tool_args=text).args() == value


AFTER = ToolExecuteAfter("s", "t", "old", True)


@pytest.mark.parametrize(
    ("hook", "value", "output"),
    [
        ("session.start", "hello", {"additionalContext": ["hello"]}),
        ("session.start", ["a", "b"], {"additionalContext": ["a", "b"]}),
        ("session.start", SessionStartOutput(["a"]), {"additionalContext": ["a"]}),
        ("session.start", SessionStartOutput("a"), {"additionalContext": ["a"]}),
        ("session.start", SessionStartOutput(), {}),
        ("session.end", "ignored", None),
        ("permission.ask", True, {"allowed": True}),
        ("permission.ask", False, {"allowed": False}),
        ("permission.ask", PermissionOutput(False, "no"), {"allowed": False, "reason": "no"}),
        ("permission.ask", PermissionOutput(True), {"allowed": True}),
        ("permission.ask", PermissionOutput(ask=True), {"ask": True}),
        ("permission.ask", PermissionOutput(ask=True, reason="?"), {"ask": True, "reason": "?"}),
        ("shell.env", {"A": "1", "B": None}, {"env": {"A": "1", "B": None}}),
        ("shell.env", ShellEnvOutput({"A": ""}), {"env": {"A": ""}}),
        ("shell.env", ShellEnv(env={"A": "1"}).env, {"env": {"A": "1"}}),
        ("tool.execute.before", ToolExecuteBeforeOutput(), {}),
        ("tool.execute.before", ToolExecuteBeforeOutput("c"), {"additionalContext": ["c"]}),
        ("tool.execute.before", ToolExecuteBeforeOutput(tool_args=""), {"toolArgs": ""}),
        (
            "tool.execute.before",
            ToolExecuteBeforeOutput(tool_args={"a": "é"}),
            {"toolArgs": '{"a":"é"}'},
        ),
        ("tool.execute.after", ToolExecuteAfterOutput(), {}),
        ("tool.execute.after", ToolExecuteAfterOutput(""), {"output": "", "isError": True}),
        (
            "tool.execute.after",
            ToolExecuteAfterOutput("n", False),
            {"output": "n", "isError": False},
        ),
        (
            "tool.execute.after",
            ToolExecuteAfterOutput(is_error=False),
            {"output": "old", "isError": False},
        ),
        (
            "tool.execute.after",
            ToolExecuteAfterOutput(additional_context=["c"]),
            {"additionalContext": ["c"]},
        ),
    ],
)
def test_what_a_handler_returns_is_written_for_the_wire(hook, value, output):
    _, to_wire = answers.HOOKS[hook]
    assert to_wire(value, AFTER) == output


@pytest.mark.parametrize(
    ("hook", "value", "text"),
    [
        ("session.start", 7, r"returned 7, a int; it may return text"),
        ("session.start", ["a", 7], "a list"),
        ("permission.ask", "no", r"returned 'no', a str; it may return True, False, None"),
        ("permission.ask", 0, "a int"),
        ("permission.ask", {"allowed": True}, "a dict"),
        ("shell.env", ["A"], "a list"),
        ("shell.env", {"A": 1}, "variable 'A' must be a string or None"),
        ("shell.env", {1: "A"}, "variable 1 must be"),
        ("tool.execute.before", "text", "a ToolExecuteBeforeOutput"),
        ("tool.execute.after", "text", "a ToolExecuteAfterOutput"),
    ],
)
def test_any_other_return_value_is_refused_with_what_is_allowed(hook, value, text):
    _, to_wire = answers.HOOKS[hook]
    with pytest.raises(HandlerError, match=text):
        to_wire(value, AFTER)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: PermissionOutput("no"), "True or False"),
        (lambda: PermissionOutput(False, None), "a text as reason"),
        (PermissionOutput, "either True or False, or ask=True"),
        (lambda: PermissionOutput(True, ask=True), "either True or False, or ask=True"),
        (lambda: PermissionOutput(ask="yes"), "either True or False, or ask=True"),
        (lambda: SessionStartOutput([1]), "additional_context must be strings"),
        (lambda: ToolExecuteBeforeOutput(tool_args=3), "tool_args must be a string, not 3"),
        (lambda: ToolExecuteAfterOutput(b"x"), "output must be a string"),
        (lambda: ToolExecuteAfterOutput(is_error="no"), "is_error must be true or false"),
    ],
)
def test_an_output_made_of_wrong_types_is_refused(make, text):
    with pytest.raises(TypeError, match=text):
        make()
