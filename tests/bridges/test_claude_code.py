"""Claude Code's format, without a process."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost.dispatch import AfterResult
from tinyhost_cli.bridges.base import Event, Judgement, Kind, Reply
from tinyhost_cli.bridges.claude_code import ClaudeCode

BRIDGE = ClaudeCode()
BASH = {"tool_name": "Bash", "tool_input": {"command": "ls", "description": "List"}}


def read(name: str, **members: Any) -> Event:
    """The event of a payload as Claude Code sends it."""
    common = {"session_id": "s", "transcript_path": "/t", "cwd": "/p", "permission_mode": "default"}
    return BRIDGE.read({**common, "hook_event_name": name, "tool_use_id": "id", **members})


def judged(action: str | None, name: str = "PreToolUse", **more: Any) -> Any:
    """The answer's own part for a judgement."""
    event = read(name, **BASH)
    answer = BRIDGE.judged(event, Judgement(action, more.pop("args", event.args), **more))
    if answer is None:
        return None
    assert answer["hookSpecificOutput"].pop("hookEventName") == name
    return answer["hookSpecificOutput"]


def reviewed(event: Event, text: str, *, is_error: bool = False, contexts: Any = ()) -> Any:
    """The answer for what plugins made of an output."""
    changed = (text, is_error) != (event.output, event.is_error)
    after = AfterResult(
        hook="tool.execute.after", text=text, is_error=is_error, changed=changed, contexts=contexts
    )
    return BRIDGE.reviewed(event, after)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SessionStart", Kind.START),
        ("SessionEnd", Kind.END),
        ("PreToolUse", Kind.BEFORE),
        ("PermissionRequest", Kind.PERMISSION),
        ("PostToolUse", Kind.AFTER),
        ("PostToolUseFailure", Kind.AFTER),
        ("UserPromptSubmit", Kind.NONE),
    ],
)
def test_each_event_has_its_meaning(name: str, kind: Kind) -> None:
    assert read(name, **BASH).kind is kind


@pytest.mark.parametrize(
    ("theirs", "args", "ours"),
    [
        ("Bash", {"command": "ls"}, "bash"),
        ("Monitor", {"command": "tail -f log"}, "bash"),
        ("Monitor", {"ws": {"url": "wss://host"}}, "monitor"),
        ("Write", {}, "write"),
        ("WebFetch", {}, "webfetch"),
        ("mcp__Server__Tool", {}, "mcp__Server__Tool"),
    ],
)
def test_tools_have_our_names(theirs: str, args: dict[str, Any], ours: str) -> None:
    assert read("PreToolUse", tool_name=theirs, tool_input=args).tool == ours


def test_a_call_is_read_whole() -> None:
    event = read("PreToolUse", **BASH)
    assert (event.session_id, event.directory, event.args) == ("s", "/p", BASH["tool_input"])


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p", "tool_name": 1},
        {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p", **BASH, "tool_input": []},
    ],
)
def test_a_payload_that_lacks_something_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not"):
        BRIDGE.read(payload)


# --- before a tool


def test_no_objection_says_nothing() -> None:
    assert judged(None, reason="no rule covers it") is None


@pytest.mark.parametrize("action", ["deny", "ask", "allow"])
def test_a_decision_is_passed_on_with_its_reason(action: str) -> None:
    assert judged(action, reason="because") == {
        "permissionDecision": action,
        "permissionDecisionReason": "because",
    }


def test_changed_arguments_are_no_approval() -> None:
    assert judged(None, args={"command": "ls -l"}, rewritten=True) == {
        "updatedInput": {"command": "ls -l"}
    }


def test_a_denied_call_has_no_arguments() -> None:
    assert "updatedInput" not in judged("deny", args={"command": "x"}, rewritten=True)


def test_contexts_are_one_text() -> None:
    assert judged(None, contexts=("one", "two")) == {"additionalContext": "one\n\ntwo"}


