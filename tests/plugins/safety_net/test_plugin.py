"""The plugin behind the wire, in memory and as a process of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shipped import Shipped, hook

from tinyhost_plugins.safety_net.plugin import build
from tinyhost_sdk import testing

PLUGIN = Shipped("safety-net")


def ask(tool: str, args: str, permission: str = "") -> dict[str, Any]:
    return {"sessionId": "s", "toolName": tool, "toolArgs": args, "permission": permission}


def converse(*calls: dict[str, Any], **handshake: Any) -> list[dict[str, Any]]:
    """Start the plugin, shake hands, make the calls; the replies."""
    questions = (hook("permission.ask", call) for call in calls)
    return PLUGIN.converse(*questions, directory="/data/site", **handshake)


def test_a_process_shakes_hands_and_gives_verdicts() -> None:
    hello, denied, allowed, other = converse(
        ask("bash", '{"command":"rm -rf /"}'),
        ask("bash", '{"command":"ls"}'),
        ask("read", '{"path":"rm -rf /"}'),
    )
    assert hello["result"]["id"] == "safety-net"
    assert hello["result"]["hooks"] == ["permission.ask"]
    assert hello["result"]["tools"] == []
    verdict = denied["result"]["output"]
    assert verdict["allowed"] is False
    assert verdict["reason"].startswith("safety-net[remove-system-path]: ")
    assert allowed["result"]["output"] == {"allowed": True}
    assert other["result"]["output"] == {"allowed": True}


def test_a_large_command_is_judged_without_disturbing_the_protocol() -> None:
    long = "echo one two three > log\n" * 1000
    _, allowed, denied, tangled, after = converse(
        ask("bash", json.dumps({"command": long})),
        ask("bash", json.dumps({"command": long + "reboot"})),
        ask("bash", json.dumps({"command": ")" * 60_000})),
        ask("bash", "ls"),
    )
    assert allowed["result"]["output"] == {"allowed": True}
    assert "safety-net[power-off]" in denied["result"]["output"]["reason"]
    assert "safety-net[unchecked]" in tangled["result"]["output"]["reason"]
    assert after["result"]["output"] == {"allowed": True}


def test_options_reach_a_process() -> None:
    _, allowed, denied = converse(
        ask("bash", "git clean -fdx"),
        ask("launch", json.dumps({"x": "npm publish"})),
        options={
            "allow": ["git-clean"],
            "tools": ["launch"],
            "extraRules": [{"id": "no-publish", "command": "npm publish", "reason": "not yet"}],
        },
    )
    assert allowed["result"]["output"] == {"allowed": True}
    assert denied["result"]["output"]["reason"].startswith("safety-net[no-publish]: not yet.")


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"alow": []}):
        pass
    assert 'there is no option "alow"' in caught.value.message


def test_the_project_directory_of_the_handshake_is_protected() -> None:
    with testing.drive(build(), directory="/data/site") as driver:
        output = driver.invoke_hook("permission.ask", ask("bash", "rm -rf /data/site"))
        assert "safety-net[remove-working-tree]" in output["reason"]


def test_starting_up_loads_neither_the_parser_nor_the_rules() -> None:
    slow = {"tree_sitter", "tree_sitter_bash", "json", "dataclasses", "typing"}
    slow.add("tinyhost_plugins.safety_net.judge")
    started, asked, _end = PLUGIN.imported(
        {"allowPaths": ["~/x"], "tools": ["launch"]},
        "driver.invoke_hook('permission.ask', {'toolName': 'bash', 'toolArgs': 'ls'})",
    )
    assert not slow & started
    assert slow <= asked
