"""Outputs that a plugin was to look through, and did not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost import open_host
from tinyhost.config import Config, parse_config
from tinyhost.permissions import Action, Origin

AddPlugin = Callable[[str, str], Path]
SECRET = "the password is hunter2"
FILTER = "handshake(hooks=['tool.execute.after'])\n"
FAILURES = {
    "dies": FILTER + "recv()\nsys.exit(1)",
    "hangs": FILTER + "recv()\ntime.sleep(60)",
    "is nonsense": FILTER + "serve(on_hook=lambda p: {'output': {'output': 7}})",
    "is an error": FILTER + "fail(recv(), -32000, 'bug')\nserve()",
}
WORKS = FILTER + "serve(on_hook=lambda p: {'output': {'output': 'masked'}})"


def config(home: Path, policy: str | None) -> Config:
    own: dict[str, Any] = {"timeouts": {"hook": "200ms", "stop": "100ms"}}
    if policy is not None:
        own["onOutputFailure"] = policy
    text = json.dumps({"settings": {"filter": own}})
    return parse_config(text, str(home / "config" / "config.json"))


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("policy", [None, "pass", "withhold"])
async def test_what_becomes_of_an_output_when_a_look_at_it_fails(
    add_plugin: AddPlugin, home: Path, failure: str, policy: str | None
) -> None:
    add_plugin("filter", FAILURES[failure])
    async with open_host(config(home, policy), origin=Origin.PERSON) as host:
        await host.load_all(["filter"])
        session = await host.session_start()
        after = await host.review("bash", "{}", SECRET, False, session)
        assert len(after.failures) == 1
        if policy == "withhold":
            assert after.is_error
            assert "hunter2" not in after.text
            assert "plugin filter was to look through it and failed" in after.text
        else:
            assert (after.text, after.is_error) == (SECRET, False)


async def test_the_output_of_a_tool_is_withheld_with_all_that_came_with_it(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("filter", FAILURES["is an error"])
    add_plugin(
        "tool",
        "handshake(tools=['t'])\nserve(on_tool=lambda p: {'content': 'hunter2', 'data': 'hunter2'})",
    )
    async with open_host(config(home, "withhold"), origin=Origin.PERSON) as host:
        await host.load_all(["filter", "tool"])
        session = await host.session_start()
        outcome = await host.call("plugin__tool__t", {}, session)
        assert outcome.is_error
        assert "hunter2" not in repr(outcome)


async def test_a_plugin_that_is_not_there_has_looked_at_nothing(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("filter", "sys.exit(1)")
    async with open_host(config(home, "withhold"), origin=Origin.PERSON) as host:
        await host.load_all(["filter"])
        session = await host.session_start()
        assert (await host.judge("bash", {"command": "ls"}, session)).action is Action.ALLOW
        after = await host.review("bash", "{}", SECRET, False, session)
        assert "plugin filter failed to load" in after.text
        assert "hunter2" not in after.text
        add_plugin("filter", WORKS)
        await host.load_all(["filter"])
        assert (await host.review("bash", "{}", SECRET, False, session)).text == "masked"
        host.expect("filter")  # it is being started anew
        assert "withheld" in (await host.review("bash", "{}", SECRET, False, session)).text
        host.dismiss("filter")
        assert (await host.review("bash", "{}", SECRET, False, session)).text == "masked"


async def test_what_is_there_already_is_not_missed_when_it_is_to_be_loaded_again(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("filter", WORKS)
    add_plugin("guard", "handshake(hooks=['permission.ask'])\nserve(on_hook=lambda p: {})")
    text = json.dumps({"settings": {"*": {"onOutputFailure": "withhold"}}})
    async with open_host(parse_config(text, ""), origin=Origin.PERSON) as host:
        first = await host.load_all(["filter", "guard", "guard"])
        again = await host.load_all(["filter", "guard", "notify"])
        assert [loaded.plugin is None for loaded in (*first, *again)] == [False, False, *[True] * 4]
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is Action.ALLOW, verdict.reason
        assert (await host.review("bash", "{}", SECRET, False, session)).text == "masked"


async def test_a_guard_that_is_missed_is_missed_until_it_is_there(
    add_plugin: AddPlugin, home: Path
) -> None:
    guard = "handshake(hooks=['permission.ask'])\nserve(on_hook=lambda p: {})"
    add_plugin("guard", guard)
    async with open_host(parse_config("{}", ""), origin=Origin.PERSON) as host:
        await host.load_all(["guard"])  # known as a guard from now on
    add_plugin("guard", "sys.exit(1)")
    async with open_host(parse_config("{}", ""), origin=Origin.PERSON) as host:
        await host.load_all(["guard", "guard"])  # the second is one that the first is loading
        session = await host.session_start()
        verdict = await host.judge("bash", {"command": "ls"}, session)
        assert verdict.action is not Action.ALLOW
        assert "could not be loaded" in verdict.reason
