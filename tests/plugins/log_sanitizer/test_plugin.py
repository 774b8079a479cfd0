"""The plugin behind the wire: in memory, as a process, and behind the host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shipped import Shipped, hook, hosting

from tinyhost import CallDenied
from tinyhost_plugins.log_sanitizer import sanitize
from tinyhost_plugins.log_sanitizer.notes import Notes
from tinyhost_plugins.log_sanitizer.plugin import build
from tinyhost_sdk import testing

AddPlugin = Callable[[str, str], Path]

PLUGIN = Shipped("log-sanitizer")
BEFORE, AFTER = "tool.execute.before", "tool.execute.after"
ARGS = '{"command":"mysql --password=hunter2 shop"}'
# Answers with its arguments, and with one more secret.
ECHO = (
    "handshake(tools=['echo'])\n"
    "serve(lambda p: {'content': json.dumps({**p['args'], 'password': 'sword' + 'fish'})})"
)


def before(args: str, session: str = "s", tool: str = "bash") -> dict[str, Any]:
    return {"sessionId": session, "toolName": tool, "toolArgs": args}


def after(output: str, is_error: bool = False, tool: str = "bash") -> dict[str, Any]:
    return {**before("{}", tool=tool), "output": output, "isError": is_error}


def test_a_process_shakes_hands_and_masks() -> None:
    hello, noted, masked, failed, plain, empty = PLUGIN.results(
        hook(BEFORE, before(ARGS)),
        hook(AFTER, after("DB_PASSWORD=hunter2\nok")),
        hook(AFTER, after("login with token: " + "0f" * 20, is_error=True)),
        hook(AFTER, after("ok")),
        hook(AFTER, after("")),
    )
    assert hello["id"] == "log-sanitizer"
    assert hello["hooks"] == [BEFORE, AFTER]
    assert hello["tools"] == []
    assert list(noted["output"]) == ["additionalContext"]
    assert masked["output"] == {"output": "DB_PASSWORD=[REDACTED:password]\nok", "isError": False}
    assert failed["output"] == {"output": "login with token: [REDACTED:token]", "isError": True}
    assert plain.get("output") is None
    assert empty.get("output") is None


def test_arguments_are_noted_once_for_a_session_and_a_class_and_never_changed() -> None:
    with testing.drive(build()) as driver:
        first = driver.invoke_hook(BEFORE, before(ARGS))
        assert first["additionalContext"][0].startswith(
            "log-sanitizer: the arguments hold password. They were used unchanged"
        )
        assert "hunter2" not in json.dumps(first)
        assert "toolArgs" not in first
        assert driver.invoke_hook(BEFORE, before(ARGS)) is None
        other = '{"url":"https://bob:hunter2@example.com","command":"mysql --password=hunter2"}'
        second = driver.invoke_hook(BEFORE, before(other))
        assert "password, url-password" in second["additionalContext"][0]
        assert driver.invoke_hook(BEFORE, before(ARGS, session="t")) is not None
        assert driver.invoke_hook(BEFORE, before('{"command":"ls"}')) is None


def test_the_sessions_that_are_remembered_are_limited() -> None:
    notes = Notes()
    assert notes.new("first", {"jwt"})
    assert not notes.new("first", {"jwt"})
    for number in range(256):
        notes.new(str(number), {"jwt"})
    assert notes.new("first", {"jwt"})
    assert not notes.new("255", {"jwt"})


def test_arguments_can_be_ignored() -> None:
    with testing.drive(build(), {"args": "ignore"}) as driver:
        assert driver.invoke_hook(BEFORE, before(ARGS)) is None


def test_a_call_with_secrets_can_be_denied() -> None:
    with testing.drive(build(), {"args": "deny"}) as driver:
        with pytest.raises(testing.RpcFailure) as caught:
            driver.invoke_hook(BEFORE, before(ARGS))
        assert "the arguments hold password, so the call was not made" in caught.value.message
        assert "hunter2" not in caught.value.message
        assert driver.invoke_hook(BEFORE, before('{"command":"ls"}')) is None


def test_arguments_are_rewritten_when_the_option_says_so() -> None:
    with testing.drive(build(), {"args": "mask"}) as driver:
        output = driver.invoke_hook(BEFORE, before(ARGS))
    assert output["toolArgs"] == ARGS.replace("hunter2", "[REDACTED:password]")
    assert "was replaced before the call" in output["additionalContext"][0]


@pytest.mark.parametrize("args", ["deny", "mask"])
def test_arguments_too_long_to_check_are_denied_where_they_would_be_changed(args: str) -> None:
    long = json.dumps({"text": "x" * 2000})
    with testing.drive(build(), {"args": args, "maxCharacters": 1024}) as driver:
        with pytest.raises(testing.RpcFailure) as caught:
            driver.invoke_hook(BEFORE, before(long))
        assert "longer than 1024 characters" in caught.value.message
    with testing.drive(build(), {"maxCharacters": 1024}) as driver:
        assert driver.invoke_hook(BEFORE, before(long)) is None


def test_what_is_too_long_to_check_is_left_out_and_said_so() -> None:
    text = "line\n" * 300 + "password=hunter2"
    with testing.drive(build(), {"maxCharacters": 1024}) as driver:
        output = driver.invoke_hook(AFTER, after(text))["output"]
    assert output.startswith(text[:1024])
    assert "hunter2" not in output
    assert f"left out {len(text) - 1024} of {len(text)} characters" in output


def test_a_tool_can_be_left_alone() -> None:
    with testing.drive(build(), {"skipTools": ["vault"], "args": "deny"}) as driver:
        assert driver.invoke_hook(BEFORE, before(ARGS, tool="vault")) is None
        assert driver.invoke_hook(AFTER, after("password=hunter2", tool="vault")) is None
        assert driver.invoke_hook(AFTER, after("password=hunter2")) is not None


def test_an_output_is_withheld_when_the_plugin_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(sanitize, "_sanitize", broken)
    with testing.drive(build()) as driver:
        output = driver.invoke_hook(AFTER, after("password=hunter2"))["output"]
    assert output.startswith("[log-sanitizer failed (ZeroDivisionError), so this output of 16")
    assert "a defect" in capsys.readouterr().err


def test_a_call_goes_on_when_the_plugin_fails_unless_it_may_deny_or_change_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(sanitize, "_sanitize", broken)
    with testing.drive(build()) as driver:
        assert driver.invoke_hook(BEFORE, before(ARGS)) is None
    assert "a defect" in capsys.readouterr().err
    for args in ("deny", "mask"):
        with testing.drive(build(), {"args": args}) as driver, pytest.raises(testing.RpcFailure):
            driver.invoke_hook(BEFORE, before(ARGS))


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"arg": "deny"}):
        pass
    assert 'there is no option "arg"' in caught.value.message


def test_starting_up_loads_no_rules_and_masking_no_library_before_it_is_needed() -> None:
    libraries = {"detect_secrets", "requests"}
    slow = {"re", "json", "typing", "tinyhost_plugins.log_sanitizer.sanitize"} | libraries
    invoke = "driver.invoke_hook('tool.execute.after', {'toolName': 'bash', 'output': %s})"
    started, masked, masked_by_library, _end = PLUGIN.imported(
        {"names": ["pin"], "args": "deny"},
        invoke % "'password=hunter2'",
        invoke % "'AKIA' + '7' * 16",
    )
    assert not slow & started
    assert not libraries & masked
    assert slow <= masked_by_library


async def call(home: Path, **options: Any) -> Any:
    """Call a tool through the host, with log-sanitizer as a process beside it."""
    PLUGIN.install(home / "config" / "plugins")
    async with hosting(home, ["demo", ["log-sanitizer", options]]) as host:
        session = await host.session_start("/")
        outcome = await host.call("plugin__demo__echo", {"token": "0f" * 20, "n": 1}, session)
        await host.session_end(session)
    return outcome


async def test_behind_the_host_the_tool_runs_unchanged_and_its_output_is_masked(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", ECHO + "\n")
    outcome = await call(home)
    assert json.loads(outcome.content) == {
        "token": "[REDACTED:token]",
        "n": 1,
        "password": "[REDACTED:password]",
    }
    assert not outcome.verdict.rewritten
    assert any("arguments hold token" in text for text in outcome.contexts)


async def test_behind_the_host_a_call_is_denied_when_the_option_says_so(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", ECHO)
    with pytest.raises(CallDenied, match="the arguments hold token, so the call was not made"):
        await call(home, args="deny")
