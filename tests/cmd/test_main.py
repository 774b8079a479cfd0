"""The command as a whole: help, versions, errors and their exit codes, signals, encodings."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tinyhost_cli import main

Cli = Any  # of conftest.py
ROOT = Path(__file__).parents[2]
# They answer the hooks of other agents.
OTHERS = {("hook", name) for name in ("claude-code", "codex", "gemini", "opencode")}
HEAVY = ("trio", "cattrs", "attrs", "attr", "msgspec", "rich", "asyncio")


def imported(cli: Cli, args: list[str], env: dict[str, str]) -> tuple[str, set[str]]:
    """Run in a process that tells what it has imported in the end."""
    code = (
        "import sys; from tinyhost_cli import main; main.run(sys.argv[1:]);"
        " print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env=cli.env | env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout, {name.partition(".")[0] for name in done.stderr.splitlines()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--help", "doctor"),
        ("--version", "tinyhost 0."),
        ("plugin --help", "registry"),
        ("plugin load --help", "--options"),
        ("tool call --help", "--args"),
        ("hook invoke --help", "--input"),
        ("config show --help", "--config"),
        ("doctor --help", "--plugin"),
        ("plugin new --help", "--lang"),
    ],
)
def test_help_and_version_import_nothing_heavy(tinyhost: Cli, line: str, expected: str) -> None:
    text, modules = imported(tinyhost, line.split(), {})
    assert expected in text
    assert "click" in modules
    assert not modules & set(HEAVY)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tinyhost ", "plugin"),
        ("tinyhost plugin load saf", "safety-net"),
        ("tinyhost tool call plugin__", "plugin__mine__"),
        ("tinyhost hook invoke perm", "permission.ask"),
        ("tinyhost doctor --", "--directory"),
    ],
)
def test_completion_imports_nothing_heavy(tinyhost: Cli, line: str, expected: str) -> None:
    tinyhost.plugin("mine")
    env = {
        "_TINYHOST_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    text, modules = imported(tinyhost, [], env)
    assert f"plain,{expected}" in text.splitlines()
    assert not modules & set(HEAVY)


def test_help_lists_the_exit_codes(tinyhost: Cli) -> None:
    assert "3  the configuration cannot be used" in tinyhost.ok("--help")


def commands(
    group: click.Command = main.cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words."""
    if not isinstance(group, click.Group):
        yield path, group
        return
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield from commands(command, (*path, name))


def test_each_command_is_listed_with_help_and_has_its_own() -> None:
    found = list(commands())
    assert ("plugin", "load") in [path for path, _ in found]
    for path, command in found:
        assert command.name == path[-1]
        assert command.help


def test_every_command_and_option_is_in_the_documentation() -> None:
    sections = re.split(r"^## ", (ROOT / "docs" / "cli.md").read_text(), flags=re.M)
    [common] = [text for text in sections if text.startswith("Options of many commands")]
    for path, command in commands():
        name = re.compile(rf"`tinyhost {re.escape(' '.join(path))}[` ]")
        section = "".join(text for text in sections if name.search(text.partition("\n")[0]))
        assert section, path
        for parameter in command.params:
            for name in parameter.opts if isinstance(parameter, click.Option) else ():
                assert f"`{name}" in section + common, (path, name)


def test_every_command_is_in_the_table_at_the_top_of_the_documentation() -> None:
    table = (ROOT / "docs" / "cli.md").read_text().partition("\n## ")[0]
    listed: set[tuple[str, ...]] = set()
    for row in re.findall(r"^\| (`tinyhost .*?) \|", table, re.M):
        first, *more = re.findall(r"`(?:tinyhost )?(.*?)`", row)
        *group, _ = words = first.split()
        listed |= {tuple(words), *((*group, other) for other in more)}
    # Of those for other agents, the row names one.
    assert {path for path, _ in commands()} - listed == OTHERS - {("hook", "claude-code")}


def test_the_options_of_many_commands_are_those_of_the_commands_that_are_named() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    for option in ("--json", "--config"):
        [of] = re.findall(rf"^\| `{option}.*?` \| all but (.*?) \|", page, re.M)
        words = [part.split() for part in re.findall(r"`(.*?)`", of)]
        # A word that is no command is one of the group before it.
        named = {tuple(part) for part in words} | {("trust", *part) for part in words}
        without = {
            path
            for path, command in commands()
            if not any(option in parameter.opts for parameter in command.params)
        }
        agents = OTHERS if option == "--json" else set()
        for path in without - agents:
            assert path in named or path[:1] in named, (option, path)
        for path, _ in commands():
            if path in named or path[:1] in named:
                assert path in without, (option, path)


def test_every_exit_code_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    for code in (0, 1, 2, 3, 70, 129, 130, 141, 143):
        assert f"| {code} |" in text


# --- errors


def test_a_command_that_does_not_exist_is_a_usage_error_that_names_the_nearest(
    tinyhost: Cli,
) -> None:
    done = tinyhost("plugin", "laod")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "tinyhost: There is no command 'laod'. Did you mean 'load'?\nUsage: tinyhost plugin"
    )
    assert done.stdout == ""


def test_without_a_command_the_help_is_shown_as_a_usage_error(tinyhost: Cli) -> None:
    done = tinyhost()
    assert done.returncode == 2
    assert "Commands:" in done.stderr


def test_a_usage_error_is_json_when_json_is_wanted(tinyhost: Cli) -> None:
    error = tinyhost.json("plugin", "load", "--nothing", code=2)["error"]
    assert error["type"] == "NoSuchOption"
    assert "--nothing" in error["message"]


