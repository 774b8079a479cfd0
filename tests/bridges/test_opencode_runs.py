"""opencode itself, with the plugin of contrib/, and a scripted model."""

from __future__ import annotations

from agents import ECHO, Bench
from model_formats import ToolCall
from model_server import REPORT


def bash(command: str) -> ToolCall:
    """A call of opencode's shell tool."""
    return ToolCall("bash", {"command": command, "description": "Do something"})


def test_a_destructive_command_is_refused_and_the_agent_reports_it(bench: Bench) -> None:
    precious = bench.repository()
    bench.configure({"plugins": ["safety-net"]})
    # Done inside the test's own repository, where it deletes one file of the test.
    run = bench.opencode(bash("git clean -fdx"))
    assert precious.read_text() == "not in git\n"
    assert run.said.startswith(REPORT), run.errors
    assert "plugin safety-net denies it" in run.said
    assert "git clean" in run.said
    sessions = [record["event"] for record in bench.journal() if record["kind"] == "session"]
    assert sessions == ["start", "end"]


def test_a_harmless_command_runs_and_plugins_shape_it_and_its_result(bench: Bench) -> None:
    bench.plugin("echo", ECHO)
    bench.configure({"plugins": ["echo"]})
    run = bench.opencode(bash("echo a draft $ADDED ${REMOVED-gone}"))
    contexts = "the-context-before-the-tool\n\nthe-context-after-the-tool"
    assert run.model.results == [f"A FINAL ADDED GONE\n\n{contexts}"], run.errors
    assert run.model.was_told("the-context-of-the-session")


def test_calls_are_stopped_when_tinyhost_is_not_installed(bench: Bench) -> None:
    (bench.bin / "tinyhost").unlink()
    run = bench.opencode(bash("touch made"))
    assert not (bench.project / "made").exists()
    assert "tinyhost cannot be run" in run.said


def test_an_ask_is_a_denial_that_tells_the_way_out(bench: Bench) -> None:
    bench.configure({"permissions": {"ask": ["bash(touch*)"]}})
    run = bench.opencode(bash("touch made"))
    assert not (bench.project / "made").exists()
    assert "opencode has no way to ask" in run.said
