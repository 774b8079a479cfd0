"""Codex itself, with the hooks that contrib/ offers, and a scripted model."""

from __future__ import annotations

from agents import ECHO, Bench
from model_formats import ToolCall
from model_server import REPORT


def shell(command: str) -> ToolCall:
    """A call of Codex's shell tool."""
    return ToolCall("exec_command", {"cmd": command})


def test_a_destructive_command_is_refused_and_the_agent_reports_it(bench: Bench) -> None:
    precious = bench.repository()
    bench.configure({"plugins": ["safety-net"]})
    # Done inside the test's own repository, where it deletes one file of the test.
    run = bench.codex(shell("git clean -fdx"))
    assert precious.read_text() == "not in git\n"
    assert run.said.startswith(REPORT), run.errors
    assert "plugin safety-net denies it" in run.said


def test_a_harmless_command_runs_and_plugins_shape_its_result(bench: Bench) -> None:
    bench.plugin("echo", ECHO)
    bench.configure({"plugins": ["echo"]})
    run = bench.codex(shell("echo said"))
    assert run.model.results == ["SAID\n"], run.errors
    for context in ("of-the-session", "before-the-tool", "after-the-tool"):
        assert run.model.was_told(f"the-context-{context}")


def test_a_changed_command_is_handed_back_to_the_model(bench: Bench) -> None:
    bench.plugin("echo", ECHO)
    bench.configure({"plugins": ["echo"]})
    run = bench.codex(shell("echo a draft"), shell("echo a final"))
    first, second = run.model.results
    assert 'Call the tool again with these: {"command":"echo a final"}' in first
    assert second == "A FINAL\n"


def test_an_ask_is_a_denial_that_tells_the_way_out(bench: Bench) -> None:
    bench.configure({"permissions": {"ask": ["bash(touch*)"]}})
    run = bench.codex(shell("touch made"))
    assert not (bench.project / "made").exists()
    assert "Codex has no way to ask" in run.said


def test_calls_are_stopped_when_tinyhost_is_not_installed(bench: Bench) -> None:
    (bench.bin / "tinyhost").unlink()
    run = bench.codex(shell("touch made"))
    assert not (bench.project / "made").exists()
    assert "tinyhost" in run.said
