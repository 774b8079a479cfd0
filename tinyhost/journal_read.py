"""Reading journals: which there are, their records, and new ones as they are written.

Readers take no lock. What stands behind the last line end of a file is a line that is being
written, or was torn, and is not there for them.
"""

from __future__ import annotations

import datetime
import fnmatch
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from .codec import loads
from .durations import parse_duration
from .errors import TinyhostError
from .journal_records import FORMAT, VERSION, timestamp

Record = Mapping[str, Any]


class JournalError(TinyhostError):
    """A journal, or one line of it, cannot be used; `line` counts from 1."""

    def __init__(self, reason: str, *, file: str = "", line: int | None = None) -> None:
        self.reason, self.file, self.line = reason, file, line
        where = file + (f":{line}" if line is not None else "")
        super().__init__(f"{where}: {reason}" if where else reason)


@attrs.frozen
class Header:
    """The first line of a file. after: the number of the last record before this file."""

    session: str
    directory: str
    started: str
    after: int


@attrs.frozen(kw_only=True)
class SessionJournal:
    """The files of one session. parts: their paths, the oldest first.

    updated: when a record was last written; size: in bytes, of all parts.
    problem: why they cannot be read, or "".
    """

    session: str
    directory: str
    started: str
    updated: str
    size: int
    parts: Sequence[Path]
    problem: str = ""


def parse_header(line: bytes, file: str) -> Header:
    """Read a first line. Raises JournalError for what is not a journal, or is a newer one."""
    try:
        value = loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise JournalError("is not a tinyhost journal", file=file, line=1)
    version = value.get("version")
    if type(version) is not int or version != VERSION:
        newer = type(version) is int and version > VERSION
        hint = "it was written by a newer tinyhost; update this one" if newer else "not known"
        raise JournalError(f"journal version {version!r:.40}: {hint}", file=file, line=1)
    members: list[Any] = [value.get(key) for key in ("session", "directory", "started", "after")]
    header = Header(*members)
    texts = (header.session, header.directory, header.started)
    if not all(isinstance(text, str) for text in texts) or type(header.after) is not int:
        raise JournalError("the header is damaged", file=file, line=1)
    return header


def parse_record(line: bytes) -> Record:
    """Read one line. Raises ValueError saying what is wrong with it."""
    value = loads(line)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    if type(value.get("seq")) is not int:
        raise ValueError("seq is not a number")
    if not isinstance(value.get("t"), str) or not isinstance(value.get("kind"), str):
        raise ValueError("t or kind is missing")
    return value


def last_seq(end: bytes) -> int:
    """The last record's number, from the last bytes of a file."""
    for line in reversed(end.split(b"\n")):
        try:
            value = loads(line)
        except ValueError:
            continue
        for key in ("seq", "after"):
            if isinstance(value, dict) and type(value.get(key)) is int:
                return int(value[key])
    return 0


def read_header(path: Path) -> Header:
    """Read a file's header. Raises JournalError, also when it cannot be opened."""
    try:
        with path.open("rb") as file:
            return parse_header(file.readline(1024 * 1024), str(path))
    except OSError as error:
        raise JournalError(f"cannot be read: {error.strerror}", file=str(path)) from None


def read_file(path: Path, on_bad: Callable[[JournalError], None] | None = None) -> Iterator[Record]:
    """The records of one file, in its order.

    on_bad: gets each line that is not a record, and reading goes on; without it, the error is
    raised. Raises JournalError for a file that is not a journal.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise JournalError(f"cannot be read: {error.strerror}", file=str(path)) from None
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            if number == 1:
                parse_header(line, str(path))
                continue
            yield from _record_of(line, str(path), number, on_bad)


def _record_of(
    line: bytes, file: str, number: int, on_bad: Callable[[JournalError], None] | None
) -> Iterator[Record]:
    try:
        yield parse_record(line)
    except ValueError as wrong:
        error = JournalError(f"this line is damaged: {wrong}", file=file, line=number)
        if on_bad is None:
            raise error from None
        on_bad(error)


def read_session(
    journal: SessionJournal, on_bad: Callable[[JournalError], None] | None = None
) -> Iterator[Record]:
    """The records of all of a session's files; see read_file."""
    for part in journal.parts:
        yield from read_file(part, on_bad)


# --- which there are


def list_journals(folder: str | os.PathLike[str]) -> Sequence[SessionJournal]:
    """The sessions that have files in the journal's folder, the last written first."""
    found = []
    for path in sorted(Path(folder).glob("*.jsonl")):
        try:
            found.append((path.stat().st_mtime_ns, _describe(path)))
        except FileNotFoundError:
            continue  # rotated away this moment
    return [journal for _, journal in sorted(found, key=lambda pair: pair[0], reverse=True)]