def test_an_error_is_told_on_standard_error_with_its_exit_code(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "info", "nowhere")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("tinyhost: plugin not found: nowhere (looked in: ")


def test_an_error_is_json_with_its_fields_when_json_is_wanted(tinyhost: Cli) -> None:
    error = tinyhost.json("plugin", "info", "nowhere", code=1)["error"]
    assert error["type"] == "PluginNotFound"
    assert error["plugin"] == "nowhere"
    assert str(tinyhost.plugins / "nowhere") in error["searched"]
    assert error["message"].startswith("plugin not found: nowhere")


def test_a_name_that_is_not_allowed_is_a_usage_error(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "path", "../x")
    assert done.returncode == 2
    assert "must not contain '..'" in done.stderr


def test_a_configuration_that_cannot_be_parsed_has_an_exit_code_of_its_own(tinyhost: Cli) -> None:
    tinyhost.configure('{\n  "plugins": [\n')
    done = tinyhost("plugin", "list")
    assert done.returncode == 3
    assert done.stderr.startswith(f"tinyhost: {tinyhost.file}:3:1: ")
    error = tinyhost.json("tool", "list", code=3)["error"]
    assert (error["file"], error["line"], error["column"]) == (str(tinyhost.file), 3, 1)


def test_a_named_configuration_that_is_missing_is_an_error(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "list", "--config", "nowhere.json")
    assert done.returncode == 3
    assert f"{tinyhost.project}/nowhere.json: there is no such file" in done.stderr


def test_a_bad_entry_is_told_and_the_others_are_used(tinyhost: Cli) -> None:
    tinyhost.plugin("good")
    tinyhost.configure({"plugins": ["good", 5]})
    done = tinyhost("plugin", "list")
    assert done.returncode == 0
    assert f"{tinyhost.file}:1:22: error: plugins[1]: " in done.stderr
    assert "good\tenabled" in done.stdout


def test_a_reader_that_goes_away_ends_the_command_quietly(tinyhost: Cli) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tinyhost_cli.main", "plugin", "registry"],
        env=tinyhost.env,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_output_that_cannot_be_written_is_an_error(tinyhost: Cli) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tinyhost_cli.main", "config", "path"],
            env=tinyhost.env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr == "tinyhost: [Errno 28] No space left on device\n"


def test_a_fault_of_our_own_is_shown_whole_and_has_its_own_exit_code(tinyhost: Cli) -> None:
    code = (
        "import sys; from tinyhost_cli import config_commands, main;"
        " config_commands.path.callback = lambda **_: 1 // 0; sys.exit(main.run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "config", "path"],
        env=tinyhost.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert "tinyhost: this is a fault of tinyhost itself" in done.stderr


# --- signals


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "terminated"),
        (signal.SIGHUP, "hung up"),
    ],
)
def test_a_signal_ends_the_command_and_its_plugins(
    tinyhost: Cli, number: signal.Signals, word: str
) -> None:
    pid_file = tinyhost.project / "pid"
    waiting = tinyhost.plugins / "waiting"
    waiting.write_text(f"#!/bin/sh\necho $$ >{pid_file}.new; mv {pid_file}.new {pid_file}\ncat\n")
    waiting.chmod(0o755)
    process = tinyhost.start("plugin", "load", "waiting")
    while not pid_file.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (128 + number, "", f"tinyhost: {word}\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


# --- text that is hard to print


def test_text_that_the_encoding_lacks_is_printed_as_escapes(tinyhost: Cli) -> None:
    tinyhost.plugin("latin", tools={"say": {"result": {"content": "caf\u00e9 \u20ac \ud800"}}})
    call = ("tool", "call", "plugin__latin__say", "--plugin", "latin")
    assert tinyhost.ok(*call) == "caf\u00e9 \u20ac \\ud800"
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    assert tinyhost.ok(*call, env=ascii_only) == "caf\\xe9 \\u20ac \\ud800"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_means_the_same_in_every_encoding(tinyhost: Cli, encoding: str) -> None:
    text = 'caf\u00e9 \u20ac \U0001f600 \x9b31m \u202e \x7f " \\ \ud800 \x00\n'
    tinyhost.plugin("hard", tools={"say": {"result": {"content": text}}})
    done = tinyhost(
        *("tool", "call", "plugin__hard__say", "--plugin", "hard", "--json"),
        env={"PYTHONIOENCODING": encoding},
    )
    assert json.loads(done.stdout)["content"] == text
    assert not {"\x9b", "\u202e", "\x7f"} & set(done.stdout)


def test_without_an_output_the_command_works_still(tinyhost: Cli) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m tinyhost_cli.main plugin registry >&- 2>&-', sys.executable],
        env=tinyhost.env,
        timeout=60,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("words", [["plugin", "list"], ["config", "show"], ["plugin", "new", "x"]])
def test_a_current_folder_that_was_deleted_is_an_error_in_json_too(
    tinyhost: Cli, words: list[str]
) -> None:
    for more in ([], ["--json"]):
        gone = tinyhost.project / "gone"
        gone.mkdir()
        program = f"import os; os.rmdir({str(gone)!r}); from tinyhost_cli.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, *words, *more],
            cwd=gone,
            env=tinyhost.env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        text = json.loads(done.stdout)["error"]["message"] if more else done.stderr
        assert (done.returncode, "the current folder is gone" in text) == (1, True), text
