"""`tinyhost run` as a real process, at a real terminal where that matters."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tinyhost_cli.entry import refusal, unguarded_command

Cli = Any  # of conftest.py

COMMAND = (sys.executable, "-m", "tinyhost_cli.main")


def output(value: Any) -> dict[str, Any]:
    """The answer of a hook."""
    return {"result": {"output": value}}


GUARD = {"permission.ask": output({"allowed": False, "reason": "not today"})}
EASY = {"permission.ask": output({"allowed": True})}


def test_a_command_runs_with_its_own_output_and_exit_code(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks=EASY)
    line = ("run", "--plugin", "easy", "--")
    done = tinyhost(*line, "sh", "-c", "cat; echo err >&2; exit 7", input="in\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, "in\n", "err\n")
    assert tinyhost(*line, "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM
    assert tinyhost.ok(*line, "printf", "%s|", "a b", "$HOME", "--json") == "a b|$HOME|--json|"
    assert tinyhost.ok("run", "--plugin", "easy", "--shell", "echo $((1+1)); pwd").splitlines() == [
        "2",
        str(tinyhost.project),
    ]


def test_a_denied_command_does_not_run_and_says_who_and_why(tinyhost: Cli) -> None:
    tinyhost.plugin("guard", hooks=GUARD)
    done = tinyhost("run", "--plugin", "guard", "--", "touch", "made")
    assert done.returncode == 126
    assert done.stderr == "tinyhost: denied: plugin guard denies it: not today\n"
    assert not (tinyhost.project / "made").exists()
    done = tinyhost("run", "--plugin", "guard", "--json", "--", "touch", "made")
    [line] = done.stderr.splitlines()
    told = json.loads(line)
    assert (told["denied"], told["exitStatus"]) == (True, 126)
    assert told["decision"]["reasons"][0]["who"] == "guard"


def test_a_rule_that_asks_denies_where_nobody_can_be_asked(tinyhost: Cli) -> None:
    tinyhost.configure({"permissions": {"ask": ["bash(touch*)"], "deny": ["bash(rm *)"]}})
    done = tinyhost("run", "--", "touch", "made")
    assert done.returncode == 126
    assert "Nobody can be asked here" in done.stderr
    done = tinyhost("run", "--shell", "true; rm -rf x")
    assert done.returncode == 126
    assert 'the rule "bash(rm *)"' in done.stderr
    tinyhost.ok("run", "--", "true")


def test_plugins_change_the_command_and_its_environment(tinyhost: Cli) -> None:
    rewritten = json.dumps({"command": 'echo "$GREETING, ${GONE-nobody}"'})
    tinyhost.plugin(
        "changes",
        hooks={
            "tool.execute.before": output({"toolArgs": rewritten}),
            "shell.env": output({"env": {"GREETING": "hello", "GONE": None}}),
        },
    )
    done = tinyhost("run", "--plugin", "changes", "--", "false", env={"GONE": "x"})
    assert (done.returncode, done.stdout) == (0, "hello, nobody\n")


def test_explain_shows_every_decision_and_the_journal_has_them(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks=EASY | {"session.start": output({"additionalContext": "hi"})})
    done = tinyhost("run", "--plugin", "easy", "--explain", "--", "true")
    assert done.returncode == 0
    assert "no objection: plugin easy has no objection" in done.stderr
    assert "allow: the person gave the call" in done.stderr
    assert "context: hi" in done.stderr
    session = done.stderr.rpartition("journal show ")[2].strip()
    records = [
        json.loads(line) for line in tinyhost.ok("journal", "show", session, "--json").splitlines()
    ]
    kinds = [record["kind"] for record in records]
    assert kinds.count("decision") == kinds.count("call") == 1
    assert tinyhost.ok("journal", "show", "--kind", "call").count("\n") == 1


def test_a_command_that_cannot_start_says_why(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks=EASY)
    line = ("run", "--plugin", "easy", "--")
    done = tinyhost(*line, "no-such-program")
    assert (done.returncode, done.stderr) == (
        127,
        "tinyhost: no-such-program: there is no such program\n",
    )
    plain = tinyhost.project / "plain"
    plain.write_text("text")
    assert tinyhost(*line, str(plain)).returncode == 126


def test_nothing_or_two_things_to_run_is_a_usage_error(tinyhost: Cli) -> None:
    assert tinyhost("run").returncode == 2
    assert tinyhost("run", "--shell", "true", "--", "true").returncode == 2


def test_a_plugin_that_does_not_load_is_told_and_does_not_stop_the_command(tinyhost: Cli) -> None:
    tinyhost.configure({"plugins": ["nowhere"]})
    done = tinyhost("run", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "plugin not found: nowhere" in done.stderr


def test_nothing_is_run_without_a_plugin_that_was_named_for_it(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks=EASY)
    line = ("--plugin", "easy", "--plugin", "nowhere", "--", "touch", "made")
    done = tinyhost("run", *line)
    assert (done.returncode, done.stdout) == (126, "")
    why = "--plugin names a plugin that did not load: plugin not found: nowhere"
    assert done.stderr.startswith(f"tinyhost: denied: {why}")
    done = tinyhost("run", "--json", *line)
    value = json.loads(done.stderr)
    assert (done.returncode, value["denied"], value["exitStatus"]) == (126, True, 126)
    assert value["reason"].startswith(why)
    assert not (tinyhost.project / "made").exists()
    # What is built in is there without being loaded.
    assert tinyhost.ok("run", "--plugin", "handoff", "--", "echo", "ran") == "ran\n"
    # That outputs are withheld without it stops no command.
    tinyhost.configure({"settings": {"*": {"onOutputFailure": "withhold"}}})
    assert tinyhost("run", *line).returncode == 126
    assert not (tinyhost.project / "made").exists()


def test_a_known_guard_that_was_named_and_does_not_load_is_asked_about(tinyhost: Cli) -> None:
    tinyhost.plugin("guard", hooks={"permission.ask": output(None)})
    line = ("run", "--plugin", "guard", "--", "echo", "ran")
    assert tinyhost.ok(*line) == "ran\n"
    (tinyhost.plugins / "guard").unlink()
    done = tinyhost(*line)
    assert (done.returncode, done.stdout) == (126, "")
    assert "guard guard failed: it could not be loaded" in done.stderr
    tinyhost.configure({"settings": {"guard": {"onGuardFailure": "skip"}}})
    assert tinyhost.ok(*line) == "ran\n"


def test_without_a_configuration_the_command_takes_our_place(tinyhost: Cli) -> None:
    command = (sys.executable, "-X", "importtime", "-m", "tinyhost_cli.entry")
    done = subprocess.run(
        [*command, "run", "--", "sh", "-c", "echo $PPID; exit 5"],
        env=tinyhost.env,
        cwd=tinyhost.project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 5
    assert int(done.stdout) == os.getpid()
    assert "click" not in done.stderr
    assert not tinyhost.state.exists()
    done = subprocess.run(
        [sys.executable, "-m", "tinyhost_cli.entry", "run", "--", "no-such-program"],
        env=tinyhost.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 127


def test_any_configuration_goes_the_guarded_way(tmp_path: Path) -> None:
    own = {"TINYHOST_CONFIG_DIR": str(tmp_path)}
    assert unguarded_command(["run", "--", "a", "b"], own) == ["a", "b"]
    for args in (["run", "a"], ["run", "--"], ["run", "--plugin", "x", "--", "a"], ["tool"], []):
        assert unguarded_command(args, own) is None
    assert unguarded_command(["run", "--", "a"], {**own, "TINYHOST_CONFIG": "x"}) is None
    (tmp_path / "config.json").symlink_to("nowhere")
    assert unguarded_command(["run", "--", "a"], own) is None
    home = {"HOME": str(tmp_path / "home")}
    assert unguarded_command(["run", "--", "a"], home) == ["a"]
    (tmp_path / "home" / ".config" / "tinyhost").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "tinyhost" / "config.json").write_text("{}")
    assert unguarded_command(["run", "--", "a"], home) is None


def test_windows_is_refused_with_a_way_out() -> None:
    assert refusal("posix") is None
    assert "WSL" in str(refusal("nt"))


class Terminal:
    """`tinyhost run` in the foreground of a terminal of its own."""

    def __init__(self, cli: Cli, *args: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cli.project)
            os.execve(COMMAND[0], [*COMMAND, *args], cli.env | {"TERM": "xterm"})
        self.shown = ""

    def until(self, text: str) -> None:
        deadline = time.monotonic() + 30
        while text not in self.shown:
            ready, _, _ = select.select([self.fd], [], [], deadline - time.monotonic())
            assert ready, self.shown
            self.shown += os.read(self.fd, 65536).decode()

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def end(self) -> int:
        try:
            while data := os.read(self.fd, 65536):
                self.shown += data.decode()
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_the_command_keeps_the_terminal_and_gets_the_interrupt(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks=EASY | {"dispose": output(None)})
    script = 'trap "echo caught; exit 9" INT; test -t 0 && test -t 1 && echo ready; sleep 30 & wait'
    terminal = Terminal(tinyhost, "run", "--plugin", "easy", "--shell", script)
    terminal.until("ready")
    terminal.type("\x03")
    terminal.until("caught")
    assert terminal.end() == 9
    assert tinyhost.disposed("easy")


@pytest.mark.parametrize(("answer", "status"), [("o\n", 0), ("n\n", 126), ("\x04", 126)])
def test_the_person_is_asked_at_the_terminal(tinyhost: Cli, answer: str, status: int) -> None:
    tinyhost.configure({"permissions": {"ask": ["bash(echo *)"]}})
    terminal = Terminal(tinyhost, "run", "--", "echo", "it", "ran")
    terminal.until("[N]o  > ")
    assert "echo it ran" in terminal.shown
    assert 'the rule "bash(echo *)"' in terminal.shown
    terminal.type(answer)
    assert terminal.end() == status
    assert terminal.shown.rstrip().endswith("it ran") is (status == 0)


def test_a_termination_reaches_the_command_and_plugins_are_stopped(tinyhost: Cli) -> None:
    tinyhost.plugin("easy", hooks=EASY | {"dispose": output(None)})
    process = tinyhost.start(
        *("run", "--plugin", "easy", "--shell"),
        'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done',
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.stdout.readline() == "bye\n"
        assert process.wait(30) == 3
    assert tinyhost.disposed("easy")
