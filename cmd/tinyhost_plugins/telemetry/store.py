"""The database: one SQLite file that nobody but its owner reads."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

Change = tuple[str, tuple[str | int | None, ...]]

# The first two tables are as other programs that read such a file know them.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, started_at INTEGER NOT NULL,"
    " ended_at INTEGER, tool_count INTEGER DEFAULT 0)",
    "CREATE TABLE IF NOT EXISTS tool_calls (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " session_id TEXT NOT NULL REFERENCES sessions(id), tool_name TEXT NOT NULL,"
    " args_hash TEXT NOT NULL, timestamp INTEGER NOT NULL, duration_ms INTEGER,"
    " success INTEGER NOT NULL DEFAULT 1)",
    "CREATE INDEX IF NOT EXISTS tool_calls_by_time ON tool_calls(timestamp)",
    "CREATE INDEX IF NOT EXISTS tool_calls_by_session ON tool_calls(session_id)",
)
_LARGEST_LEFT_WAL = 4 * 1024 * 1024
_OPENING_PAUSE = 0.05
_STEPS = 10_000  # of SQLite's machine between two looks at the clock, well below a millisecond
_HEADER = b"SQLite format 3\0"
_OF_THE_PATH = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)


class StoreError(Exception):
    """The database cannot be used; the text says which, why, and what to do."""


class Store:
    """The file at `path`, opened when it is needed first. Several processes may share it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)

    def write(self, changes: Iterable[Change], wait: float) -> None:
        """Make all changes or none. wait: seconds for another process. Raises StoreError."""
        with self._transaction("BEGIN IMMEDIATE", wait) as connection:
            for statement, values in changes:
                connection.execute(statement, values)

    @contextmanager
    def reading(self, wait: float, most: float | None = None) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the file. Raises StoreError.

        wait: seconds for another process. most: seconds until a statement is broken off, with all before it.
        """
        until = None if most is None else time.monotonic() + most
        with self._transaction("BEGIN", wait) as connection:
            if until is not None:
                connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            try:
                yield connection
            finally:
                connection.set_progress_handler(None, 0)

    def close(self) -> None:
        """Let go of the file. May be called again, and the store be used again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _transaction(self, begin: str, wait: float) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._ready(wait)
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except (sqlite3.Error, OSError) as error:
            raise StoreError(_explained(self.path, error)) from error

    def _ready(self, wait: float) -> sqlite3.Connection:
        # Somebody may have moved the file away, to begin anew.
        if self._connection is None or self._file != _identity(self.path):
            self.close()
            _make_private(self.path)
            self._connection = _open(self.path, wait)
            self._file = _identity(self.path)
        self._connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        return self._connection


def _identity(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _make_private(path: str) -> None:
    """Make the file, if there is none, and let only its owner read it.

    This comes before SQLite writes to it, and SQLite gives the files beside it the same mode.
    """
    Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError("it is not a file")
        # The mode of a file that somebody named by mistake stays what it is.
        if os.read(descriptor, len(_HEADER)) not in (b"", _HEADER):
            raise sqlite3.DatabaseError("file is not a database")
        if stat.S_IMODE(mode) != 0o600:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
    for side in (f"{path}-wal", f"{path}-shm"):
        if Path(side).exists():
            Path(side).chmod(0o600)


def _open(path: str, wait: float) -> sqlite3.Connection:
    """Open the file and bring it to its form. Raises sqlite3.Error."""
    until = time.monotonic() + wait
    while True:
        connection = sqlite3.connect(path, timeout=_OPENING_PAUSE, isolation_level=None)
        try:
            _prepare(connection)
        except BaseException as error:
            connection.close()
            # While another process turns a new file to WAL, SQLite does not wait by itself.
            if not _is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(_OPENING_PAUSE)
        else:
            return connection


def _prepare(connection: sqlite3.Connection) -> None:
    # Another program may have written what is no UTF-8.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA journal_mode = WAL")
    # In WAL this cannot damage the file; a power cut may cost the last calls.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {_LARGEST_LEFT_WAL}")
    connection.execute("PRAGMA foreign_keys = ON")
    for statement in _SCHEMA:
        connection.execute(statement)


def _is_busy(error: BaseException) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: BaseException) -> int:
    """SQLite's primary code of an error, 0 for an error of another kind."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _explained(path: str, error: sqlite3.Error | OSError) -> str:
    reason = str(getattr(error, "strerror", None) or error)
    if _code(error) == sqlite3.SQLITE_INTERRUPT:
        reason = "it holds more calls than can be counted in time"
        advice = 'lower the option "maxCalls", or ask telemetry_query for fewer days'
    elif _is_busy(error):
        advice = "another program holds it; try again when that is done"
    elif _code(error) == sqlite3.SQLITE_FULL:
        advice = "make room on the disk"
    elif isinstance(error, OSError) or _code(error) in _OF_THE_PATH:
        advice = 'make the path usable, or set the option "database" to another one'
    else:
        advice = 'move the file away to begin anew, or set the option "database" to another one'
    return f"database error: {path}: {reason}; {advice}"
