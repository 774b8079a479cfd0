"""The database file: who can read it, and what happens when it cannot be used."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tinyhost_plugins.telemetry import changes
from tinyhost_plugins.telemetry.store import Store, StoreError

WRITER = """
import sys
from tinyhost_plugins.telemetry.options import Options
from tinyhost_plugins.telemetry.recorder import Recorder
recorder = Recorder(Options(sys.argv[1], 90, 1000000))
sys.stdin.readline()
session = sys.argv[2]
recorder.session_start(session)
for number in range(50):
    recorder.before(session, "bash", str(number))
    recorder.after(session, "bash", str(number), True)
recorder.session_end(session)
recorder.close()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fill(store: Store, *sessions: str) -> None:
    for session in sessions:
        store.write([*changes.start(session, 1), *changes.call(session, "t", "", 2, 3, True)], 1)


def count(store: Store, table: str = "tool_calls") -> int:
    with store.reading(1) as connection:
        found = connection.execute(f"SELECT count(*) FROM {table}").fetchall()  # noqa: S608
    return int(found[0][0])


def test_the_file_and_those_beside_it_are_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "telemetry.db"
    before = os.umask(0)
    try:
        with closing(Store(str(path))) as store:
            fill(store, "s")
            beside = sorted(path.parent.iterdir())
            assert [file.name for file in beside] == [
                "telemetry.db",
                "telemetry.db-shm",
                "telemetry.db-wal",
            ]
            assert [mode(file) for file in beside] == [0o600] * 3
            assert mode(path.parent) == 0o700
    finally:
        os.umask(before)


def test_files_that_others_could_read_are_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.db"
    with closing(Store(str(path))) as store, closing(sqlite3.connect(path)) as other:
        fill(store, "s")
        store.close()  # the other connection keeps the files beside it
        other.execute("SELECT * FROM sessions").fetchall()
        files = sorted(tmp_path.iterdir())
        assert len(files) == 3
        for file in files:
            file.chmod(0o644)
        fill(store, "t")
        assert [mode(file) for file in files] == [0o600] * 3


def test_tables_are_as_other_readers_of_such_files_expect(tmp_path: Path) -> None:
    with closing(Store(str(tmp_path / "x.db"))) as store, store.reading(1) as connection:
        columns = {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for table in ("sessions", "tool_calls")
        }
        [(journal,)] = connection.execute("PRAGMA journal_mode").fetchall()
    assert journal == "wal"
    assert columns == {
        "sessions": ["id", "started_at", "ended_at", "tool_count"],
        "tool_calls": [
            *("id", "session_id", "tool_name", "args_hash"),
            *("timestamp", "duration_ms", "success"),
        ],
    }


def test_changes_are_made_together_or_not_at_all(tmp_path: Path) -> None:
    with closing(Store(str(tmp_path / "x.db"))) as store:
        with pytest.raises(StoreError, match="no such table: missing"):
            store.write([*changes.start("s", 1), ("DELETE FROM missing", ())], 1)
        assert count(store, "sessions") == 0
        orphan = changes.call("s", "t", "", 2, 3, True)[1]
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            store.write([orphan], 1)


def test_several_processes_write_to_one_new_file_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors
    with closing(Store(str(path))) as store, store.reading(1) as connection:
        rows = connection.execute("SELECT id, tool_count FROM sessions ORDER BY id").fetchall()
    assert rows == [(name, 50) for name in "abcd"]


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(Store(str(path))) as store:
        fill(store, "s", "t")
        path.rename(tmp_path / "old.db")
        fill(store, "u")
        assert count(store) == 1
        path.unlink()
        assert count(store) == 0


def test_a_file_that_another_program_holds_is_named_and_can_be_used_later(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(Store(str(path))) as store:
        fill(store, "s")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError) as caught:
                fill_now(store)
            assert count(store) == 1
        assert str(caught.value) == (
            f"database error: {path}: database is locked;"
            " another program holds it; try again when that is done"
        )
        fill_now(store)
        assert count(store) == 2


def fill_now(store: Store) -> None:
    store.write(changes.call("s", "t", "", 2, 3, True), 0)


