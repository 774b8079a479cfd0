from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tinyhost import hooks, shell_hooks
from tinyhost.config import parse_config
from tinyhost.dispatch import Dispatcher
from tinyhost.errors import CallTimeout, TinyhostError
from tinyhost.shell_hooks import ShellHookFailed, ShellHooks

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/home/x", "MY_SECRET": "hunter22-very"}
BEFORE = "tool.execute.before"
AFTER = "tool.execute.after"


def plugin_of(hooks: object, directory: Path, **more: object) -> ShellHooks:
    text = json.dumps({"hooks": hooks, **more})
    config = parse_config(text, "/etc/tiny/config.json")
    plugin, problems = ShellHooks.from_config(
        config, environ=ENVIRON, directory_of=lambda _: str(directory)
    )
    assert problems == []
    assert plugin is not None
    return plugin


def dispatcher_of(plugin: ShellHooks) -> Dispatcher:
    return Dispatcher(lambda hook: [plugin] if plugin.handles(hook) else [])


def before(args: str = "{}", tool: str = "bash", session: str = "s1") -> hooks.ToolExecuteBefore:
    return hooks.ToolExecuteBefore(session_id=session, tool_name=tool, tool_args=args)


def after(output: str = "out", *, is_error: bool = False) -> hooks.ToolExecuteAfter:
    return hooks.ToolExecuteAfter(
        session_id="s1", tool_name="bash", tool_args='{"a": 1}', output=output, is_error=is_error
    )


def ask() -> hooks.PermissionAsk:
    return hooks.PermissionAsk(session_id="s1", tool_name="bash", tool_args="{}", permission="x")


def says(value: object) -> str:
    return f"printf %s '{json.dumps(value)}'"


def context(*texts: str) -> str:
    return says({"hookSpecificOutput": {"additionalContext": list(texts)}})


# --- from the configuration


@pytest.mark.parametrize("text", ["{}", '{"hooks": null}', '{"hooks": {"session.end": []}}'])
def test_without_commands_there_is_no_plugin(text: str) -> None:
    assert ShellHooks.from_config(parse_config(text, "/f")) == (None, [])


def test_only_events_with_commands_are_declared(tmp_path: Path) -> None:
    plugin = plugin_of({BEFORE: [{"command": "true"}], AFTER: []}, tmp_path)
    assert plugin.info.name == "shell-hooks"
    assert plugin.info.hooks == [BEFORE]
    assert plugin.handles(BEFORE)
    assert not plugin.handles(AFTER)


def test_a_bad_entry_disables_itself_only_and_is_reported_with_its_place() -> None:
    text = (
        '{"hooks": {"session.end": [{"match": {}}, "ls", {"command": "true",\n'
        ' "timeout": "soon"}]}}'
    )
    config = parse_config(text, "/f")
    plugin, problems = ShellHooks.from_config(config)
    assert plugin is not None
    assert [str(problem) for problem in problems] == [
        "/f:1:28: error: hooks.session.end[0]: needs a command",
        "/f:1:43: error: hooks.session.end[1]: must be an object",
        "/f:2:13: error: hooks.session.end[2].timeout: a duration is written as"
        ' "500ms", "30s", "2m", "1h" or a number of seconds',
    ]
    assert list(config.problems) == problems


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"session.starts": []}, 'did you mean "session.start"?'),
        ({"shell.env": []}, "there are: session.start"),
        ({"session.end": [{"command": "x", "match": {"tools": "y"}}]}, 'did you mean "tool"?'),
        ({"session.end": [{"command": "x", "match": {"ARGS": "y"}}]}, "known: tool, session"),
        ({"session.end": [{"command": "x", "match": {"tool": "y"}}]}, "has no tool to match"),
    ],
)
def test_what_can_never_run_is_a_warning(hooks: object, message: str) -> None:
    _, problems = ShellHooks.from_config(parse_config(json.dumps({"hooks": hooks}), "/f"))
    assert [problem.severity for problem in problems] == ["warning"]
    assert message in problems[0].message


