"""The plugin behind the wire: in memory, as a process, and behind the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped import Shipped, hosting, tool

from tinyhost_plugins.container_linter.plugin import build
from tinyhost_sdk import testing

PLUGIN = Shipped("container-linter")
TOOLS = ["container_lint", "bootc_validate", "container_base_suggest"]
ROOT = "FROM registry.access.redhat.com/ubi9/ubi:9.5\nUSER root\n"


def test_a_process_shakes_hands_and_answers() -> None:
    hello, lint, bootc, base, wrong = PLUGIN.results(
        tool("container_lint", {"content": ROOT}),
        tool("bootc_validate", {"content": ROOT}),
        tool("container_base_suggest", {"useCase": "a FastAPI service"}),
        tool("container_lint", {}),
    )
    assert hello["id"] == "container-linter"
    assert [found["name"] for found in hello["tools"]] == TOOLS
    assert all(found["inputSchema"]["type"] == "object" for found in hello["tools"])
    assert {found["permission"] for found in hello["tools"]} == {"read"}
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
            wrong = driver.call_tool(name, {"content": 3})
            assert (wrong.is_error, "is of another type" in wrong.content) == (True, True)
            missing = driver.call_tool(name, {})
            assert (missing.is_error, "is missing" in missing.content) == (True, True)
        assert driver.call_tool("container_base_suggest", {}).is_error
        assert driver.call_tool("container_lint", {"content": ROOT, "limit": 0}).is_error
        assert driver.call_tool("container_lint", None).is_error


def test_an_argument_that_a_tool_does_not_have_is_an_error() -> None:
    with testing.drive(build()) as driver:
        for name, args, there in (
            ("container_lint", {"content": ROOT, "limt": 3}, "content, limit"),
            ("bootc_validate", {"content": ROOT, "limt": 3}, "content"),
            ("container_base_suggest", {"useCase": "Go", "limt": 3}, "useCase"),
        ):
            result = driver.call_tool(name, args)
            assert result.is_error
            assert result.content == f"there is no argument limt; there are {there}"
        result = driver.call_tool("container_lint", {"content": ROOT, "\x1b[31m": 1})
        assert result.content.startswith("there is no argument \\x1b[31m; ")


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


def test_a_limit_that_is_null_is_none_and_three_may_be_written_with_a_point() -> None:
    with testing.drive(build()) as driver:
        args = {"content": ROOT}
        plain = driver.call_tool("container_lint", args)
        assert driver.call_tool("container_lint", {**args, "limit": None}).content == plain.content
        assert not driver.call_tool("container_lint", {**args, "limit": 3.0}).is_error
        for wrong in (2.5, True, -1.0, "3", 10_001):
            assert driver.call_tool("container_lint", {**args, "limit": wrong}).is_error


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
    rules = {"tinyhost_plugins.container_linter.lint", "tinyhost_plugins.log_sanitizer.sanitize"}
    slow = {"re", "json", "typing"} | rules
    started, linted, _end = PLUGIN.imported(
        {"disable": ["syntax"], "limit": 3},
        "driver.call_tool('container_lint', {'content': 'FROM a'})",
    )
    assert not slow & started
    assert slow <= linted
    assert "detect_secrets" not in linted


async def test_behind_the_host_a_tool_answers(home: Path) -> None:
    PLUGIN.install(home / "config" / "plugins")
    options = {"disable": ["missing-labels"]}
    async with hosting(home, [["container-linter", options]]) as host:
        session = await host.session_start("/")
        outcome = await host.call(
            "plugin__container-linter__container_lint", {"content": ROOT}, session
        )
        await host.session_end(session)
    assert not outcome.is_error
    assert outcome.content.startswith("1 finding: 1 error\n")
    assert "[ERROR] Line 2: root-user" in outcome.content


def test_the_command_calls_a_tool(home: Path) -> None:
    PLUGIN.install(home / "config" / "plugins")
    args = {"content": "FROM quay.io/fedora/fedora-bootc:42"}
    done = PLUGIN.call(home, "bootc_validate", args, "--plugin", "container-linter")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PASS: this makes a bootc image, with 1 warning\n")