def test_a_question_that_takes_too_long_is_broken_off_and_the_next_one_is_answered(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.db"
    endless = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    )
    with closing(Store(str(path))) as store:
        fill(store, "s")
        with pytest.raises(StoreError) as caught, store.reading(1, most=0) as connection:
            connection.execute(endless).fetchall()
        assert str(caught.value) == (
            f"database error: {path}: it holds more calls than can be counted in time;"
            ' lower the option "maxCalls", or ask telemetry_query for fewer days'
        )
        assert count(store) == 1
        fill(store, "t")


def test_a_file_that_is_named_by_mistake_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n")
    path.chmod(0o664)
    with pytest.raises(StoreError, match="file is not a database; move the file away"):
        fill(Store(str(path)), "s")
    assert (mode(path), path.read_text()) == (0o664, "buy milk\n")
    assert sorted(tmp_path.iterdir()) == [path]


def no_database(path: Path) -> None:
    path.write_text("This is no database, but long enough to be looked at.\n" * 9)


@pytest.mark.parametrize(
    ("prepare", "text"),
    [
        (no_database, "file is not a database; move the file away to begin anew"),
        (Path.mkdir, "make the path usable"),
        (os.mkfifo, "it is not a file; make the path usable"),
        (lambda path: path.symlink_to("nowhere/x"), "No such file or directory; make the path"),
    ],
)
def test_a_path_that_cannot_be_used_is_named_with_what_to_do(
    tmp_path: Path, prepare: object, text: str
) -> None:
    path = tmp_path / "x.db"
    assert callable(prepare)
    prepare(path)
    with pytest.raises(StoreError) as caught:
        fill(Store(str(path)), "s")
    assert str(caught.value).startswith(f"database error: {path}: ")
    assert text in str(caught.value)


def test_old_calls_go_and_no_call_is_left_without_its_session(tmp_path: Path) -> None:
    day = 86_400_000
    now = 1000 * day
    with closing(Store(str(tmp_path / "x.db"))) as store:
        # session: its start, its calls, in days before now
        for session, start, calls in [
            ("old", 100, [100, 99]),
            ("long", 100, [100, 1]),
            ("new", 1, [1]),
            ("empty", 2, []),
            ("old-empty", 91, []),
        ]:
            store.write(changes.start(session, now - start * day), 1)
            for age in calls:
                store.write(changes.call(session, "t", "", now - age * day, 0, True), 1)
        store.write(changes.prune(now, 90, 1000), 1)
        with store.reading(1) as connection:
            kept = connection.execute("SELECT id FROM sessions ORDER BY id").fetchall()
            calls_of = connection.execute("SELECT session_id FROM tool_calls").fetchall()
        assert [name for (name,) in kept] == ["empty", "long", "new"]
        assert sorted(name for (name,) in calls_of) == ["long", "new"]


def test_calls_beyond_the_most_go_oldest_first(tmp_path: Path) -> None:
    with closing(Store(str(tmp_path / "x.db"))) as store:
        store.write(
            [change for n in range(30) for change in changes.call("s", "t", "", n, n, True)], 1
        )
        store.write(changes.prune(100, 1, 10), 1)
        with store.reading(1) as connection:
            kept = connection.execute("SELECT timestamp FROM tool_calls ORDER BY id").fetchall()
    assert [when for (when,) in kept] == list(range(20, 30))


def test_a_file_that_another_program_began_is_taken_on(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.executescript(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, started_at INTEGER NOT NULL,"
            " ended_at INTEGER, tool_count INTEGER DEFAULT 0);"
            "CREATE TABLE tool_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,"
            " tool_name TEXT NOT NULL, args_hash TEXT NOT NULL, timestamp INTEGER NOT NULL,"
            " duration_ms INTEGER, success INTEGER NOT NULL DEFAULT 1,"
            " FOREIGN KEY (session_id) REFERENCES sessions(id));"
            "INSERT INTO tool_calls VALUES (7, 'gone', 'bash', 'h', 5, 0, 1);"
        )
    with closing(Store(str(path))) as store:
        fill(store, "s")
        assert count(store) == 2
        assert count(store, "sessions") == 1
