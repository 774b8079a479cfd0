"""Which texts in a tool's arguments count as commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.safety_net import arguments
from tinyhost_plugins.safety_net.gate import objection
from tinyhost_plugins.safety_net.policy import Policy, read_options
from tinyhost_plugins.safety_net.rules import RULES_BY_COMMAND


def stopped(tool: str, args: Any, permission: str = "", policy: Policy | None = None) -> bool:
    text = args if isinstance(args, str) else json.dumps(args)
    return objection(tool, text, permission, policy or Policy()) != ""


@pytest.mark.parametrize(
    "args",
    [
        "rm -rf /",
        {"command": "rm -rf /"},
        {"command": "rm --recursive --force /"},
        {"cmd": "rm -rf /"},
        {"script": "ls\nrm -rf /\n"},
        {"code": "rm -rf /"},
        {"command": ["bash", "-lc", "rm -rf /"]},
        {"command": ["rm", "-rf", "/"]},
        {"commands": ["ls", "rm -rf /"]},
        {"argv": ["rm", "-rf", "/"]},
        {"command": "rm", "args": ["-rf", "/"]},
        {"command": "rm", "arguments": "-rf /"},
        {"command": "rm -rf *", "workdir": "/etc"},
        {"command": "sh", "stdin": "rm -rf /"},
        {"input": {"command": "rm -rf /"}},
        {"calls": [{"command": "ls"}, {"command": "rm -rf /"}]},
        {"whatever": "rm -rf /"},
        {"steps": [{"do": "rm -rf /"}]},
        ["rm", "-rf", "/"],
        '"rm -rf /"',
        '{"command":"ls","command":"rm -rf /"}',
        '{"command":"rm -rf /","command":"ls"}',
        '{"command":"r\\u006d -rf \\u002f"}',
        '{"command":"rm -rf /"',
        "{ rm -rf /; }",
        '{"shell_command":"rm -rf /"}',
        '{"command":"rm -rf / \\ud800"}',
    ],
)
def test_a_command_is_found_wherever_a_shell_tool_takes_it(args: Any) -> None:
    assert stopped("bash", args)


@pytest.mark.parametrize(
    "args",
    [
        {"command": "ls", "description": "unlike rm -rf /"},
        {"command": "ls -la"},
        {"command": ["grep", "rm -rf /", "notes"]},
        {"command": "rm -rf *", "cwd": "/tmp/build"},
        {"command": "cat", "stdin": "rm -rf /"},
        {"timeout": 5},
        {},
        "null",
        "true",
        "17",
        "",
    ],
)
def test_other_arguments_of_a_shell_tool_are_left_alone(args: Any) -> None:
    assert not stopped("bash", args)


@pytest.mark.parametrize(
    "tool",
    [
        *("bash", "shell", "Bash", "sh", "terminal", "exec", "execute", "run_command", "monitor"),
        *("plugin__box__shell", "mcp__server__run_command", "mcp.server.execute_command"),
        *("run_in_terminal", "runInTerminal", "local_shell", "run-shell-command", "server/bash"),
    ],
)
def test_a_tool_that_runs_commands_is_known_by_its_name(tool: str) -> None:
    assert stopped(tool, {"whatever": "rm -rf /"})


@pytest.mark.parametrize("tool", ["read", "write", "grep", "edit", "glob", "mcp__files__read"])
def test_a_tool_for_files_is_left_alone_whatever_its_arguments_say(tool: str) -> None:
    assert not stopped(tool, "rm -rf /")
    assert not stopped(tool, {"content": "rm -rf /", "path": "x"})
    assert not stopped(tool, {"command": "rm -rf /"})


def test_of_an_unknown_tool_only_command_members_are_read() -> None:
    assert stopped("mcp__box__launch", {"command": "rm -rf /"})
    assert stopped("mcp__box__launch", {"job": {"cmd": ["rm", "-rf", "/"]}})
    assert not stopped("mcp__box__launch", {"text": "rm -rf /"})
    assert not stopped("mcp__box__launch", "rm -rf /")


@pytest.mark.parametrize("permission", ["bash", "shell", "execute"])
def test_the_permission_tells_a_shell_too(permission: str) -> None:
    assert stopped("mytool", {"text": "rm -rf /"}, permission)
    assert stopped("", "rm -rf /", permission)
    assert not stopped("mytool", {"text": "rm -rf /"}, "plugin")


def test_further_shell_tools_can_be_named() -> None:
    policy = read_options({"tools": ["Launch"]})
    assert stopped("launch", {"text": "rm -rf /"}, policy=policy)
    assert stopped("plugin__box__launch", {"text": "rm -rf /"}, policy=policy)


@pytest.mark.parametrize(
    "args", ["[" * 100_000, json.dumps([[]] * 30_000), json.dumps({"command": "x" * 2_000_000})]
)
def test_arguments_that_are_too_much_to_read_are_refused_for_shells_only(args: str) -> None:
    assert "safety-net[unchecked]" in objection("bash", args, "", Policy())
    assert not stopped("mcp__box__launch", args)


@pytest.mark.parametrize("text", [")" * 60_000, "a|" * 30_000, "ls;" * 85_000])
def test_text_that_overwhelms_the_parser_is_refused_and_the_guard_lives_on(text: str) -> None:
    assert "safety-net[unchecked]" in objection("bash", json.dumps({"command": text}), "", Policy())
    assert not stopped("bash", {"command": "ls"})


def test_a_long_ordinary_script_is_judged() -> None:
    script = "echo building the next part | tee -a log\n" * 500
    assert not stopped("bash", {"command": script})
    assert stopped("bash", {"command": script + "rm -rf /\n"})


def test_a_long_document_written_by_a_here_document_is_left_alone() -> None:
    table = "| rm -rf / | deletes everything | reboot |\n" * 1000
    assert not stopped("bash", {"command": f"cat > doc.md <<'EOF'\n{table}EOF\n"})


def test_a_reason_gives_each_rule_once_and_at_most_three() -> None:
    reason = objection(
        "bash", "reboot; halt; rm -rf /; rm -rf /etc; git clean -f; shred x", "", Policy()
    )
    assert reason.count("safety-net[") == 3
    assert reason.count("safety-net[power-off]") == 1


def test_an_allowed_refusal_of_unreadable_arguments_is_silent() -> None:
    policy = read_options({"allow": ["unchecked"]})
    assert not stopped("bash", "[" * 100_000, policy=policy)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["command", "args", "cwd", "x", "stdin"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON | st.text(max_size=60), st.sampled_from(["bash", "read", "launch", ""]))
def test_no_arguments_make_the_reader_raise(value: Any, tool: str) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    for found in arguments.commands(tool, text, "", Policy()):
        assert isinstance(found.command, (str, tuple))


def test_a_defect_in_a_rule_stops_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(call: object) -> list[Any]:
        raise ZeroDivisionError("a defect")

    monkeypatch.setitem(RULES_BY_COMMAND, "ls", broken)
    assert "safety-net itself failed: ZeroDivisionError" in objection("bash", "ls", "", Policy())
    assert "a defect" in capsys.readouterr().err
