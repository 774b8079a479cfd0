"""Codex's format, without a process."""

from __future__ import annotations

from typing import Any

from tinyhost.dispatch import AfterResult
from tinyhost_cli.bridges.base import Judgement
from tinyhost_cli.bridges.codex import Codex

BRIDGE = Codex()


def event(name: str, **members: Any) -> Any:
    """The event of a payload as Codex sends it."""
    common = {"session_id": "s", "turn_id": "t", "transcript_path": None, "cwd": "/p"}
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "id"}
    return BRIDGE.read({**common, "model": "m", "hook_event_name": name, **call, **members})


def judged(action: str | None, name: str = "PreToolUse", **more: Any) -> Any:
    """The answer's own part for a judgement."""
    answer = BRIDGE.judged(event(name), Judgement(action, more.pop("args", {}), **more))
    return answer and answer["hookSpecificOutput"]


def reviewed(response: Any, text: str, contexts: Any = ()) -> Any:
    """The answer for what plugins made of an output."""
    after = AfterResult(
        hook="tool.execute.after", text=text, is_error=False, changed=True, contexts=contexts
    )
    return BRIDGE.reviewed(event("PostToolUse", tool_response=response), after)


def test_a_denial_stands_alone() -> None:
    said = judged("deny", reason="because", contexts=("one",))
    assert said == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "because",
    }


def test_a_denial_without_a_reason_gets_one() -> None:
    assert judged("deny")["permissionDecisionReason"]


def test_an_ask_is_a_denial_that_tells_the_way_out() -> None:
    said = judged("ask", reason="because")
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"].startswith("because\nCodex has no way to ask")


def test_changed_arguments_are_a_denial_that_names_them() -> None:
    for action in (None, "allow"):
        said = judged(action, args={"command": "ls -l"}, rewritten=True)
        assert said["permissionDecision"] == "deny"
        assert '{"command":"ls -l"}' in said["permissionDecisionReason"]


def test_approval_and_no_objection_say_nothing_before_a_tool() -> None:
    assert judged("allow", reason="a rule") is None
    assert judged(None) is None


def test_contexts_are_passed_on() -> None:
    said = judged(None, contexts=("one", "two"))
    assert said == {"hookEventName": "PreToolUse", "additionalContext": "one\n\ntwo"}


def test_a_permission_request_is_answered_without_changed_arguments() -> None:
    assert judged("allow", "PermissionRequest")["decision"] == {"behavior": "allow"}
    denied = {"behavior": "deny", "message": "because"}
    assert judged("deny", "PermissionRequest", reason="because")["decision"] == denied
    assert judged("ask", "PermissionRequest") is None
    assert judged("allow", "PermissionRequest", args={"command": "x"}, rewritten=True) is None


def test_a_changed_output_takes_the_place_of_the_tools() -> None:
    answer = reviewed("secret", "***", ("masked",))
    assert (answer["decision"], answer["reason"]) == ("block", "***")
    assert answer["hookSpecificOutput"]["additionalContext"] == "masked"
    assert "updatedToolOutput" not in answer["hookSpecificOutput"]


def test_an_emptied_output_has_a_reason_all_the_same() -> None:
    assert reviewed("secret", "")["reason"] == "(The tool put out nothing.)"


def test_an_unchanged_output_says_nothing() -> None:
    assert reviewed("text", "text") is None