def _describe(path: Path) -> SessionJournal:
    older = [p for p in path.parent.glob(_literal(path.name) + ".*") if p.suffix[1:].isdecimal()]
    parts = [*sorted(older, key=lambda p: -int(p.suffix[1:])), path]
    stats = [part.stat() for part in parts]
    try:
        header, problem = read_header(parts[0]), ""
        read_header(path)
    except JournalError as error:
        header, problem = Header("", "", "", 0), str(error)
    return SessionJournal(
        session=header.session if not problem else path.stem,
        directory=header.directory,
        started=header.started,
        updated=timestamp(stats[-1].st_mtime),
        size=sum(found.st_size for found in stats),
        parts=parts,
        problem=problem,
    )


def _literal(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def find_journal(folder: str | os.PathLike[str], session: str | None = None) -> SessionJournal:
    """The journal of a session, given by its id or an unambiguous beginning; None: the last.

    Raises JournalError when there is none, or several fit.
    """
    journals = list_journals(folder)
    if session is None:
        usable = [journal for journal in journals if not journal.problem]
        if not usable:
            raise JournalError(f"there are no journals in {os.fspath(folder)}")
        return usable[0]
    exact = [journal for journal in journals if journal.session == session]
    fitting = exact or [journal for journal in journals if journal.session.startswith(session)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        several = ", ".join(journal.session for journal in fitting[:5])
        raise JournalError(f"several sessions begin with {session!r}: {several}")
    raise JournalError(
        f"there is no journal of session {session!r}; see them with: tinyhost journal list"
    )


class Follower:
    """Gives the records that are added to a session's file, also across its rotation.

    Look often enough: what fills more than one file between two looks is passed over.
    """

    def __init__(self, path: Path, on_bad: Callable[[JournalError], None] | None = None) -> None:
        self._path, self._on_bad = path, on_bad
        self._file = path.open("rb")
        self._offset = 0  # always behind a whole line
        self._number = 0

    def poll(self) -> Sequence[Record]:
        """The records that came since the last time; the first time, all there are."""
        found = self._read()
        if self._was_rotated():
            found += self._read()  # what came before it was put aside
            self.close()
            self._file = self._path.open("rb")
            self._offset = self._number = 0
            found += self._read()
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _was_rotated(self) -> bool:
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False  # the new file is not there yet

    def _read(self) -> list[Record]:
        self._file.seek(self._offset)
        *lines, _unfinished = self._file.read().split(b"\n")
        found: list[Record] = []
        for line in lines:
            self._offset += len(line) + 1
            self._number += 1
            if self._number == 1:
                parse_header(line, str(self._path))
            else:
                found += _record_of(line, str(self._path), self._number, self._on_bad)
        return found


# --- choosing records


@attrs.frozen(kw_only=True)
class Filter:
    """Which records are wanted; of each list, any may fit, and an empty one fits all.

    plugins: names that have a part in the record. tools: ids or globs. since: an earliest
    time, in the journal's form.
    """

    plugins: Sequence[str] = ()
    tools: Sequence[str] = ()
    decisions: Sequence[str] = ()
    kinds: Sequence[str] = ()
    since: str = ""

    def fits(self, record: Record) -> bool:
        """Whether the record is wanted."""
        return (
            record["t"] >= self.since
            and (not self.kinds or record["kind"] in self.kinds)
            and (not self.decisions or record.get("decision") in self.decisions)
            and (not self.plugins or not set(self.plugins).isdisjoint(_plugins_in(record)))
            and (not self.tools or _fits_any(record.get("tool"), self.tools))
        )


def parse_since(text: str, now: float) -> str:
    """An earliest time: an age as "90s", "30m" or "2h", or a date and time (ISO 8601).

    A time without a zone is local. Raises ValueError with a text for the person.
    """
    try:
        return timestamp(now - parse_duration(text))
    except ValueError:
        pass
    try:
        return timestamp(datetime.datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            'must be an age up to 24h such as "30m", or a time such as "2026-01-31T12:00"'
        ) from None


def _plugins_in(record: Record) -> set[str]:
    answers = record.get("answers")
    named = [answer.get("name") for answer in answers or () if isinstance(answer, Mapping)]
    found = [record.get("plugin"), record.get("blockedBy"), *named]
    return {name for name in found if isinstance(name, str)}


def _fits_any(tool: object, patterns: Sequence[str]) -> bool:
    if not isinstance(tool, str):
        return False
    return any(tool == pattern or fnmatch.fnmatchcase(tool, pattern) for pattern in patterns)
