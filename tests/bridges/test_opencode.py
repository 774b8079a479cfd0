"""The format between the opencode plugin and us, without a process."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost.dispatch import AfterResult
from tinyhost_cli.bridges.base import Judgement, Kind
from tinyhost_cli.bridges.opencode import Opencode

BRIDGE = Opencode()
ARGS = {"command": "ls"}


def event(name: str, **members: Any) -> Any:
    """The event of a payload as the plugin sends it."""
    call = {"tool": "bash", "args": ARGS, "sessionID": "s", "directory": "/p"}
    return BRIDGE.read({**call, "event": name, **members})


def judged(action: str | None, **more: Any) -> Any:
    """The answer for a judgement."""
    given = event("tool.execute.before")
    return BRIDGE.judged(given, Judgement(action, more.pop("args", ARGS), **more))


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no event 'other'"):
        event("other")


def test_a_shell_without_a_session_has_an_environment() -> None:
    given = BRIDGE.read({"event": "shell.env", "directory": "/p"})
    assert (given.kind, given.session_id) == (Kind.ENV, "")
    assert BRIDGE.environment({"A": "1", "B": None}) == {"env": {"A": "1", "B": None}}
    assert BRIDGE.environment({}) is None


def test_a_command_is_judged_where_it_runs() -> None:
    call = event("tool.execute.before", args={"command": "rm *", "workdir": "../other"})
    assert call.directory == "/other"


def test_a_denial_and_an_ask_stop_the_call() -> None:
    assert judged("deny", reason="because") == {"action": "deny", "reason": "because"}
    asked = judged("ask", reason="because")
    assert asked["action"] == "deny"
    assert asked["reason"].startswith("because\nopencode has no way to ask")


def test_what_is_not_denied_says_only_what_changed() -> None:
    for action in (None, "allow"):
        assert judged(action) is None
        assert judged(action, args={"command": "x"}, rewritten=True) == {"args": {"command": "x"}}
        assert judged(action, contexts=("one",)) == {"additionalContext": ["one"]}


def test_an_output_is_passed_on_where_it_changed() -> None:
    given = event("tool.execute.after", output="text", isError=True)
    assert (given.output, given.is_error) == ("text", True)
    after = AfterResult(hook="", text="", is_error=True, changed=True, contexts=("one",))
    assert BRIDGE.reviewed(given, after) == {"output": "", "additionalContext": ["one"]}
    same = AfterResult(hook="", text="text", is_error=True)
    assert BRIDGE.reviewed(given, same) is None


def test_a_session_starts_with_contexts_and_problems() -> None:
    start = event("session.start")
    assert BRIDGE.started(start, [], []) is None
    answer = BRIDGE.started(start, ["one"], ["gone"])
    assert answer == {"additionalContext": ["one"], "problems": ["gone"]}
