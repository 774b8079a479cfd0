"""`tinyhost tool` and `tinyhost hook`: plugins are loaded, asked, and stopped."""

from __future__ import annotations

import json
from typing import Any

import pytest

Cli = Any  # of conftest.py


def content(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """The answer of a tool."""
    return {"result": {"content": text, "isError": is_error}}


def output(value: Any) -> dict[str, Any]:
    """The answer of a hook."""
    return {"result": {"output": value}}


FAILS = {"error": {"code": -32000, "message": "no idea"}}


# --- tool list


def test_the_tools_of_all_plugins_are_listed_in_their_order(tinyhost: Cli) -> None:
    tinyhost.plugin("slow", tools={"b": content(""), "a": content("")}, delay=0.2)
    tinyhost.plugin("quick", tools={"c": content("")})
    tinyhost.configure({"plugins": ["slow", "quick"]})
    header, *lines = tinyhost.ok("tool", "list").splitlines()
    assert header == "TOOL\tPLUGIN\tPERMISSION\tDESCRIPTION"
    builtins = ["notify", "code-review", "handoff"]
    assert [line.split("\t")[1] for line in lines[:3]] == builtins
    assert lines[3:] == [
        "plugin__slow__b\tslow\t-\tThe b tool",
        "plugin__slow__a\tslow\t-\tThe a tool",
        "plugin__quick__c\tquick\t-\tThe c tool",
    ]
    value = tinyhost.json("tool", "list", "--plugin", "quick")
    assert value == {
        "tools": [
            {
                "id": "plugin__quick__c",
                "name": "c",
                "plugin": "quick",
                "description": "The c tool\nin full",
                "inputSchema": {"type": "object", "properties": {}},
                "permission": None,
            }
        ],
        "failed": [],
    }


def test_a_plugin_that_does_not_load_is_told_and_the_others_are_listed(tinyhost: Cli) -> None:
    tinyhost.plugin("good", tools={"a": content("")})
    line = ("tool", "list", "--plugin", "nowhere", "--plugin", "good", "--plugin", "good")
    done = tinyhost(*line)
    assert done.returncode == 1
    assert "plugin__good__a" in done.stdout
    assert done.stderr.startswith("tinyhost: plugin not found: nowhere")
    value = tinyhost.json(*line, code=1)
    assert [tool["id"] for tool in value["tools"]] == ["plugin__good__a"]
    assert [failed["error"]["type"] for failed in value["failed"]] == ["PluginNotFound"]


def test_without_any_plugin_the_list_says_what_to_do(tinyhost: Cli) -> None:
    done = tinyhost("tool", "list")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 4  # a header, and what is built in
    assert "no plugins are configured" in done.stderr


# --- tool call


def test_the_answer_is_printed_unchanged_in_a_pipe(tinyhost: Cli) -> None:
    text = "a\r\nb\x1b[31m\ttab\x07 \u202e no line end"
    tinyhost.plugin("mine", tools={"say": content(text)})
    assert tinyhost.ok("tool", "call", "plugin__mine__say", "--plugin", "mine") == text


def test_a_tool_that_reports_an_error_makes_the_command_fail(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": content("sorry\n", is_error=True)})
    tinyhost.configure({"plugins": ["mine"]})
    done = tinyhost("tool", "call", "plugin__mine__say")
    assert (done.returncode, done.stdout) == (1, "sorry\n")
    assert done.stderr == "tinyhost: the tool plugin__mine__say reported an error\n"
    value = tinyhost.json("tool", "call", "plugin__mine__say", code=1)
    assert value.pop("ms") >= 0
    assert value == {
        "tool": "plugin__mine__say",
        "content": "sorry\n",
        "isError": True,
        "additionalContext": [],
    }


def test_a_call_that_fails_is_an_error(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": FAILS})
    done = tinyhost("tool", "call", "plugin__mine__say", "--plugin", "mine")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tinyhost: plugin mine: tool/call: error -32000: no idea\n"
    error = tinyhost.json("tool", "call", "plugin__mine__say", "--plugin", "mine", code=1)["error"]
    assert (error["type"], error["code"], error["remoteMessage"]) == (
        "RemoteError",
        -32000,
        "no idea",
    )


@pytest.mark.parametrize("piped", [False, True])
def test_arguments_reach_the_plugin_as_they_are_written(tinyhost: Cli, piped: bool) -> None:
    tinyhost.plugin("mine", tools={"raw": content("")})
    args = '{"float": 1.50e+3, "big":123456789012345678901234567890,\n "text": "\\ud800 \u00e9"}'
    line = ("tool", "call", "plugin__mine__raw", "--plugin", "mine", "--session", "ses_1")
    sent = (
        tinyhost.ok(*line, "--args", "-", input=args)
        if piped
        else tinyhost.ok(*line, "--args", args)
    )
    assert args.replace("\n", " ") in sent
    context = json.loads(sent)["params"]["context"]
    assert context == {"sessionId": "ses_1", "directory": str(tinyhost.project)}


@pytest.mark.parametrize("args", ["{", "[1]", '"text"', "null", '{"a": Infinity}', ""])
def test_arguments_that_are_not_an_object_are_a_usage_error(tinyhost: Cli, args: str) -> None:
    done = tinyhost("tool", "call", "plugin__mine__raw", "--args", args)
    assert done.returncode == 2
    assert "The value of --args" in done.stderr


def test_every_guard_is_asked_before_a_tool_is_called(tinyhost: Cli) -> None:
    tinyhost.plugin("my.own", tools={"say": content("mine")}, hooks={"dispose": output(None)})
    tinyhost.plugin("guard", hooks={"permission.ask": output({"allowed": False, "reason": "no"})})
    tinyhost.configure({"plugins": ["my.own", "guard", "nowhere"]})
    done = tinyhost("tool", "call", "plugin__my_own__say")
    assert (done.returncode, done.stdout) == (1, "")
    assert "plugin__my_own__say was denied: plugin guard denies it: no" in done.stderr
    assert "plugin not found: nowhere" in done.stderr
    assert tinyhost.disposed("my.own")
    assert tinyhost.ok("tool", "call", "plugin__my_own__say", "--plugin", "my.own") == "mine"
    error = tinyhost.json("tool", "call", "plugin__my_own__say", code=1)["error"]
    assert error["type"] == "CallDenied"


def test_no_tool_is_called_without_a_plugin_that_was_named_for_it(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": content("mine")})
    line = ("tool", "call", "plugin__mine__say", "--plugin", "mine", "--plugin", "nowhere")
    done = tinyhost(*line)
    assert (done.returncode, done.stdout) == (1, "")
    why = "--plugin names a plugin that did not load: plugin not found: nowhere"
    assert why in done.stderr
    error = tinyhost.json(*line, code=1)["error"]
    assert error["type"] == "CallDenied"
    assert error["reason"].startswith(why)


def test_a_tool_that_is_built_in_can_be_called(tinyhost: Cli) -> None:
    answer = tinyhost.json("tool", "call", "plugin__code-review__code_review", code=1)
    assert "not in a git repository" in answer["content"] or "git" in answer["content"]


def test_a_tool_that_is_not_there_is_an_error_that_lists_the_others(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": content("")})
    tinyhost.configure({"plugins": ["mine"]})
    done = tinyhost("tool", "call", "plugin__mine__sya")
    assert done.returncode == 1
    assert "tinyhost: tool not found: plugin__mine__sya; there are: " in done.stderr
    assert "plugin__mine__say" in done.stderr
    error = tinyhost.json("tool", "call", "plugin__other__say", code=1)["error"]
    assert error["known"][-1] == "plugin__mine__say"
    assert error["notes"] == ["No plugin other is loaded; if it is installed, add --plugin other"]


def test_why_the_owner_did_not_load_is_the_error(tinyhost: Cli) -> None:
    tinyhost.configure({"plugins": ["nowhere"]})
    error = tinyhost.json("tool", "call", "plugin__nowhere__say", code=1)["error"]
    assert error["type"] == "PluginNotFound"


def test_progress_goes_to_standard_error(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": content("done")}, progress=2)
    done = tinyhost("tool", "call", "plugin__mine__say", "--plugin", "mine")
    assert (done.returncode, done.stdout) == (0, "done")
    assert done.stderr == "step\\x1b 0\nstep\\x1b 1\n"


# --- hook invoke


def ask(cli: Cli, *args: str, **extra: Any) -> Any:
    return cli("hook", "invoke", "permission.ask", *args, **extra)


def test_a_denial_is_shown_and_makes_the_command_fail(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks={"permission.ask": output({"allowed": True})})
    tinyhost.plugin("strict", hooks={"permission.ask": output({"allowed": False, "reason": "no"})})
    tinyhost.configure({"plugins": ["easy", "strict"]})
    done = ask(tinyhost, "--input", '{"toolName": "bash"}')
    assert done.returncode == 1
    verdict, *table = done.stdout.splitlines()
    assert verdict == "denied by strict: no"
    assert [line.split("\t")[0] for line in table] == ["PLUGIN", "easy", "strict"]
    assert table[2].endswith('\t{"allowed":false,"reason":"no"}')
    value = tinyhost.json("hook", "invoke", "permission.ask", code=1)
    for answer in value["plugins"]:
        assert answer.pop("ms") >= 0
    assert value == {
        "output": {"allowed": False, "reason": "no"},
        "plugins": [
            {"name": "easy", "output": {"allowed": True}},
            {"name": "strict", "output": {"allowed": False, "reason": "no"}},
        ],
        "verdict": "denied by strict: no",
        "stopped": True,
    }


@pytest.mark.parametrize(
    ("answer", "verdict"), [({"allowed": True}, "allowed"), (None, "no opinion")]
)
def test_what_is_not_denied_succeeds(tinyhost: Cli, answer: Any, verdict: str) -> None:
    tinyhost.plugin("mine", hooks={"permission.ask": output(answer)})
    done = ask(tinyhost, "--plugin", "mine")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, verdict)


def test_a_guard_that_fails_is_a_failure(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", hooks={"permission.ask": FAILS})
    done = ask(tinyhost, "--plugin", "mine")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "no opinion, but a plugin failed to answer"
    [answer] = tinyhost.json("hook", "invoke", "permission.ask", "--plugin", "mine", code=1)[
        "plugins"
    ]
    assert answer["name"] == "mine"
    assert "no idea" in answer["error"]


def test_a_guard_that_does_not_load_is_a_failure_in_its_place(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", hooks={"permission.ask": output({"allowed": True})})
    line = ("--plugin", "nowhere", "--plugin", "mine")
    done = ask(tinyhost, *line)
    assert done.returncode == 1
    assert "plugin not found: nowhere" in done.stderr
    failed, answered = tinyhost.json("hook", "invoke", "permission.ask", *line, code=1)["plugins"]
    assert failed["name"] == "nowhere"
    assert failed["error"].startswith("plugin not found: nowhere")
    assert answered["output"] == {"allowed": True}


def test_the_name_of_a_builtin_in_the_configuration_is_no_failure(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"a": content("")}, hooks={"permission.ask": output(None)})
    tinyhost.configure({"plugins": ["handoff", "mine"]})
    assert tinyhost.json("tool", "list")["failed"] == []
    [answer] = tinyhost.json("hook", "invoke", "permission.ask")["plugins"]
    assert answer["name"] == "mine"
    done = tinyhost("plugin", "load", "handoff")
    assert done.returncode == 1
    assert "handoff is built in" in done.stderr


def test_a_gate_that_stops_the_call_makes_the_command_fail(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", hooks={"tool.execute.before": FAILS})
    done = tinyhost("hook", "invoke", "tool.execute.before", "--plugin", "mine")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "stopped by mine: no idea")


def test_the_input_is_read_from_standard_input_and_the_answers_are_merged(tinyhost: Cli) -> None:
    tinyhost.plugin("one", hooks={"shell.env": output({"env": {"A": "1", "B": "1"}})})
    tinyhost.plugin("two", hooks={"shell.env": output({"env": {"B": None}})})
    value = tinyhost.json(
        *("hook", "invoke", "shell.env", "--plugin", "one", "--plugin", "two", "--input", "-"),
        input='{"env": {"B": "0"}}',
    )
    assert value["output"] == {"env": {"A": "1", "B": None}}


def test_input_that_does_not_fit_the_hook_is_a_usage_error(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", hooks={"permission.ask": output(None)})
    done = ask(tinyhost, "--plugin", "mine", "--input", '{"toolName": 5}')
    assert done.returncode == 2
    assert "the input does not fit hook permission.ask" in done.stderr
    assert ask(tinyhost, "--plugin", "mine", "--input", "[]").returncode == 2
    assert tinyhost("hook", "invoke", "dispose", "--plugin", "mine").returncode == 2


def test_a_hook_that_no_plugin_declared_is_told(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", hooks={"my.event": output({"seen": True})})
    done = tinyhost("hook", "invoke", "permission.aks", "--plugin", "mine")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no loaded plugin declared the hook permission.aks" in done.stderr
    assert "did you mean permission.ask?" in done.stderr
    value = tinyhost.json("hook", "invoke", "my.event", "--plugin", "mine", "--input", '{"a": 1}')
    assert value["plugins"][0]["output"] == {"seen": True}
