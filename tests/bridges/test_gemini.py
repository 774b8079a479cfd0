"""Gemini CLI's format, without a process."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost.dispatch import AfterResult
from tinyhost_cli.bridges.base import Judgement, Kind
from tinyhost_cli.bridges.gemini import Gemini

BRIDGE = Gemini()
ARGS = {"command": "ls", "description": "List"}


def event(name: str, **members: Any) -> Any:
    """The event of a payload as Gemini CLI sends it."""
    common = {"session_id": "s", "transcript_path": "/t", "cwd": "/p", "timestamp": "now"}
    call = {"tool_name": "run_shell_command", "tool_input": ARGS}
    return BRIDGE.read({**common, "hook_event_name": name, **call, **members})


def judged(action: str | None, **more: Any) -> Any:
    """The answer for a judgement."""
    return BRIDGE.judged(event("BeforeTool"), Judgement(action, more.pop("args", ARGS), **more))


def reviewed(text: str, contexts: Any = (), response: Any = None) -> Any:
    """The answer for what plugins made of an output."""
    given = event("AfterTool", tool_response=response or {"llmContent": "text"})
    after = AfterResult(
        hook="tool.execute.after",
        text=text,
        is_error=given.is_error,
        changed=text != given.output,
        contexts=contexts,
    )
    return BRIDGE.reviewed(given, after)


def test_the_shell_tool_is_bash_and_others_keep_their_names() -> None:
    assert event("BeforeTool").tool == "bash"
    assert event("BeforeTool", tool_name="read_file").tool == "read_file"


@pytest.mark.parametrize(
    ("given", "directory"), [("sub", "/p/sub"), ("..", "/"), ("/etc", "/etc"), (None, "/p")]
)
def test_a_command_is_judged_where_it_runs(given: str | None, directory: str) -> None:
    call = event("BeforeTool", tool_input={**ARGS, "dir_path": given})
    assert call.directory == directory


def test_events_that_we_have_no_hook_for_are_none() -> None:
    assert event("BeforeModel").kind is Kind.NONE


def test_a_denial_has_a_reason() -> None:
    assert judged("deny", reason="because") == {"decision": "deny", "reason": "because"}
    assert judged("deny")["reason"]


def test_an_ask_is_a_denial_that_tells_the_way_out() -> None:
    answer = judged("ask", reason="because")
    assert answer["decision"] == "deny"
    assert answer["reason"].startswith("because\nGemini CLI has no way to ask")


def test_approval_and_no_objection_say_nothing() -> None:
    assert judged("allow") is None
    assert judged(None, contexts=("one",)) is None


def test_changed_arguments_are_laid_over_the_tools() -> None:
    changed = {**ARGS, "command": "ls -l"}
    said = judged(None, args=changed, rewritten=True)["hookSpecificOutput"]
    assert said == {"hookEventName": "BeforeTool", "tool_input": changed}


def test_arguments_that_were_taken_away_are_a_denial() -> None:
    answer = judged(None, args={"command": "ls"}, rewritten=True)
    assert answer["decision"] == "deny"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("text", "text"),
        ({"text": "text"}, "text"),
        ([{"text": "one"}, "two", {"inlineData": {}}], "one\ntwo"),
        (None, ""),
    ],
)
def test_the_output_is_the_text_that_the_model_would_see(content: Any, text: str) -> None:
    assert event("AfterTool", tool_response={"llmContent": content}).output == text


def test_an_error_is_one() -> None:
    response = {"llmContent": "no", "error": {"message": "no"}}
    assert event("AfterTool", tool_response=response).is_error


def test_a_changed_output_takes_the_place_of_the_tools_with_the_contexts() -> None:
    assert reviewed("***", ("masked",)) == {"decision": "deny", "reason": "***\n\nmasked"}
    assert reviewed("")["reason"] == "(The tool put out nothing.)"


def test_contexts_alone_leave_the_output() -> None:
    said = {"hookEventName": "AfterTool", "additionalContext": "one\n\ntwo"}
    assert reviewed("text", ("one", "two")) == {"hookSpecificOutput": said}
    assert reviewed("text") is None


def test_a_session_starts_with_contexts_and_problems() -> None:
    start = event("SessionStart")
    assert BRIDGE.started(start, [], []) is None
    said = {"hookEventName": "SessionStart", "additionalContext": "one"}
    answer = BRIDGE.started(start, ["one"], ["gone"])
    assert answer == {"systemMessage": "tinyhost: gone", "hookSpecificOutput": said}
