"""What is written of sessions and calls, and what happens when nothing can be written."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tinyhost_plugins.telemetry import recorder as module
from tinyhost_plugins.telemetry.calls import hash_of
from tinyhost_plugins.telemetry.options import Options
from tinyhost_plugins.telemetry.recorder import Recorder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "telemetry.db"


@pytest.fixture
def recorder(path: Path) -> Iterator[Recorder]:
    recorder = Recorder(Options(str(path), 90, 1000))
    yield recorder
    recorder.close()


def select(path: Path, what: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {what}").fetchall()


def call(recorder: Recorder, session: str, tool: str, args: str = "{}", ok: bool = True) -> None:
    recorder.before(session, tool, args)
    recorder.after(session, tool, args, ok)


SESSIONS = "id, ended_at IS NULL, tool_count FROM sessions ORDER BY id"


def test_a_session_with_its_calls_is_written(recorder: Recorder, path: Path) -> None:
    before = time.time_ns() // 1_000_000
    recorder.session_start("s")
    call(recorder, "s", "bash", '{"command":"ls"}')
    call(recorder, "s", "read", ok=False)
    assert select(path, SESSIONS) == [("s", 1, 2)]
    recorder.session_end("s")
    after = time.time_ns() // 1_000_000
    assert select(path, SESSIONS) == [("s", 0, 2)]
    assert select(path, "session_id, tool_name, args_hash, success FROM tool_calls") == [
        ("s", "bash", hash_of('{"command":"ls"}'), 1),
        ("s", "read", hash_of("{}"), 0),
    ]
    [(start, end, first, last)] = select(
        path, "started_at, ended_at, min(timestamp), max(timestamp) FROM sessions, tool_calls"
    )
    times = [before, start, first, last, end, after]
    assert times == sorted(times, key=lambda value: int(str(value)))


def test_each_call_is_in_the_file_as_soon_as_it_has_ended(recorder: Recorder, path: Path) -> None:
    recorder.session_start("s")
    for number in range(1, 4):
        call(recorder, "s", "bash")
        assert select(path, "count(*) FROM tool_calls") == [(number,)]


def test_the_duration_is_the_time_between_before_and_after(
    recorder: Recorder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.session_start("s")
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    recorder.before("s", "bash", '{"n":1}')
    now += 1.5
    recorder.before("s", "bash", '{"n":2}')
    now += 0.25
    recorder.after("s", "bash", '{"n": 1}', True)
    recorder.after("s", "bash", '{"n": 2}', True)
    recorder.after("s", "bash", '{"n": 3}', True)
    assert select(path, "args_hash, duration_ms FROM tool_calls ORDER BY id") == [
        (hash_of('{"n":1}'), 1750),
        (hash_of('{"n":2}'), 250),
        (hash_of('{"n":3}'), None),
    ]


def test_the_hash_is_of_the_arguments_also_where_the_host_tells_them_only_before(
    recorder: Recorder, path: Path
) -> None:
    recorder.session_start("s")
    recorder.before("s", "bash", '{"n":1}')
    recorder.after("s", "bash", "", True)
    recorder.after("s", "bash", "", True)
    assert select(path, "args_hash FROM tool_calls ORDER BY id") == [(hash_of('{"n":1}'),), ("",)]


def test_sessions_side_by_side_are_kept_apart(recorder: Recorder, path: Path) -> None:
    recorder.session_start("a")
    call(recorder, "a", "bash")
    recorder.session_start("b")
    call(recorder, "b", "read")
    call(recorder, "a", "bash")
    recorder.session_end("a")
    call(recorder, "b", "read")
    call(recorder, "b", "read")
    recorder.session_end("b")
    assert select(path, SESSIONS) == [("a", 0, 2), ("b", 0, 3)]
    assert select(path, "DISTINCT session_id, tool_name FROM tool_calls ORDER BY 1") == [
        ("a", "bash"),
        ("b", "read"),
    ]


def test_a_second_end_changes_nothing_and_a_second_start_goes_on(
    recorder: Recorder, path: Path
) -> None:
    recorder.session_start("s")
    call(recorder, "s", "bash")
    recorder.session_end("s")
    [first] = select(path, "* FROM sessions")
    recorder.session_end("s")
    assert select(path, "* FROM sessions") == [first]
    recorder.session_start("s")
    call(recorder, "s", "bash")
    assert select(path, SESSIONS) == [("s", 1, 2)]
    assert select(path, "started_at FROM sessions") == [(first[1],)]


def test_a_call_without_a_session_is_not_written_and_one_of_an_unknown_session_is(
    recorder: Recorder, path: Path
) -> None:
    call(recorder, "", "bash")
    assert not path.exists()
    call(recorder, "unknown", "bash")
    assert select(path, SESSIONS) == [("unknown", 1, 1)]


def test_only_names_times_and_hashes_are_in_the_file(recorder: Recorder, tmp_path: Path) -> None:
    recorder.session_start("s")
    call(recorder, "s", "bash", '{"command":"mysql --password=hunter2"}')
    recorder.session_end("s")
    recorder.close()
    for file in tmp_path.iterdir():
        assert b"hunter2" not in file.read_bytes()
        assert b"command" not in file.read_bytes()


def test_closing_ends_the_sessions_that_are_left_and_may_be_repeated(
    recorder: Recorder, path: Path
) -> None:
    recorder.close()
    assert not path.exists()
    recorder.session_start("s")
    call(recorder, "s", "bash")
    recorder.close()
    recorder.close()
    assert select(path, SESSIONS) == [("s", 0, 1)]


def test_odd_names_are_written(recorder: Recorder, path: Path) -> None:
    recorder.session_start("\udc80")
    call(recorder, "\udc80", "x'; DROP TABLE sessions; --\0\n", "\udc80")
    call(recorder, "\udc80", "n" * 1000)
    names = select(path, "session_id, tool_name FROM tool_calls ORDER BY id")
    assert names == [("?", "x'; DROP TABLE sessions; --\0\n"), ("?", "n" * 256)]


def test_starting_the_first_session_prunes_what_a_killed_host_left(
    recorder: Recorder, path: Path
) -> None:
    recorder.session_start("s")
    call(recorder, "s", "bash")
    recorder.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE sessions SET started_at = 1")
        connection.execute("UPDATE tool_calls SET timestamp = 1")
    recorder.session_start("t")
    assert select(path, "id FROM sessions") == [("t",)]
    assert select(path, "count(*) FROM tool_calls") == [(0,)]


def test_calls_wait_in_memory_while_the_file_is_held_and_are_written_later(
    recorder: Recorder, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder.session_start("s")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(20):
            call(recorder, "s", "bash")
        assert select(path, "count(*) FROM tool_calls") == [(0,)]
        assert recorder.missing() == "Events that are not in here: 20 waiting to be written"
    said = capsys.readouterr().err
    assert said.count("database is locked") == 1
    assert said.endswith("Events wait in memory.\n")
    recorder.session_end("s")
    assert select(path, SESSIONS) == [("s", 0, 20)]
    assert recorder.missing() == ""


def test_what_waits_is_limited_and_what_found_no_room_is_counted(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 10)
    path.mkdir()
    recorder = Recorder(Options(str(path), 90, 1000))
    recorder.session_start("s")
    for _ in range(20):
        call(recorder, "s", "bash")
    missing = "Events that are not in here: 10 waiting to be written, 11 lost"
    assert recorder.missing() == missing
    path.rmdir()
    recorder.flush(1)
    recorder.close()
    assert recorder.missing() == "Events that are not in here: 11 lost"
    assert select(path, SESSIONS) == [("s", 0, 9)]
    assert "Is a directory" in capsys.readouterr().err
