"""`tinyhost hook CLIENT` as a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

CALL = {
    "hook_event_name": "PreToolUse",
    "session_id": "one",
    "tool_name": "Bash",
    "tool_input": {"command": "git push"},
}


class Done(NamedTuple):
    """How the command ended."""

    code: int
    output: Any
    errors: str


Hook = Callable[..., Done]


@pytest.fixture
def hook(home: Path, tmp_path: Path) -> Hook:
    """hook(client, payload, *args): run the command with JSON, or with bytes, on its stdin."""

    def run(client: str, payload: dict[str, Any] | bytes, *args: str) -> Done:
        if not isinstance(payload, bytes):
            payload = json.dumps({"cwd": str(tmp_path), **payload}).encode()
        command = [sys.executable, "-m", "tinyhost_cli.main", "hook", client, *args]
        done = subprocess.run(command, input=payload, capture_output=True, timeout=120)
        errors = done.stderr.decode()
        assert "Traceback" not in errors, errors
        return Done(done.returncode, json.loads(done.stdout or "null"), errors)

    return run


def configure(home: Path, config: object) -> None:
    (home / "config" / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_rule_denies(hook: Hook, home: Path, client: str) -> None:
    configure(home, {"permissions": {"deny": ["bash(git push*)"]}})
    done = hook(client, CALL)
    assert done.code == 0
    said = done.output["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert 'the rule "bash(git push*)"' in said["permissionDecisionReason"]


def test_a_rule_denies_for_gemini(hook: Hook, home: Path) -> None:
    configure(home, {"permissions": {"deny": ["bash(git push*)"]}})
    call = {**CALL, "hook_event_name": "BeforeTool", "tool_name": "run_shell_command"}
    done = hook("gemini", call)
    assert (done.code, done.output["decision"]) == (0, "deny")


def test_nothing_is_said_where_nobody_objects(hook: Hook) -> None:
    assert hook("claude-code", CALL) == Done(0, None, "")


def test_a_call_without_arguments_is_judged(hook: Hook, home: Path) -> None:
    configure(home, {"permissions": {"deny": ["glob"]}})
    call = {key: value for key, value in CALL.items() if key != "tool_input"}
    done = hook("claude-code", {**call, "tool_name": "Glob"})
    assert done.output["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_plugin_that_allows_is_no_approval(
    hook: Hook, add_plugin: Callable[[str, str], Path]
) -> None:
    body = """
    handshake(hooks=["permission.ask"])
    serve(on_hook=lambda params: {"output": {"allowed": True}})
    """
    add_plugin("yes", body)
    assert hook("claude-code", CALL, "--plugin", "yes") == Done(0, None, "")


def test_a_guard_that_was_there_and_is_gone_makes_the_client_ask(
    hook: Hook, add_plugin: Callable[[str, str], Path]
) -> None:
    body = """
    handshake(hooks=["permission.ask"])
    serve(on_hook=lambda params: {"output": {"allowed": True}})
    """
    program = add_plugin("guard", body)
    assert hook("claude-code", CALL, "--plugin", "guard").output is None
    program.unlink()
    done = hook("claude-code", CALL, "--plugin", "guard")
    assert done.output["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert "guard guard failed" in done.output["hookSpecificOutput"]["permissionDecisionReason"]


def test_the_user_is_told_at_the_start_which_plugins_are_missing(hook: Hook) -> None:
    start = {**CALL, "hook_event_name": "SessionStart"}
    done = hook("claude-code", start, "--plugin", "gone")
    assert done.code == 0
    assert "plugin not found: gone" in done.output["systemMessage"]
    assert "plugin not found: gone" in done.errors


def test_no_call_goes_ahead_without_a_plugin_that_was_named(hook: Hook) -> None:
    done = hook("claude-code", CALL, "--plugin", "gone")
    assert (done.code, done.output) == (2, None)
    assert "--plugin names a plugin that did not load: plugin not found: gone" in done.errors
    assert hook("codex", CALL, "--plugin", "gone").code == 2


def test_arguments_that_are_no_object_stop_the_call(
    hook: Hook, add_plugin: Callable[[str, str], Path]
) -> None:
    body = """
    handshake(hooks=["tool.execute.before"])
    serve(on_hook=lambda params: {"output": {"toolArgs": "[]"}})
    """
    add_plugin("odd", body)
    done = hook("claude-code", CALL, "--plugin", "odd")
    assert (done.code, done.output) == (2, None)
    assert "no object" in done.errors


def test_arguments_spelled_in_another_way_are_no_change(
    hook: Hook, add_plugin: Callable[[str, str], Path]
) -> None:
    body = """
    handshake(hooks=["tool.execute.before"])
    text = '{ "command" : "git push" }'
    serve(on_hook=lambda params: {"output": {"toolArgs": text}})
    """
    add_plugin("neat", body)
    assert hook("codex", CALL, "--plugin", "neat") == Done(0, None, "")


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"{}", b'\xff{"a": 1}'])
@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "opencode"])
def test_input_that_cannot_be_read_stops_the_call(hook: Hook, client: str, payload: bytes) -> None:
    done = hook(client, payload)
    assert (done.code, done.output) == (2, None)
    assert "The call was stopped because nobody could judge it." in done.errors


def test_a_configuration_that_cannot_be_read_stops_calls_and_nothing_else(
    hook: Hook, home: Path
) -> None:
    (home / "config" / "config.json").write_text("{")
    assert hook("claude-code", CALL).code == 2
    for name in ("SessionStart", "PostToolUse"):
        done = hook("claude-code", {**CALL, "hook_event_name": name})
        assert (done.code, done.output) == (1, None)
        assert "config.json" in done.errors


def test_an_event_without_a_hook_costs_nothing(hook: Hook, home: Path) -> None:
    (home / "config" / "config.json").write_text("{")
    assert hook("claude-code", {"hook_event_name": "Stop"}) == Done(0, None, "")


def test_the_session_is_told_of_once_and_its_records_are_in_one_journal(
    hook: Hook, home: Path, add_plugin: Callable[[str, str], Path]
) -> None:
    body = """
    handshake(hooks=["session.start", "session.end"])
    serve(on_hook=lambda params: print(params["name"], file=sys.stderr))
    """
    add_plugin("watch", body)
    configure(home, {"plugins": ["watch"]})
    for name in ("SessionStart", "PreToolUse", "PostToolUse", "SessionEnd"):
        assert hook("claude-code", {**CALL, "hook_event_name": name}).code == 0
    log = (home / "state" / "logs" / "plugin-watch.log").read_text()
    assert [log.count(name) for name in ("session.start", "session.end")] == [1, 1]
    (journal,) = (home / "state" / "journal").glob("*.jsonl")
    records = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    kinds = [record.get("event") for record in records if record["kind"] == "session"]
    assert kinds == ["start", "end"]
    assert "decision" in {record["kind"] for record in records}
