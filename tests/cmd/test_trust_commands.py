"""`tinyhost trust`, and what other commands make of a project."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tinyhost_cli.entry import unguarded_command

Cli = Any  # of conftest.py

COMMAND = (sys.executable, "-m", "tinyhost_cli.main")
DENY = {"permissions": {"deny": ["bash(touch *)"]}}


def bring(cli: Cli, value: Any) -> Path:
    """Give the project a configuration; its .tinyhost."""
    folder: Path = cli.project / ".tinyhost"
    (folder / "plugins").mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def bring_much(cli: Cli) -> Path:
    folder = bring(
        cli,
        {
            "plugins": ["mine", ["gone", {"apiToken": "s3cret-value"}]],
            "settings": {"mine": {"passEnv": ["AWS_*"], "env": {"A": "x${HOME_TOKEN}"}}},
            "hooks": {"session.start": [{"command": "echo one\necho two", "match": {}}]},
            "permissions": {"deny": ["bash(rm *)"], "ask": ["write"], "allow": ["*"]},
            "mcpServers": {"time": {"command": "uvx", "args": ["a b", "${TIME_TOKEN}"]}},
        },
    )
    real = cli.project / "real"
    cli.plugin("mine", folder=cli.project)
    (cli.project / "mine").rename(real)
    (folder / "plugins" / "mine").symlink_to(real)
    return folder


# --- looking and trusting


def test_what_would_run_is_shown_and_nothing_trusted_without_a_yes(tinyhost: Cli) -> None:
    folder = bring_much(tinyhost)
    done = tinyhost("trust")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == str(folder / "config.json")
    real = tinyhost.project / "real"
    for line in (
        f"plugins\tmine: {folder}/plugins/mine -> {real} (project's plugin folder)",
        "plugins\tmine: gets your variables AWS_*, HOME_TOKEN",
        "plugins\tgone: not found",
        'plugins\tgone: options {"apiToken":"[redacted]"}',
        "hooks\tsession.start: echo one\\necho two",
        "mcp servers\ttime: uvx 'a b' '${TIME_TOKEN}'",
        "mcp servers\ttime: gets your variables TIME_TOKEN",
        "rules\tdeny bash(rm *)",
        "rules\task write",
        f"links\tplugins/mine -> {real}",
        f"{tinyhost.project} is not trusted",
    ):
        assert line in lines, line
    assert "a project cannot allow anything" in done.stdout
    assert "s3cret-value" not in done.stdout
    assert (
        done.stderr == "tinyhost: nobody can be asked here; to trust it all the same, add --yes\n"
    )
    assert tinyhost.json("trust", "status", code=1)["state"] == "not trusted"


def test_yes_trusts_what_was_shown(tinyhost: Cli) -> None:
    bring_much(tinyhost)
    value = tinyhost.json("trust", "--yes")
    assert value["trusted"] is True
    assert [file["name"] for file in value["files"]] == ["config.json", "plugins/mine"]
    assert value["rules"] == {"deny": ["bash(rm *)"], "ask": ["write"], "mode": None}
    assert value["plugins"][0]["target"] == str(tinyhost.project / "real")
    assert tinyhost.json("trust", "status")["state"] == "trusted"
    assert (tinyhost.state / "trust.json").stat().st_mode & 0o777 == 0o600
    # What is trusted already needs no answer.
    assert tinyhost.ok("trust").endswith(f"\n{tinyhost.project} is trusted\n")
    (tinyhost.project / "real").write_text("#!/bin/sh\n")
    done = tinyhost("trust")
    assert done.returncode == 1
    assert "has changed since you trusted it (changed: plugins/mine)" in done.stdout


def test_a_directory_can_be_named_also_one_inside(tinyhost: Cli) -> None:
    bring(tinyhost, {})
    inside = tinyhost.project / "list"
    inside.mkdir()
    value = tinyhost.json("trust", "./list", "--yes")
    assert value["directory"] == str(tinyhost.project)
    assert tinyhost.json("trust", "status", str(inside))["state"] == "trusted"
    assert tinyhost.json("trust", "revoke", str(inside)) == {
        "directory": str(tinyhost.project),
        "revoked": True,
    }
    assert tinyhost.json("trust", "add", str(inside), code=1)["trusted"] is False


def test_list_tells_how_each_project_is_now(tinyhost: Cli, tmp_path: Path) -> None:
    done = tinyhost("trust", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no project is trusted" in done.stderr
    folder = bring(tinyhost, {})
    tinyhost.ok("trust", "--yes")
    [row] = tinyhost.json("trust", "list")["projects"]
    assert (row["directory"], row["state"]) == (str(tinyhost.project), "trusted")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["trustedAt"])
    (folder / "new").touch()
    assert tinyhost.ok("trust", "list").splitlines()[1].split("\t")[:2] == [
        str(tinyhost.project),
        "changed",
    ]
    (folder / "config.json").unlink()
    assert tinyhost.json("trust", "list")["projects"][0]["state"] == "gone"
    tinyhost.ok("trust", "revoke", str(tinyhost.project))
    assert tinyhost.json("trust", "list") == {"projects": []}
    done = tinyhost("trust", "revoke", str(tinyhost.project))
    assert done.returncode == 1
    assert "was not trusted" in done.stderr


def test_where_there_is_no_project_that_is_said(tinyhost: Cli) -> None:
    done = tinyhost("trust")
    assert done.returncode == 2
    assert "no .tinyhost/config.json in" in done.stderr
    assert tinyhost.json("trust", "status")["state"] == "no project"
    assert "in no project with a configuration" in tinyhost.ok("trust", "status")


def test_what_others_can_write_is_not_trusted_even_with_a_yes(tinyhost: Cli) -> None:
    folder = bring(tinyhost, {})
    (folder / "plugins" / "x").touch()
    (folder / "plugins" / "x").chmod(0o666)
    (folder / "config.json").chmod(0o666)
    done = tinyhost("trust", "--yes")
    assert done.returncode == 1
    first, second, last = done.stderr.splitlines()
    assert f"{folder}/config.json can be written by everybody; fix it with: chmod" in first
    assert f"{folder}/plugins/x can be written by everybody" in second
    assert "cannot be trusted before that is put right" in last
    assert not (tinyhost.state / "trust.json").exists()


def test_a_configuration_that_cannot_be_parsed_is_not_trusted(tinyhost: Cli) -> None:
    bring(tinyhost, "{oops")
    done = tinyhost("trust", "--yes")
    assert done.returncode == 3
    assert ".tinyhost/config.json:1:2: " in done.stderr
    assert not (tinyhost.state / "trust.json").exists()


def test_nothing_in_it_can_command_the_terminal_or_make_a_line_of_its_own(tinyhost: Cli) -> None:
    evil = "\x1b[2Jx\nplugins\tfake\u202e"
    folder = bring(tinyhost, {"hooks": {"session.end": [{"command": evil}]}})
    (folder / "\x1b]0;t\x07\n").touch()
    text, _ = tinyhost.terminal("trust")
    assert "\\x1b[2Jx\\nplugins\\tfake\\u202e" in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    tinyhost("trust", "--yes")
    (folder / "\x1b]0;t\x07\n").unlink()
    done = tinyhost("trust", "status")
    assert "gone: \\x1b]0;t\\x07\\n" in done.stdout


class Terminal:
    """`tinyhost trust` in the foreground of a terminal of its own."""

    def __init__(self, cli: Cli) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cli.project)
            os.execve(COMMAND[0], [*COMMAND, "trust"], {**cli.env, "TERM": "dumb"})
        self.text = b""

    def until(self, wanted: bytes) -> None:
        deadline = time.monotonic() + 30
        while wanted not in self.text:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, self.text
            self.text += os.read(self.fd, 65536)

    def type(self, text: bytes) -> None:
        os.write(self.fd, text)

    def end(self) -> int:
        try:
            while select.select([self.fd], [], [], 30)[0]:
                self.text += os.read(self.fd, 65536)
            os.kill(self.pid, signal.SIGKILL)
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.parametrize(
    ("answer", "trusted"),
    [
        (b"y\n", True),
        (b"YES\n", True),
        (b"\n", False),
        (b"n\n", False),
        (b"yy\n", False),
        (b"\x04", False),
        (b"\x03", False),
    ],
)
def test_at_a_terminal_the_person_is_asked_and_silence_is_a_no(
    tinyhost: Cli, answer: bytes, trusted: bool
) -> None:
    bring(tinyhost, {})
    terminal = Terminal(tinyhost)
    terminal.until(b"Trust this? [y/N] ")
    terminal.type(answer)
    assert terminal.end() == (0 if trusted else 130 if answer == b"\x03" else 1)
    assert (tinyhost.state / "trust.json").exists() is trusted


def test_what_was_typed_before_the_question_is_no_answer(tinyhost: Cli) -> None:
    bring(tinyhost, {})
    terminal = Terminal(tinyhost)
    terminal.type(b"y\n")
    terminal.until(b"Trust this? [y/N] ")
    terminal.type(b"\n")
    assert terminal.end() == 1
    assert not (tinyhost.state / "trust.json").exists()


# --- other commands


LINES = [
    ("plugin", "list"),
    ("plugin", "load", "mine"),
    ("plugin", "path", "mine"),
    ("tool", "list"),
    ("hook", "invoke", "session.start"),
    ("config", "show"),
    ("run", "--", "true"),
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_commands_say_in_one_line_that_a_project_is_not_in_force(
    tinyhost: Cli, line: tuple[str, ...]
) -> None:
    bring_much(tinyhost)
    notice = (
        f"tinyhost: the project's {tinyhost.project}/.tinyhost/config.json is not in force:"
        f" you have not trusted it; look at it: tinyhost trust {tinyhost.project}"
    )
    assert tinyhost(*line).stderr.splitlines().count(notice) == 1
    tinyhost.ok("trust", "--yes")
    assert "not in force" not in tinyhost(*line).stderr


def test_a_projects_rule_denies_once_it_is_trusted(tinyhost: Cli) -> None:
    bring(tinyhost, DENY)
    tinyhost.ok("run", "--", "touch", "made")
    tinyhost.ok("trust", "--yes")
    done = tinyhost("run", "--", "touch", "made2")
    assert done.returncode == 126
    assert "/.tinyhost/config.json:1) denies it" in done.stderr
    assert not (tinyhost.project / "made2").exists()


def test_the_projects_directory_is_that_of_the_option(tinyhost: Cli, tmp_path: Path) -> None:
    bring(tinyhost, DENY)
    tinyhost.ok("trust", "--yes")
    other = tmp_path / "other"
    other.mkdir()
    line = (*COMMAND, "run", "--directory", str(tinyhost.project), "--", "touch", "made")
    done = subprocess.run(line, cwd=other, env=tinyhost.env, capture_output=True)
    assert done.returncode == 126


def test_config_show_lists_the_layers(tinyhost: Cli) -> None:
    tinyhost.configure({})
    file = bring(tinyhost, {"plugins": ["x"]}) / "config.json"
    first, second = tinyhost.json("config", "show")["layers"]
    assert first == {
        "kind": "user",
        "file": str(tinyhost.file),
        "state": "in force",
        "why": None,
    }
    assert (second["kind"], second["file"], second["state"]) == (
        "project",
        str(file),
        "not trusted",
    )
    tinyhost.ok("trust", "--yes")
    value = tinyhost.json("config", "show")
    assert value["layers"][1]["state"] == "in force"
    assert [plugin["name"] for plugin in value["plugins"]] == ["x"]


def test_doctor_warns_of_a_project_that_is_not_in_force(tinyhost: Cli) -> None:
    bring(tinyhost, {})
    checks = {check["what"]: check for check in tinyhost.json("doctor")["checks"]}
    assert checks["project"]["level"] == "warning"
    tinyhost.ok("trust", "--yes")
    checks = {check["what"]: check for check in tinyhost.json("doctor")["checks"]}
    assert checks["project"]["level"] == "ok"


def test_a_bridge_takes_the_project_of_the_event(tinyhost: Cli, tmp_path: Path) -> None:
    bring(tinyhost, {"permissions": {"deny": ["bash(git push*)"]}})
    (tmp_path / "other").mkdir()

    def answered(directory: Path) -> Any:
        call = {
            "hook_event_name": "PreToolUse",
            "session_id": "one",
            "cwd": str(directory),
            "tool_name": "Bash",
            "tool_input": {"command": "git push"},
        }
        return tinyhost.ok("hook", "claude-code", input=json.dumps(call))

    assert answered(tinyhost.project) == ""
    tinyhost.ok("trust", "--yes")
    said = json.loads(answered(tinyhost.project))["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert answered(tmp_path / "other") == ""


def test_a_bridge_tells_at_the_start_of_a_session_that_a_project_is_not_in_force(
    tinyhost: Cli,
) -> None:
    bring(tinyhost, {})
    start = {"hook_event_name": "SessionStart", "session_id": "one", "cwd": str(tinyhost.project)}
    text = tinyhost.ok("hook", "claude-code", input=json.dumps(start))
    assert "tinyhost trust" in json.loads(text)["systemMessage"]


def test_the_short_way_of_run_is_not_taken_in_a_project(
    tinyhost: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, environ = ["run", "--", "a"], {"TINYHOST_CONFIG_DIR": str(tinyhost.config)}
    inner = tinyhost.project / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert unguarded_command(line, environ) == ["a"]
    bring(tinyhost, {})
    assert unguarded_command(line, environ) is None
