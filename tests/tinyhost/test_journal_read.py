from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tinyhost.dispatch import Answer, BeforeResult
from tinyhost.errors import TinyhostError
from tinyhost.journal import Journal
from tinyhost.journal_read import (
    Filter,
    Follower,
    JournalError,
    find_journal,
    list_journals,
    parse_since,
    read_file,
    read_session,
)
from tinyhost.journal_records import call_fields, decision_fields, hook_fields


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path, max_bytes=2000, keep=2) as journal:
        yield journal


def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def append(file: Path, data: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(data)


# --- lines


def test_every_damaged_line_is_told_with_its_number(journal: Journal, tmp_path: Path) -> None:
    journal.record("s1", "ask", {"n": 1})
    file = folder(tmp_path) / "s1.jsonl"
    append(file, b'nonsense\n\n[]\n{"t":"x","kind":"ask"}\n{"seq":1}\n')
    journal.record("s1", "ask", {"n": 2})
    append(file, b"a complete last line\n")
    bad: list[JournalError] = []
    assert [record["n"] for record in read_file(file, bad.append)] == [1, 2]
    assert [error.line for error in bad] == [3, 4, 5, 6, 7, 9]
    assert str(bad[2]) == f"{file}:5: this line is damaged: not an object"
    assert "seq is not a number" in bad[3].reason
    assert "t or kind is missing" in bad[4].reason


def test_without_somebody_to_tell_a_damaged_line_is_an_error(
    journal: Journal, tmp_path: Path
) -> None:
    journal.record("s1", "ask", {"n": 1})
    file = folder(tmp_path) / "s1.jsonl"
    append(file, b"nonsense\n")
    records = read_file(file)
    assert next(records)["n"] == 1
    with pytest.raises(TinyhostError, match=r"s1\.jsonl:3: this line is damaged"):
        next(records)


def test_an_unfinished_last_line_is_not_there(journal: Journal, tmp_path: Path) -> None:
    journal.record("s1", "ask", {"n": 1})
    file = folder(tmp_path) / "s1.jsonl"
    append(file, b'{"t":"2026","seq":2,"kind":"ask"}')
    assert [record["seq"] for record in read_file(file)] == [1]


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (b"", None),
        (b"not a journal\n", "is not a tinyhost journal"),
        (b'{"format":"tinyhost-journal","version":3}\n', "written by a newer tinyhost"),
        (b'{"format":"tinyhost-journal","version":0}\n', "version 0: not known"),
        (b'{"format":"tinyhost-journal","version":true}\n', "version True: not known"),
    ],
)
def test_a_file_of_another_kind_or_version_is_refused(
    first: bytes, reason: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(first)
    if reason is None:
        assert list(read_file(file)) == []
        return
    with pytest.raises(JournalError, match=reason):
        list(read_file(file))


# --- sessions


def test_sessions_are_listed_by_their_last_record(journal: Journal, tmp_path: Path) -> None:
    for number, session in enumerate(("old", "new", "two words", "old")):
        journal.record(session, "session", {"directory": f"/{number}"})
        newest = max(folder(tmp_path).glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (1000 + number, 1000 + number))
    found = list_journals(folder(tmp_path))
    assert [one.session for one in found] == ["old", "two words", "new"]
    assert [one.directory for one in found] == ["/0", "/2", "/1"]
    assert found[0].updated == "1970-01-01T00:16:43.000Z"
    assert find_journal(folder(tmp_path)).session == "old"


def test_files_that_are_no_journals_do_not_stop_the_list(journal: Journal, tmp_path: Path) -> None:
    journal.record("good", "ask", {})
    (folder(tmp_path) / "bad.jsonl").write_text("x\n")
    (folder(tmp_path) / "other.txt").write_text("x\n")
    found = {one.session: one.problem for one in list_journals(folder(tmp_path))}
    assert found["good"] == ""
    assert "is not a tinyhost journal" in found["bad"]
    assert set(found) == {"good", "bad"}
    assert find_journal(folder(tmp_path)).session == "good"


def test_a_session_is_found_by_an_unambiguous_beginning(journal: Journal, tmp_path: Path) -> None:
    for session in ("abc", "abd", "ab", "xyz"):
        journal.record(session, "ask", {})
    assert find_journal(folder(tmp_path), "x").session == "xyz"
    assert find_journal(folder(tmp_path), "ab").session == "ab"
    with pytest.raises(JournalError, match="several sessions begin with 'a'"):
        find_journal(folder(tmp_path), "a")
    with pytest.raises(JournalError, match="no journal of session 'q'; see them with"):
        find_journal(folder(tmp_path), "q")
    with pytest.raises(JournalError, match="there are no journals in"):
        find_journal(tmp_path / "nowhere")


def test_all_parts_of_a_session_are_read_in_order(journal: Journal, tmp_path: Path) -> None:
    for number in range(40):
        journal.record("s[1]", "ask", {"n": number, "x": "y" * 50})
    found = find_journal(folder(tmp_path), "s[1]")
    assert len(found.parts) == 3
    numbers = [record["n"] for record in read_session(found)]
    assert numbers == list(range(numbers[0], 40))
    assert len(numbers) > 20


# --- following


def polled(follower: Follower) -> list[int]:
    return [record["n"] for record in follower.poll()]


def test_new_records_are_followed_across_torn_lines_and_rotation(
    journal: Journal, tmp_path: Path
) -> None:
    journal.record("s1", "ask", {"n": 0})
    file = folder(tmp_path) / "s1.jsonl"
    follower = Follower(file)
    assert polled(follower) == [0]
    assert polled(follower) == []
    append(file, b'{"torn')
    assert polled(follower) == []
    journal.record("s1", "ask", {"n": 1})
    assert polled(follower) == [1]
    expected, seen = [], []
    for number in range(2, 60):
        journal.record("s1", "ask", {"n": number, "x": "y" * 50})
        expected.append(number)
        if number % 7 == 0:
            seen += polled(follower)
    seen += polled(follower)
    assert (folder(tmp_path) / "s1.jsonl.2").exists()
    assert seen == expected
    follower.close()


def test_records_that_come_while_a_file_is_put_aside_are_not_missed(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.record("s1", "ask", {"n": 0})
    follower = Follower(folder(tmp_path) / "s1.jsonl")
    was_rotated = follower._was_rotated

    def rotated_just_now() -> bool:
        for number in range(1, 5):
            journal.record("s1", "ask", {"n": number, "x": "y" * 600})
        return was_rotated()

    monkeypatch.setattr(follower, "_was_rotated", rotated_just_now)
    assert polled(follower) == [0, 1, 2, 3, 4]
    follower.close()


# --- choosing

ANSWERS = (
    Answer("safety-net", "plg_1", None, None, None, 1.0),
    Answer("guard", "plg_2", None, None, ValueError("no"), 2.0),
)
HOOK = hook_fields(
    BeforeResult(hook="tool.execute.before", answers=ANSWERS, tool_args="{}", blocked_by="guard"),
    tool="bash",
)
DECISION = decision_fields("bash", "{}", "deny", by="plugin", plugin="guard", reason="no")
CALL = call_fields("plugin__x__y", "{}", result="ok", is_error=False, ms=1.23456)
LOAD = {"plugin": "safety-net", "pid": 1}


def record_of(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"t": "2026-01-02T03:04:05.678Z", "seq": 1, "kind": kind, **fields}


RECORDS = [
    record_of(kind, fields)
    for kind, fields in (("hook", HOOK), ("decision", DECISION), ("call", CALL), ("load", LOAD))
]


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (Filter(), ["hook", "decision", "call", "load"]),
        (Filter(plugins=["safety-net"]), ["hook", "load"]),
        (Filter(plugins=["guard"]), ["hook", "decision"]),
        (Filter(plugins=["other", "guard"]), ["hook", "decision"]),
        (Filter(tools=["bash"]), ["hook", "decision"]),
        (Filter(tools=["plugin__*"]), ["call"]),
        (Filter(decisions=["deny"]), ["decision"]),
        (Filter(decisions=["allow"]), []),
        (Filter(kinds=["call", "load"]), ["call", "load"]),
        (Filter(since="2026-01-02T03:04:05.678Z"), ["hook", "decision", "call", "load"]),
        (Filter(since="2026-01-02T03:04:05.679Z"), []),
        (Filter(tools=["bash"], kinds=["hook"], plugins=["guard"]), ["hook"]),
    ],
)
def test_a_filter_keeps_what_fits_all_its_lists(wanted: Filter, kinds: Sequence[str]) -> None:
    assert [record["kind"] for record in RECORDS if wanted.fits(record)] == kinds