def test_a_command_too_long_for_the_system_is_refused() -> None:
    for size, good in ((128 * 1024 - 1, True), (128 * 1024, False)):
        text = json.dumps({"hooks": {BEFORE: [{"command": "x" * size}]}})
        plugin, problems = ShellHooks.from_config(parse_config(text, "/f"))
        assert (plugin is not None, not problems) == (good, good)


async def test_the_longest_command_that_is_taken_starts(tmp_path: Path) -> None:
    command = "exit 0 #"
    command += "x" * (128 * 1024 - 1 - len(command))
    plugin = plugin_of({BEFORE: [{"command": command}]}, tmp_path)
    assert await plugin.invoke_hook(BEFORE, hooks.to_wire(before())) is None


async def test_the_plugin_waits_for_the_sum_of_its_commands(tmp_path: Path) -> None:
    entries = [{"command": "true", "timeout": "1m"}, {"command": "true"}]
    plugin = plugin_of({BEFORE: entries, AFTER: [{"command": "true"}]}, tmp_path)
    assert 70 < plugin.timeouts.hook < 90


# --- what a command gets


async def seen_by(event_name: str, event: Any, directory: Path, **more: object) -> dict[str, Any]:
    """Environment and input, as one command saw them."""
    command = "env -0 > env; cat > stdin; pwd > cwd"
    plugin = plugin_of({event_name: [{"command": command}]}, directory, **more)
    await plugin.invoke_hook(event_name, hooks.to_wire(event))
    pairs = (directory / "env").read_bytes().decode().split("\0")
    env = dict(pair.split("=", 1) for pair in pairs if pair)
    assert (directory / "cwd").read_text().strip() == str(directory)
    return {"env": env, "stdin": json.loads((directory / "stdin").read_text())}


async def test_data_comes_in_the_environment_and_on_stdin(tmp_path: Path) -> None:
    seen = await seen_by(AFTER, after("é\n", is_error=True), tmp_path)
    env = {k: v for k, v in seen["env"].items() if k not in ("PWD", "OLDPWD", "SHLVL", "_")}
    assert env == {
        "PATH": ENVIRON["PATH"],
        "HOME": "/home/x",
        "TINYHOST_EVENT": AFTER,
        "TINYHOST_TOOL": "bash",
        "TINYHOST_SESSION_ID": "s1",
        "TINYHOST_DIRECTORY": str(tmp_path),
        "TINYHOST_IS_ERROR": "true",
        "TINYHOST_ARGS": '{"a": 1}',
        "TOOL": "bash",
        "SESSION_ID": "s1",
        "IS_ERROR": "true",
        "ARGS": '{"a": 1}',
    }
    assert seen["stdin"] == {
        "event": AFTER,
        "sessionId": "s1",
        "directory": str(tmp_path),
        "tool": "bash",
        "args": {"a": 1},
        "argsText": '{"a": 1}',
        "output": "é\n",
        "isError": True,
    }


async def test_a_session_event_has_no_tool(tmp_path: Path) -> None:
    event = hooks.SessionStart(session_id="s1", directory=str(tmp_path))
    seen = await seen_by("session.start", event, tmp_path)
    assert seen["stdin"] == {
        "event": "session.start",
        "sessionId": "s1",
        "directory": str(tmp_path),
    }
    assert not {"TOOL", "ARGS", "IS_ERROR"} & set(seen["env"])


async def test_permission_ask_tells_the_category(tmp_path: Path) -> None:
    seen = await seen_by("permission.ask", ask(), tmp_path)
    assert seen["stdin"]["permission"] == "x"
    assert "isError" not in seen["stdin"]


async def test_args_that_are_not_json_come_as_text(tmp_path: Path) -> None:
    seen = await seen_by(BEFORE, before("not json"), tmp_path)
    assert seen["stdin"]["args"] == seen["stdin"]["argsText"] == "not json"