def test_a_permission_request_is_answered_by_a_firm_yes_or_no_only() -> None:
    denied = judged("deny", "PermissionRequest", reason="because")
    assert denied == {"decision": {"behavior": "deny", "message": "because"}}
    assert judged("allow", "PermissionRequest") == {"decision": {"behavior": "allow"}}
    for action in ("ask", None):
        assert judged(action, "PermissionRequest", contexts=("one",)) is None


def test_a_permission_request_approves_what_plugins_made_of_the_call() -> None:
    answer = judged("allow", "PermissionRequest", args={"command": "ls -l"}, rewritten=True)
    updated = {"behavior": "allow", "updatedInput": {"command": "ls -l"}}
    assert answer == {"decision": updated}


# --- after a tool


def test_an_unchanged_output_says_nothing() -> None:
    event = read("PostToolUse", **BASH, tool_response={"stdout": "a", "stderr": ""})
    assert reviewed(event, "a") is None


def test_a_changed_output_has_the_shape_of_the_tool() -> None:
    response = {"stdout": "secret", "stderr": "more", "interrupted": False}
    event = read("PostToolUse", **BASH, tool_response=response)
    assert event.output == "secret\nmore"
    said = reviewed(event, "***", contexts=("masked",))["hookSpecificOutput"]
    assert said == {
        "hookEventName": "PostToolUse",
        "updatedToolOutput": {"stdout": "***", "stderr": "", "interrupted": False},
        "additionalContext": "masked",
    }


def test_an_emptied_output_is_a_change() -> None:
    event = read("PostToolUse", tool_name="mcp__s__t", tool_input={}, tool_response="text")
    assert reviewed(event, "")["hookSpecificOutput"]["updatedToolOutput"] == ""


def test_an_output_that_cannot_be_replaced_is_contradicted() -> None:
    event = read("PostToolUse", tool_name="Write", tool_input={}, tool_response={"filePath": "/a"})
    said = reviewed(event, "***")["hookSpecificOutput"]
    assert "updatedToolOutput" not in said
    assert "Write has no place for a text" in said["additionalContext"]
    assert said["additionalContext"].endswith("\n***")


def test_a_failed_tool_is_an_error_whose_text_is_contradicted() -> None:
    event = read("PostToolUseFailure", **BASH, error="Exit code 1\nno")
    assert (event.output, event.is_error) == ("Exit code 1\nno", True)
    said = reviewed(event, "***", is_error=True)["hookSpecificOutput"]
    assert said["hookEventName"] == "PostToolUseFailure"
    assert said["additionalContext"].endswith("\n***")


def test_an_output_that_plugins_call_a_failure_is_one_to_the_model() -> None:
    event = read("PostToolUse", **BASH, tool_response={"stdout": "a", "stderr": ""})
    answer = reviewed(event, "a", is_error=True)
    assert answer == {"decision": "block", "reason": "A plugin of tinyhost calls this a failure."}


# --- sessions and failures


def test_contexts_of_a_session_go_before_the_prompt() -> None:
    answer = BRIDGE.started(read("SessionStart", source="startup"), ["one", "two"], [])
    assert answer == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "one\n\ntwo"}
    }
    assert BRIDGE.started(read("SessionStart"), [], []) is None


def test_the_user_is_told_at_the_start_which_plugins_are_missing() -> None:
    answer = BRIDGE.started(read("SessionStart"), [], ["plugin not found: a"])
    assert answer == {"systemMessage": "tinyhost: plugin not found: a"}


@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest"])
def test_a_failure_blocks_what_needs_a_verdict(name: str) -> None:
    reply = BRIDGE.failed(read(name, **BASH), "broken")
    assert (reply.code, reply.output) == (2, None)
    assert reply.text.startswith("broken\n")


def test_a_failure_before_the_event_is_known_blocks() -> None:
    assert BRIDGE.failed(None, "broken").code == 2


@pytest.mark.parametrize("name", ["SessionStart", "SessionEnd", "PostToolUse"])
def test_a_failure_of_an_observer_stops_nothing(name: str) -> None:
    assert BRIDGE.failed(read(name, **BASH), "broken") == Reply(None, "broken", 1)
