"""The real agents, answered by one host that was running before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from agents import ECHO, Bench, Run
from model_formats import ToolCall

Ask = Callable[[Bench, str], Run]

AGENTS: dict[str, Ask] = {
    "claude-code": lambda bench, text: bench.claude(
        ToolCall("Bash", {"command": text, "description": "Do something"})
    ),
    "codex": lambda bench, text: bench.codex(ToolCall("exec_command", {"cmd": text})),
    "gemini": lambda bench, text: bench.gemini(ToolCall("run_shell_command", {"command": text})),
    "opencode": lambda bench, text: bench.opencode(
        ToolCall("bash", {"command": text, "description": "Do something"})
    ),
}


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> Ask:
    return AGENTS[request.param]


def plugin(status: Any, name: str) -> Any:
    [found] = [one for one in status["plugins"] if one["name"] == name]
    return found


def test_a_guard_that_is_loaded_already_refuses(bench: Bench, agent: Ask) -> None:
    precious = bench.repository()
    bench.configure({"plugins": ["safety-net"]})
    with bench.serving() as tinyhost:
        before = plugin(tinyhost("status"), "safety-net")
        run = agent(bench, "git clean -fdx")
        after = plugin(tinyhost("status"), "safety-net")
    assert precious.read_text() == "not in git\n"
    assert "plugin safety-net denies it" in run.said, run.errors
    assert after["pid"] == before["pid"]
    assert after["counters"]["calls"] > before["counters"]["calls"]


def test_plugins_see_the_session_from_its_start_to_its_end(bench: Bench, agent: Ask) -> None:
    bench.plugin("echo", ECHO)
    bench.configure({"plugins": ["echo"]})
    with bench.serving() as tinyhost:
        run = agent(bench, "echo said")
        [result] = run.model.results
        assert "SAID" in result, run.errors
        assert run.model.was_told("the-context-of-the-session")
        status = tinyhost("status")
    assert status["sessions"] in (0, 1)  # not every agent says when a session ends
    assert plugin(status, "echo")["counters"]["deaths"] == 0
