"""Old sessions leave the journal, and nothing else does."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tinyhost.config import parse_config
from tinyhost.journal import Journal
from tinyhost.opening import open_host

DAY = 86400.0


def session(folder: Path, name: str, days: float, *asides: str) -> None:
    """Files of a session that was last written so many days ago."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for ending in ("", *asides):
        file = folder / f"{name}.jsonl{ending}"
        file.write_text("{}\n")
        when = time.time() - days * DAY
        os.utime(file, (when, when))


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir() if not file.name.startswith(".")}


def write(state: Path, **keep: int) -> None:
    with Journal(state, **keep) as journal:
        assert journal.record("new", "session", {"event": "start"})


def test_sessions_older_than_they_are_kept_go_with_all_their_files(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    session(folder, "old", 31, ".1", ".2")
    session(folder, "young", 29, ".1")
    (folder / "notes.txt").write_text("mine")
    (folder / "old.jsonl.bak").write_text("mine")
    write(tmp_path, keep_days=30)
    assert names(folder) == {
        *("new.jsonl", "young.jsonl", "young.jsonl.1"),
        *("notes.txt", "old.jsonl.bak"),
    }


def test_a_session_is_as_old_as_its_last_record(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    session(folder, "long", 31, ".1")
    os.utime(folder / "long.jsonl")
    write(tmp_path, keep_days=30)
    assert names(folder) == {"long.jsonl", "long.jsonl.1", "new.jsonl"}


def test_the_oldest_go_when_there_are_too_many_but_none_that_is_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    for number in range(5):
        session(folder, f"s{number}", number + 1)
    session(folder, "now", 0)
    write(tmp_path, keep_sessions=3)
    assert names(folder) == {"new.jsonl", "now.jsonl", "s0.jsonl"}
    session(folder, "s9", 9)
    (folder / ".tidied").unlink()
    write(tmp_path, keep_sessions=1)
    assert names(folder) == {"new.jsonl", "now.jsonl"}


def test_it_is_looked_at_once_an_hour(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    write(tmp_path)
    session(folder, "old", 1000)
    write(tmp_path)
    assert "old.jsonl" in names(folder)
    hours_ago = time.time() - 2 * 3600
    os.utime(folder / ".tidied", (hours_ago, hours_ago))
    write(tmp_path)
    assert "old.jsonl" not in names(folder)


def test_a_process_that_writes_many_sessions_looks_again(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    with Journal(tmp_path) as journal:
        journal.record("first", "session", {})
        session(folder, "old", 1000)
        (folder / ".tidied").unlink()
        for number in range(150):
            journal.record(f"s{number}", "session", {})
            journal.close_session(f"s{number}")
    assert "old.jsonl" not in names(folder)


async def test_the_configuration_says_how_long(home: Path) -> None:
    text = json.dumps({"journal": {"keepDays": 2, "keepSessions": 10}})
    config = parse_config(text, str(home / "config" / "config.json"))
    assert not config.problems
    folder = home / "state" / "journal"
    session(folder, "old", 3)
    async with open_host(config) as host:
        await host.session_end(await host.session_start())
    assert "old.jsonl" not in names(folder)


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
def test_a_number_that_makes_no_sense_is_told(value: object) -> None:
    config = parse_config(json.dumps({"journal": {"keepDays": value}}), "/config.json")
    [problem] = config.problems
    assert problem.key == "journal.keepDays"
    assert config.journal.keep_days is None