@pytest.mark.parametrize("name", ["ARGS", "TINYHOST_ARGS"])
async def test_args_are_a_variable_up_to_what_the_system_takes(name: str, tmp_path: Path) -> None:
    most = 128 * 1024 - len(name) - len("=") - 1
    for size, there in ((most, True), (most + 1, False)):
        args = json.dumps("x" * (size - 2))
        assert len(args) == size
        seen = await seen_by(BEFORE, before(args), tmp_path)
        assert (seen["env"].get(name) == args) is there
        assert (name in seen["env"]) is there
        assert seen["stdin"]["argsText"] == args


async def test_args_of_many_bytes_and_few_characters_count_as_bytes(tmp_path: Path) -> None:
    seen = await seen_by(BEFORE, before('"' + "é" * 70_000 + '"'), tmp_path)
    assert "ARGS" not in seen["env"]
    assert seen["stdin"]["args"] == "é" * 70_000


async def test_args_that_no_variable_can_hold_are_on_stdin_only(tmp_path: Path) -> None:
    for args in ("a\0b", "\ud800"):
        seen = await seen_by(BEFORE, before(args), tmp_path)
        assert "ARGS" not in seen["env"]
        assert seen["stdin"]["argsText"] == args


async def test_a_passed_variable_never_stands_in_for_args_that_do_not_fit(tmp_path: Path) -> None:
    settings = {"shell-hooks": {"env": {"ARGS": "old", "MORE": "${MY_SECRET}"}}}
    seen = await seen_by(BEFORE, before("a\0b"), tmp_path, settings=settings)
    assert "ARGS" not in seen["env"]
    assert seen["env"]["MORE"] == ENVIRON["MY_SECRET"]


@pytest.mark.parametrize(
    "hostile",
    ["$(touch owned)", "`touch owned`", "'; touch owned; '", '"; touch owned; "', "\n touch owned"],
)
async def test_nothing_in_the_args_becomes_shell_syntax(hostile: str, tmp_path: Path) -> None:
    command = 'printf %s "$ARGS" > args; printf %s "$TOOL" > tool; echo $TOOL_X ${SESSION_ID}'
    plugin = plugin_of({BEFORE: [{"command": command}]}, tmp_path)
    args = json.dumps({"command": hostile})
    await plugin.invoke_hook(BEFORE, hooks.to_wire(before(args, "$ARGS", hostile)))
    assert (tmp_path / "args").read_text() == args
    assert (tmp_path / "tool").read_text() == "$ARGS"
    assert not (tmp_path / "owned").exists()


@given(args=st.text())
def test_any_args_give_input_that_reads_back(args: str) -> None:
    line = shell_hooks._stdin(BEFORE, before(args), "/d")
    assert line.count(b"\n") == 1
    read = json.loads(line)
    assert read["argsText"] == args


# --- match


@pytest.mark.parametrize(
    ("match", "runs"),
    [
        ({}, True),
        ({"tool": "bash"}, True),
        ({"TOOL": "bash"}, True),
        ({"tool": "Bash"}, False),
        ({"tool": "ba*"}, True),
        ({"tool": "[ab]ash"}, True),
        ({"tool": "ba"}, False),
        ({"tool": "bash", "session": "s1"}, True),
        ({"tool": "bash", "session": "s2"}, False),
        ({"Session": "s?"}, True),
        ({"tool": ""}, False),
    ],
)
async def test_a_command_runs_when_every_key_matches(
    match: dict[str, str], runs: bool, tmp_path: Path
) -> None:
    plugin = plugin_of({BEFORE: [{"command": "touch ran", "match": match}]}, tmp_path)
    await plugin.invoke_hook(BEFORE, hooks.to_wire(before()))
    assert (tmp_path / "ran").exists() is runs


async def test_a_value_with_brackets_matches_exactly_too(tmp_path: Path) -> None:
    entry = {"command": "touch ran", "match": {"tool": "a[b]"}}
    plugin = plugin_of({BEFORE: [entry]}, tmp_path)
    await plugin.invoke_hook(BEFORE, hooks.to_wire(before(tool="a[b]")))
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("match", [{"tols": "*"}, {"tool": 1}, "bash", {"tool": "*", "x": "*"}])
async def test_a_match_with_a_mistake_never_matches(match: object, tmp_path: Path) -> None:
    entry = {"command": "touch ran", "match": match}
    config = parse_config(json.dumps({"hooks": {BEFORE: [entry]}}), "/f")
    plugin, problems = ShellHooks.from_config(config, directory_of=lambda _: str(tmp_path))
    assert plugin is not None
    assert problems
    await plugin.invoke_hook(BEFORE, hooks.to_wire(before()))
    assert not (tmp_path / "ran").exists()


