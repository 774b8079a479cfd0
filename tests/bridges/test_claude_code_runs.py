"""Claude Code itself, with the settings that contrib/ offers, and a scripted model."""

from __future__ import annotations

from agents import ECHO, Bench
from model_formats import ToolCall
from model_server import REPORT

# Done inside the test's own repository, where it deletes one file of the test.
DESTRUCTIVE = ToolCall("Bash", {"command": "git clean -fdx", "description": "Tidy up"})
HARMLESS = ToolCall("Bash", {"command": "echo a draft", "description": "Say something"})


def test_a_destructive_command_is_refused_and_the_agent_reports_it(bench: Bench) -> None:
    precious = bench.repository()
    bench.configure({"plugins": ["safety-net"]})
    run = bench.claude(DESTRUCTIVE)
    assert precious.read_text() == "not in git\n"
    assert run.said.startswith(REPORT), run.errors
    assert "plugin safety-net denies it" in run.said
    assert "git clean" in run.said


def test_a_harmless_command_runs_and_plugins_shape_it_and_its_result(bench: Bench) -> None:
    bench.plugin("echo", ECHO)
    bench.configure({"plugins": ["echo"]})
    run = bench.claude(HARMLESS)
    assert run.said == f"{REPORT}A FINAL\n", run.errors
    for context in ("of-the-session", "before-the-tool", "after-the-tool"):
        assert run.model.was_told(f"the-context-{context}")


def test_a_session_begins_and_ends_once_in_the_journal(bench: Bench) -> None:
    bench.configure({})
    run = bench.claude(HARMLESS)
    assert run.said == f"{REPORT}a draft\n", run.errors
    records = bench.journal()
    sessions = [record["event"] for record in records if record["kind"] == "session"]
    decisions = [record["decision"] for record in records if record["kind"] == "decision"]
    assert (sessions, decisions) == (["start", "end"], ["allow"])


def test_a_failed_command_is_shown_to_plugins_as_failed(bench: Bench) -> None:
    body = """
handshake(hooks=["tool.execute.after"])
serve(on_hook=lambda params: {"output": {"additionalContext": [
    f"error={params['input'].get('isError')} {params['input']['output']}"]}})
"""
    bench.plugin("watch", body)
    bench.configure({"plugins": ["watch"]})
    run = bench.claude(ToolCall("Bash", {"command": "echo broken; exit 3", "description": "Fail"}))
    assert run.model.was_told("error=True Exit code 3\nbroken"), run.errors


def test_an_ask_is_left_to_the_agents_own_user(bench: Bench) -> None:
    bench.configure({"permissions": {"ask": ["bash(touch*)"]}})
    run = bench.claude(ToolCall("Bash", {"command": "touch made", "description": "Make a file"}))
    # Without a terminal Claude Code has nobody to ask, although its settings allow the tool.
    assert 'the rule "bash(touch*)"' in run.said
    assert not (bench.project / "made").exists()


def test_a_rule_that_allows_spares_the_agents_user_the_question(bench: Bench) -> None:
    bench.configure({"permissions": {"allow": ["bash(touch *)"]}})
    call = ToolCall("Bash", {"command": "touch made", "description": "Make a file"})
    bench.claude(call, allow=[])
    assert (bench.project / "made").exists()


def test_a_plugin_without_objection_does_not_spare_the_agents_user_the_question(
    bench: Bench,
) -> None:
    bench.configure({"plugins": ["safety-net"]})
    call = ToolCall("Bash", {"command": "touch made", "description": "Make a file"})
    run = bench.claude(call, allow=[])
    assert not (bench.project / "made").exists(), run.said


def test_calls_are_stopped_when_the_configuration_cannot_be_read(bench: Bench) -> None:
    bench.configure("{ broken")
    run = bench.claude(ToolCall("Bash", {"command": "touch made", "description": "Make a file"}))
    assert not (bench.project / "made").exists()
    assert "config.json" in run.said
    assert "The call was stopped because nobody could judge it." in run.said


def test_calls_are_stopped_when_tinyhost_is_not_installed(bench: Bench) -> None:
    (bench.bin / "tinyhost").unlink()
    run = bench.claude(ToolCall("Bash", {"command": "touch made", "description": "Make a file"}))
    assert not (bench.project / "made").exists()
    assert "tinyhost" in run.said
