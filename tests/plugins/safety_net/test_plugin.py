"""The plugin behind the wire, in memory and as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tinyhost_sdk
from tinyhost_plugins import safety_net
from tinyhost_plugins.safety_net.plugin import build
from tinyhost_sdk import testing

MAIN = "from tinyhost_plugins.safety_net import main; main()"


def ask(tool: str, args: str, permission: str = "") -> dict[str, Any]:
    return {"sessionId": "s", "toolName": tool, "toolArgs": args, "permission": permission}


def converse(*calls: dict[str, Any], options: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Start the plugin, shake hands, make the calls; the replies."""
    params = {"version": "1.0", "directory": "/data/site", "options": options or {}}
    requests = [{"method": "initialize", "params": params}]
    requests += [
        {"method": "hook/invoke", "params": {"name": "permission.ask", "input": call}}
        for call in calls
    ]
    lines = (
        json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n"
        for number, request in enumerate(requests, 1)
    )
    done = subprocess.run(
        [sys.executable, "-c", MAIN],
        input="".join(lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


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
    program = (
        "import sys\n"
        "from tinyhost_plugins.safety_net.plugin import build\n"
        "from tinyhost_sdk import testing\n"
        "options = {'allowPaths': ['~/x'], 'tools': ['launch']}\n"
        "with testing.drive(build(), options) as driver:\n"
        "    early = set(sys.modules)\n"
        "    driver.invoke_hook('permission.ask', {'toolName': 'bash', 'toolArgs': 'ls'})\n"
        "    late = set(sys.modules)\n"
        "slow = {'tree_sitter', 'tree_sitter_bash', 'json', 'dataclasses', 'typing',\n"
        "        'tinyhost_plugins.safety_net.judge'}\n"
        "print(sorted(slow & early), sorted(slow - late))\n"
    )
    # Without site, so that what an editable install imports does not count.
    homes = [Path(safety_net.__file__).parents[2], Path(tinyhost_sdk.__file__).parents[1]]
    path = [*map(str, homes), *sys.path]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {path!r}\n{program}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "[] []\n", done.stderr