def test_records_of_any_shape_pass_a_filter_without_an_error() -> None:
    wanted = Filter(plugins=["x"], tools=["y"], decisions=["deny"])
    for answers in (1, "x", [1, {"name": []}], None, {"name": "x"}):
        record = {"answers": answers, "plugin": ["x"], "tool": {}, "decision": []}
        assert not wanted.fits(record_of("hook", record))


def test_the_fields_of_a_call_show_what_was_rewritten() -> None:
    assert "finalArgs" not in CALL
    assert CALL["ms"] == 1.235
    same = call_fields("t", "{}", final_args="{}", result="", is_error=False, ms=1)
    assert "finalArgs" not in same
    other = call_fields("t", "{}", final_args='{"a":1}', result="", is_error=True, ms=1)
    assert (other["finalArgs"], other["isError"]) == ('{"a":1}', True)


def test_the_fields_of_a_hook_hold_every_answer() -> None:
    assert json.loads(json.dumps(HOOK))["answers"] == [
        {"name": "safety-net", "output": None, "ms": 1.0},
        {"name": "guard", "error": "no", "ms": 2.0},
    ]


def test_since_is_an_age_or_a_time() -> None:
    assert parse_since("30m", 3600.0) == "1970-01-01T00:30:00.000Z"
    assert parse_since("2026-01-31T12:00:00+01:00", 0) == "2026-01-31T11:00:00.000Z"
    assert parse_since("2026-01-31T12:00:00Z", 0) == "2026-01-31T12:00:00.000Z"
    for text in ("yesterday", "", "5x", "2026-99-99", "0001-01-01T00:00"):
        with pytest.raises(ValueError, match="must be an age up to 24h"):
            parse_since(text, 0)
