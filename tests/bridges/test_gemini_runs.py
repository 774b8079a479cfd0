"""Gemini CLI itself, with the settings that contrib/ offers, and a scripted model."""

from __future__ import annotations

from agents import ECHO, Bench
from model_formats import ToolCall
from model_server import REPORT


def shell(command: str) -> ToolCall:
    """A call of Gemini CLI's shell tool."""
    return ToolCall("run_shell_command", {"command": command})


def test_a_destructive_command_is_refused_and_the_agent_reports_it(bench: Bench) -> None:
    precious = bench.repository()
    bench.configure({"plugins": ["safety-net"]})
    # Done inside the test's own repository, where it deletes one file of the test.
    run = bench.gemini(shell("git clean -fdx"))
    assert precious.read_text() == "not in git\n"
    assert run.said.startswith(REPORT), run.errors
    assert "plugin safety-net denies it" in run.said


def test_a_harmless_command_runs_and_plugins_shape_it_and_its_result(bench: Bench) -> None:
    bench.plugin("echo", ECHO)
    bench.configure({"plugins": ["echo"]})
    run = bench.gemini(shell("echo a draft"))
    (result,) = run.model.results
    assert "OUTPUT: A FINAL\n" in result, run.errors
    assert result.endswith("the-context-after-the-tool")
    assert run.model.was_told("the-context-of-the-session")


def test_a_session_begins_and_ends_once_in_the_journal(bench: Bench) -> None:
    bench.configure({})
    run = bench.gemini(shell("echo said"))
    assert "Output: said" in run.said, run.errors
    sessions = [record["event"] for record in bench.journal() if record["kind"] == "session"]
    assert sessions == ["start", "end"]


def test_an_ask_is_a_denial_that_tells_the_way_out(bench: Bench) -> None:
    bench.configure({"permissions": {"ask": ["bash(touch*)"]}})
    run = bench.gemini(shell("touch made"))
    assert not (bench.project / "made").exists()
    assert "Gemini CLI has no way to ask" in run.said


def test_calls_are_stopped_when_tinyhost_is_not_installed(bench: Bench) -> None:
    (bench.bin / "tinyhost").unlink()
    run = bench.gemini(shell("touch made"))
    assert not (bench.project / "made").exists()
    assert "tinyhost" in run.said
