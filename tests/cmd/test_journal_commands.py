"""The `journal` commands, in this process; following a session, as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tinyhost.journal import Journal
from tinyhost.journal_read import JournalError
from tinyhost.journal_records import KINDS, call_fields, decision_fields
from tinyhost_cli import journal_commands

WHEN = 1_780_000_000.5
DENIED = decision_fields(
    "bash", '{"command":"rm -rf /"}', "deny", by="plugin", plugin="safety-net", reason="removes /"
)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("TINYHOST_STATE_DIR", str(tmp_path))
    with Journal(tmp_path, clock=lambda: WHEN) as journal:
        yield journal


def run(*args: str) -> Result:
    return CliRunner().invoke(journal_commands.journal, args, standalone_mode=False)


def lines(*args: str) -> list[str]:
    result = run(*args)
    if result.exception:
        raise result.exception
    return result.stdout.splitlines()


def numbers(*args: str) -> list[int]:
    return [json.loads(line)["seq"] for line in lines(*args, "--json")]


def fill(journal: Journal, session: str = "s1") -> None:
    journal.record(session, "session", {"directory": "/p"})
    journal.record(session, "load", {"plugin": "safety-net", "pid": 7})
    answers = [
        {"name": "safety-net", "output": None, "ms": 0.5},
        {"name": "other", "output": {"additionalContext": ["x"]}, "ms": 1},
        {"name": "third", "error": "broke", "ms": 2.25},
    ]
    journal.record(session, "hook", {"hook": "permission.ask", "tool": "bash", "answers": answers})
    journal.record(session, "decision", DENIED)
    call = call_fields("plugin__a__b", '{"x":1}', result="fine\n\x1b[2J", is_error=False, ms=12)
    journal.record(session, "call", call)


def test_show_prints_a_line_for_each_record_of_the_newest_session(journal: Journal) -> None:
    fill(journal)
    assert lines("show") == [
        '2026-05-28T20:26:40.500Z #1 session directory="/p"',
        "2026-05-28T20:26:40.500Z #2 load safety-net pid=7",
        "2026-05-28T20:26:40.500Z #3 hook permission.ask bash"
        " [safety-net had no opinion in 0.5 ms] [other answered in 1.0 ms]"
        " [third failed in 2.2 ms]",
        "2026-05-28T20:26:40.500Z #4 decision deny bash by plugin safety-net (removes /)"
        ' args="{\\"command\\":\\"rm -rf /\\"}"',
        "2026-05-28T20:26:40.500Z #5 call plugin__a__b ok in 12.0 ms"
        ' args="{\\"x\\":1}" result="fine\\n\\u001b[2J"',
    ]


def test_show_takes_a_session(journal: Journal) -> None:
    journal.record("first", "ask", {"n": 1})
    journal.record("second", "ask", {"n": 2})
    assert lines("show", "fir") == ["2026-05-28T20:26:40.500Z #1 ask n=1"]
    with pytest.raises(JournalError, match="no journal of session 'third'"):
        lines("show", "third")


def test_a_record_never_commands_the_terminal_or_breaks_its_line(journal: Journal) -> None:
    hostile = "\x1b[2J\n\x9b31m"
    journal.record("s1", "load", {"plugin": hostile, hostile: hostile})
    [line] = lines("show")
    assert "\x1b" not in line
    assert "\x9b" not in line
    [line] = lines("show", "--json")
    assert json.loads(line)["plugin"] == hostile


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], [1, 2, 3, 4, 5]),
        (["--plugin", "safety-net"], [2, 3, 4]),
        (["--plugin", "third", "--plugin", "none"], [3]),
        (["--tool", "bash"], [3, 4]),
        (["--tool", "plugin__*"], [5]),
        (["--decision", "deny"], [4]),
        (["--decision", "allow"], []),
        (["--kind", "call", "--kind", "load"], [2, 5]),
        (["--since", "2026-05-28T20:26:40+00:00"], [1, 2, 3, 4, 5]),
        (["--since", "2026-05-28T20:26:41+00:00"], []),
    ],
)
def test_filters(args: list[str], expected: list[int], journal: Journal) -> None:
    fill(journal)
    assert numbers("show", *args) == expected
    assert numbers("tail", *args) == expected


def test_a_since_that_is_no_time_is_a_usage_error(journal: Journal) -> None:
    fill(journal)
    with pytest.raises(click.UsageError, match="The value of --since must be an age"):
        lines("show", "--since", "soon")


def test_tail_prints_the_last_records(journal: Journal) -> None:
    for _ in range(5):
        fill(journal)
    assert numbers("tail") == list(range(16, 26))
    assert numbers("tail", "s1", "-n", "2") == [24, 25]
    assert numbers("tail", "-n", "0") == []
    assert numbers("tail", "-n", "99") == list(range(1, 26))


def test_damaged_lines_are_told_and_make_show_fail(journal: Journal, tmp_path: Path) -> None:
    fill(journal)
    file = tmp_path / "journal" / "s1.jsonl"
    with file.open("ab") as stream:
        stream.write(b"damage\n")
    fill(journal)
    result = run("show", "--json")
    assert result.return_value == 1
    assert len(result.stdout.splitlines()) == 10
    assert f"{file}:7: this line is damaged" in result.stderr


def test_list_shows_the_sessions(journal: Journal, tmp_path: Path) -> None:
    fill(journal)
    (tmp_path / "journal" / "bad.jsonl").write_text("{}\n")
    result = run("list")
    header, row = result.stdout.splitlines()
    assert header.split("\t") == ["SESSION", "STARTED", "UPDATED", "BYTES", "DIRECTORY"]
    assert row.split("\t")[0] == "s1"
    assert row.split("\t")[4] == "/p"
    assert "is not a tinyhost journal" in result.stderr
    [line] = lines("list", "--json")
    found: dict[str, Any] = {one["session"]: one for one in json.loads(line)["journals"]}
    assert found["s1"]["files"] == [str(tmp_path / "journal" / "s1.jsonl")]
    assert found["s1"]["started"] == "2026-05-28T20:26:40.500Z"
    assert "problem" in found["bad"]


def test_without_journals_list_says_so(journal: Journal, tmp_path: Path) -> None:
    result = run("list")
    assert result.stdout == ""
    assert f"There are no journals in {tmp_path}/journal." in result.stderr
    assert lines("list", "--json") == ['{"journals":[]}']


def test_the_kinds_to_choose_from_are_those_that_there_are() -> None:
    [option] = [p for p in journal_commands.show.params if p.name == "kinds"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == KINDS


def test_tail_follows_until_it_is_interrupted(journal: Journal, tmp_path: Path) -> None:
    fill(journal)
    program = "from tinyhost_cli.journal_commands import journal; journal()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "tail", "-f", "-n", "1", "--kind", "call", "--json"],
        env={**os.environ, "TINYHOST_STATE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert json.loads(process.stdout.readline())["seq"] == 5
        fill(journal)
        assert json.loads(process.stdout.readline())["seq"] == 10
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
    assert process.returncode == 1


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from click.testing import CliRunner;"
        "from tinyhost_cli.journal_commands import journal;"
        "r = CliRunner().invoke(journal, ['show', '--help']); assert '--decision' in r.output;"
        "print([name for name in ('trio', 'msgspec', 'cattrs', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
