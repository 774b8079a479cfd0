"""The plugin behind the wire: in memory, as a process, and behind the host."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tinyhost_sdk
from tinyhost.config import parse_config
from tinyhost.opening import open_host
from tinyhost.permissions import Origin
from tinyhost_plugins import container_linter
from tinyhost_plugins.container_linter.plugin import build
from tinyhost_sdk import testing

MAIN = "from tinyhost_plugins.container_linter import main; main()"
TOOLS = ["container_lint", "bootc_validate", "container_base_suggest"]
ROOT = "FROM registry.access.redhat.com/ubi9/ubi:9.5\nUSER root\n"


def install(folder: Path) -> Path:
    """A program that runs the plugin, where the host looks for plugins."""
    script = folder / "container-linter"
    script.write_text(f"#!{sys.executable}\n{MAIN}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_a_process_shakes_hands_and_answers() -> None:
    calls = [
        ("container_lint", {"content": ROOT}),
        ("bootc_validate", {"content": ROOT}),
        ("container_base_suggest", {"useCase": "a FastAPI service"}),
        ("container_lint", {}),
    ]
    requests: list[dict[str, Any]] = [{"method": "initialize", "params": {"version": "1.0"}}]
    requests += [
        {"method": "tool/call", "params": {"name": name, "args": args}} for name, args in calls
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
    hello, lint, bootc, base, wrong = (
        json.loads(line)["result"] for line in done.stdout.splitlines()
    )
    assert hello["id"] == "container-linter"
    assert [tool["name"] for tool in hello["tools"]] == TOOLS
    assert all(tool["inputSchema"]["type"] == "object" for tool in hello["tools"])
    assert lint["content"].startswith("2 findings: 1 error, 1 info\n")
    assert bootc["content"].startswith("FAIL: ")
    assert base["content"].startswith("Suggested image: ")
    assert (wrong["isError"], "content" in wrong["content"]) == (True, True)


def test_what_cannot_be_read_is_an_error_of_the_tool() -> None:
    with testing.drive(build(), {"maxCharacters": 1024}) as driver:
        for name in ("container_lint", "bootc_validate"):
            long = driver.call_tool(name, {"content": "#" * 1025})
            assert long.is_error
            assert long.content == (
                "content has 1025 characters; at most 1024 are read"
                " (the plugin's option maxCharacters)"
            )
            assert driver.call_tool(name, {"content": 3}).is_error
            assert driver.call_tool(name, {}).is_error
        assert driver.call_tool("container_base_suggest", {}).is_error
        assert driver.call_tool("container_lint", {"content": ROOT, "limit": 0}).is_error
        assert driver.call_tool("container_lint", None).is_error


def test_too_many_stages_are_an_error_of_the_tool() -> None:
    with testing.drive(build()) as driver:
        for name in ("container_lint", "bootc_validate"):
            result = driver.call_tool(name, {"content": "FROM a\n" * 501})
            assert (result.is_error, result.content) == (True, "there are more than 500 stages")


def test_a_call_can_ask_for_more_or_fewer_findings() -> None:
    many = "FROM a\n" + "ENV PASSWORD=x\n" * 80
    with testing.drive(build(), {"limit": 2}) as driver:
        few = driver.call_tool("container_lint", {"content": many}).content
        more = driver.call_tool("container_lint", {"content": many, "limit": 1000}).content
    assert few.count("→") == 2
    assert more.count("→") == 84
    with testing.drive(build()) as driver:
        assert len(driver.call_tool("container_lint", {"content": many}).content) < 30_000


def test_options_reach_the_rules() -> None:
    options = {"disable": ["root-user"], "labels": ["team"], "bases": ["quay.io/"]}
    with testing.drive(build(), options) as driver:
        text = driver.call_tool("container_lint", {"content": "FROM quay.io/a:1\nUSER 0"}).content
    assert text.startswith("1 finding: 1 info\n")
    assert "lacks the labels team" in text


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"rules": []}):
        pass
    assert 'there is no option "rules"' in caught.value.message


def test_starting_up_loads_no_rules() -> None:
    program = (
        "import sys\n"
        "from tinyhost_plugins.container_linter.plugin import build\n"
        "from tinyhost_sdk import testing\n"
        "slow = {'re', 'json', 'typing', 'tinyhost_plugins.container_linter.lint',\n"
        "        'tinyhost_plugins.log_sanitizer.sanitize'}\n"
        "with testing.drive(build(), {'disable': ['syntax'], 'limit': 3}) as driver:\n"
        "    print(sorted(slow & set(sys.modules)))\n"
        "    driver.call_tool('container_lint', {'content': 'FROM a'})\n"
        "    print(sorted(slow - set(sys.modules)), 'detect_secrets' in sys.modules)\n"
    )
    # Without site, so that what an editable install imports does not count.
    homes = [Path(container_linter.__file__).parents[2], Path(tinyhost_sdk.__file__).parents[1]]
    path = [*map(str, homes), *sys.path]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {path!r}\n{program}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "[]\n[] False\n", done.stderr


async def test_behind_the_host_a_tool_answers(home: Path) -> None:
    install(home / "config" / "plugins")
    keys = {"plugins": [["container-linter", {"disable": ["missing-labels"]}]]}
    config = parse_config(json.dumps(keys), str(home / "config" / "config.json"))
    assert not config.problems, config.problems
    async with open_host(config, origin=Origin.PERSON) as host:
        await host.load_all(["container-linter"])
        session = await host.session_start("/")
        outcome = await host.call(
            "plugin__container-linter__container_lint", {"content": ROOT}, session
        )
        await host.session_end(session)
    assert not outcome.is_error
    assert outcome.content.startswith("1 finding: 1 error\n")
    assert "[ERROR] Line 2: root-user" in outcome.content


def test_the_command_calls_a_tool(home: Path) -> None:
    install(home / "config" / "plugins")
    command = [sys.executable, "-m", "tinyhost_cli.main", "tool", "call"]
    command += ["plugin__container-linter__bootc_validate", "--plugin", "container-linter"]
    command += ["--args", json.dumps({"content": "FROM quay.io/fedora/fedora-bootc:42"})]
    done = subprocess.run(
        command, cwd=home, env=dict(os.environ), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PASS: this makes a bootc image, with 1 warning\n")