# --- tool.execute.before


async def test_before_collects_contexts_in_list_order(tmp_path: Path) -> None:
    text = says({"hookSpecificOutput": {"additionalContext": "three"}})
    entries = [{"command": c} for c in ("sleep 0.2; " + context("one", "two"), "echo x", text)]
    result = await dispatcher_of(plugin_of({BEFORE: entries}, tmp_path)).tool_execute_before(
        before()
    )
    assert result.contexts == ["one", "two", "three"]
    assert result.blocked_by == ""


@pytest.mark.parametrize("status", [1, 2, 77])
async def test_before_stops_the_call_with_the_commands_own_words(
    status: int, tmp_path: Path
) -> None:
    command = f"echo '{{}}'; echo 'not on fridays' >&2; exit {status}"
    entries = [{"command": context("lost")}, {"command": command}, {"command": "touch third"}]
    result = await dispatcher_of(plugin_of({BEFORE: entries}, tmp_path)).tool_execute_before(
        before()
    )
    assert (result.blocked_by, result.reason) == ("shell-hooks", "not on fridays")
    assert list(result.contexts) == []
    assert not (tmp_path / "third").exists()
    error = result.answers[0].error
    assert isinstance(error, ShellHookFailed)
    assert str(error) == (
        "shell hook hooks.tool.execute.before[1] (/etc/tiny/config.json:1):"
        f" it exited with status {status}: not on fridays"
    )


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"command": "exit 9 # secret plan"}, "exited with status 9 and wrote nothing"),
        ({"command": "kill -KILL $$"}, "was killed by SIGKILL"),
        (
            {"command": "echo noise >&2; sleep 600", "timeout": "200ms"},
            "it did not end within 0.2 s",
        ),
        ({"command": says({"hookSpecificOutput": 1})}, "its answer on standard output is wrong"),
        ({"command": says({"hookSpecificOutput": {"toolArgs": 5}})}, "toolArgs is not a string"),
        ({"command": says({"hookSpecificOutput": {"toolArgs": "{"}})}, "toolArgs is not JSON text"),
        ({"command": "echo '{'; head -c 70000 /dev/zero"}, "longer than 65536 bytes"),
        ({"command": "echo '{'"}, "it is not one JSON object"),
    ],
)
async def test_before_without_words_names_the_hook_and_not_its_command(
    entry: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    result = await dispatcher_of(plugin_of({BEFORE: [entry]}, tmp_path)).tool_execute_before(
        before()
    )
    assert result.blocked_by == "shell-hooks"
    assert result.reason.startswith("shell hook hooks.tool.execute.before[0] (/etc/tiny/config")
    assert reason in result.reason
    assert entry["command"] not in result.reason


async def test_before_stops_the_call_when_the_command_cannot_start(tmp_path: Path) -> None:
    plugin = plugin_of({BEFORE: [{"command": "true"}]}, tmp_path / "gone")
    result = await dispatcher_of(plugin).tool_execute_before(before())
    assert "it could not be started: its working directory" in result.reason


async def test_secrets_are_masked_in_a_reason_and_only_its_end_is_shown(tmp_path: Path) -> None:
    command = f"head -c 5000 /dev/zero | tr '\\0' x >&2; echo {ENVIRON['MY_SECRET']} >&2; exit 1"
    plugin = plugin_of({BEFORE: [{"command": command}]}, tmp_path)
    result = await dispatcher_of(plugin).tool_execute_before(before())
    assert result.reason.startswith("...x")
    assert result.reason.endswith("x[redacted]")
    assert len(result.reason) < 2100


@pytest.mark.parametrize("args", ['{"b": 2}', {"b": 2}])
async def test_before_may_rewrite_args_and_later_commands_see_it(
    args: object, tmp_path: Path
) -> None:
    rewrite = says({"hookSpecificOutput": {"toolArgs": args}})
    entries = [{"command": rewrite}, {"command": 'printf %s "$ARGS" > args'}]
    result = await dispatcher_of(plugin_of({BEFORE: entries}, tmp_path)).tool_execute_before(
        before('{"a": 1}')
    )
    assert result.rewritten
    assert json.loads(result.tool_args) == {"b": 2}
    assert json.loads((tmp_path / "args").read_text()) == {"b": 2}


@pytest.mark.parametrize("output", ["plain text", "[", "[1]", "1", '"x"', "{}", '{"x": 1}', ""])
async def test_other_output_is_no_opinion(output: str, tmp_path: Path) -> None:
    plugin = plugin_of({BEFORE: [{"command": f"printf %s '{output}'"}]}, tmp_path)
    assert await plugin.invoke_hook(BEFORE, hooks.to_wire(before())) is None
    assert plugin.ignored_outputs == (output not in ("{}", '{"x": 1}', ""))


# --- permission.ask


@pytest.mark.parametrize(
    ("commands", "allowed", "reason"),
    [
        (["true"], None, ""),
        ([says({"allowed": True})], True, ""),
        ([says({"allowed": None})], None, ""),
        (["echo {}"], None, ""),
        (["echo looks fine"], None, ""),
        (["printf '\\357\\273\\277'; " + says({"allowed": False, "reason": "r"})], False, "r"),
        ([says({"allowed": False, "reason": "r"})], False, "r"),
        (["echo no >&2; exit 1"], False, "no"),
        (["echo no >&2; exit 2"], False, "no"),
        ([says({"allowed": True}), "echo no >&2; exit 1"], False, "no"),
        ([says({"allowed": False, "reason": "r"}), says({"allowed": True})], False, "r"),
        (["kill -KILL $$", "echo no >&2; exit 1"], False, "no"),
        ([says({"allowed": True}) + "; echo no >&2; exit 1"], False, "no"),
    ],
)
async def test_permission_answers(
    commands: list[str], allowed: bool | None, reason: str, tmp_path: Path
) -> None:
    entries = [{"command": command} for command in commands]
    result = await dispatcher_of(plugin_of({"permission.ask": entries}, tmp_path)).permission_ask(
        ask()
    )
    assert (result.allowed, result.reason) == (allowed, reason)
    assert not result.failures


@pytest.mark.parametrize(
    ("commands", "policy", "merged", "failures"),
    [
        ([says({"ask": True, "reason": "r"})], "ask", {"ask": True, "reason": "r"}, 0),
        ([says({"ask": True}), says({"allowed": True})], "ask", {"ask": True}, 0),
        (
            [says({"ask": True}), "echo no >&2; exit 1"],
            "ask",
            {"allowed": False, "reason": "no"},
            0,
        ),
        ([says({"ask": True}), "kill -KILL $$"], "deny", None, 1),
        ([says({"ask": True}), "kill -KILL $$"], "skip", {"ask": True}, 0),
    ],
)
async def test_a_command_can_have_the_person_asked(
    commands: list[str], policy: str, merged: Any, failures: int, tmp_path: Path
) -> None:
    entries = [{"command": command} for command in commands]
    plugin = plugin_of({"permission.ask": entries}, tmp_path)
    plugin._settings = attrs.evolve(plugin._settings, on_guard_failure=policy)
    result = await dispatcher_of(plugin).permission_ask(ask())
    assert (result.output(), len(result.failures)) == (merged, failures)


async def test_a_denial_without_words_names_the_hook(tmp_path: Path) -> None:
    plugin = plugin_of({"permission.ask": [{"command": "exit 1"}]}, tmp_path)
    result = await dispatcher_of(plugin).permission_ask(ask())
    assert result.allowed is False
    assert "hooks.permission.ask[0]" in result.reason


@pytest.mark.parametrize(
    "entry",
    [
        {"command": says({"allowed": "no"})},
        {"command": says({"reason": "not on Fridays"})},
        {"command": says({"hookSpecificOutput": {"permissionDecision": "deny"}})},
        {"command": "echo checking; " + says({"allowed": False})},
        {"command": "head -c 70000 /dev/zero | tr '\\0' ' '; " + says({"allowed": False})},
        # As with arguments in the reason: whoever makes the call chooses them.
        {"command": """printf '{"allowed": false, "reason": "not %s"}' 'with "this"'"""},
        {"command": "kill -KILL $$"},
        {"command": "sleep 600", "timeout": 0.1},
    ],
)
async def test_a_broken_permission_command_is_a_failed_guard(
    entry: dict[str, Any], tmp_path: Path
) -> None:
    entries = [entry, {"command": says({"allowed": True})}]
    result = await dispatcher_of(plugin_of({"permission.ask": entries}, tmp_path)).permission_ask(
        ask()
    )
    assert result.allowed is None
    assert len(result.failures) == 1


# --- tool.execute.after and session events


async def test_after_may_change_the_output_and_later_commands_see_it(tmp_path: Path) -> None:
    change = says({"hookSpecificOutput": {"output": "", "isError": True}})
    entries = [{"command": change}, {"command": 'cat > stdin; printf %s "$IS_ERROR" > error'}]
    result = await dispatcher_of(plugin_of({AFTER: entries}, tmp_path)).tool_execute_after(after())
    assert (result.text, result.is_error, result.changed) == ("", True, True)
    assert json.loads((tmp_path / "stdin").read_text())["output"] == ""
    assert (tmp_path / "error").read_text() == "true"


async def test_after_failures_are_errors_in_the_answer_and_change_nothing(tmp_path: Path) -> None:
    entries = [{"command": "exit 1"}, {"command": "exit 2"}, {"command": "touch third"}]
    result = await dispatcher_of(plugin_of({AFTER: entries}, tmp_path)).tool_execute_after(after())
    assert (result.text, result.changed) == ("out", False)
    error = result.failures[0].error
    assert isinstance(error, TinyhostError)
    assert "after[0]" in str(error)
    assert "after[1]" in str(error)
    assert (tmp_path / "third").exists()


async def test_after_keeps_contexts_beside_a_failure(tmp_path: Path) -> None:
    entries = [{"command": context("one") + "; exit 1"}, {"command": context("two")}]
    result = await dispatcher_of(plugin_of({AFTER: entries}, tmp_path)).tool_execute_after(after())
    assert result.contexts == ["one", "two"]
    assert "exited with status 1" in result.answers[0].raw["errors"][0]
    assert "exited with status 1" in json.dumps(result.to_json())


async def test_session_start_gives_context_and_its_failure_is_reported(tmp_path: Path) -> None:
    event = hooks.SessionStart(session_id="s1", directory=str(tmp_path))
    good = plugin_of({"session.start": [{"command": context("branch is main")}]}, tmp_path)
    assert (await dispatcher_of(good).session_start(event)).contexts == ["branch is main"]
    bad = plugin_of({"session.start": [{"command": "exit 1"}]}, tmp_path)
    assert len((await dispatcher_of(bad).session_start(event)).failures) == 1


async def test_session_end_runs_within_its_timeout(tmp_path: Path) -> None:
    entries = [{"command": "sleep 600", "timeout": "100ms"}, {"command": "touch ran"}]
    plugin = plugin_of({"session.end": entries}, tmp_path)
    with trio.fail_after(20):
        result = await dispatcher_of(plugin).session_end(hooks.SessionEnd(session_id="s1"))
    assert "it did not end within 0.1 s" in str(result.failures[0].error)
    assert not isinstance(result.failures[0].error, CallTimeout)
    assert (tmp_path / "ran").exists()


async def test_without_a_known_directory_a_command_runs_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = parse_config(json.dumps({"hooks": {BEFORE: [{"command": "touch here"}]}}), "/f")
    plugin, _ = ShellHooks.from_config(config)
    assert plugin is not None
    await plugin.invoke_hook(BEFORE, hooks.to_wire(before()))
    assert (tmp_path / "here").exists()
