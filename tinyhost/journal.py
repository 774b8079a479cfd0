"""The journal: what happened in each session, one JSON-lines file for each.

Writing is synchronous and plain: one record is one line and one write, under a lock that
other processes honour. A journal that cannot be written never harms what it tells about.
docs/journal.md describes the files.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import logging
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import paths
from .errors import TinyhostError
from .journal_read import JournalError, last_seq, parse_header
from .journal_records import (
    KINDS,
    LINE_MAX,
    OWN_KEYS,
    Cleaner,
    fitting_line,
    header,
    safe_name,
    timestamp,
)
from .journal_retention import KEEP_DAYS, KEEP_SESSIONS, tidy

FOLDER = "journal"  # in the state folder
MAX_BYTES = 8 * 1024 * 1024  # of one file, then it is rotated
KEEP = 2  # rotated files
LOCK_PATIENCE = 1.0  # seconds to wait for another process's write

_TIDY_AFTER = 100  # sessions between two looks at whether old ones are to go
_MAX_OPEN = 64  # files kept open
# One lock for the folder, in a file that is never moved: a lock on a session's own file could be
# one on a file that has just been put aside. It is held for some microseconds.
_LOCK = ".lock"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW

_log = logging.getLogger(__name__)


class Journal:
    """Appends records to the files of sessions. Call it from one thread, and close it.

    state_dir: the state folder; the files are in its folder `journal`.
    secrets: values that are masked wherever they stand.
    keep_days, keep_sessions: how long, and how many, sessions are kept; see journal_retention.
    max_bytes, keep: the size at which a file is rotated, and how many old ones are kept.
    report: is told, once, that records could not be written; the default logs it.
    failures: how many records could not be written; last_error: why the last one could not.
    cleaner: what makes values fit to be kept.
    """

    def __init__(
        self,
        state_dir: str | os.PathLike[str],
        *,
        secrets: Iterable[str] = (),
        max_bytes: int = MAX_BYTES,
        keep: int = KEEP,
        keep_days: int = KEEP_DAYS,
        keep_sessions: int = KEEP_SESSIONS,
        report: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = os.path.join(os.path.abspath(state_dir), FOLDER)  # noqa: PTH100, PTH118
        self.failures = 0
        self.last_error = ""
        self.cleaner = Cleaner(secrets)
        self._max_bytes, self._keep = max_bytes, max(keep, 1)
        self.keep_days, self.keep_sessions = keep_days, keep_sessions
        self._tidied = 0  # sessions ago
        self._report = report or _log.warning
        self._clock = clock
        self._folder_fd = self._lock_fd = -1
        self._files: dict[str, _File] = {}
        self._patience = LOCK_PATIENCE

    def record(self, session_id: str, kind: str, fields: Mapping[str, Any]) -> bool:
        """Append one record; whether it was written. Never raises for what goes wrong outside.

        Raises ValueError for an unknown kind, and for fields named like the journal's own.
        """
        if kind not in KINDS:
            raise ValueError(f"no kind of record: {kind}; there are: {', '.join(KINDS)}")
        if taken := [key for key in OWN_KEYS if key in fields]:
            raise ValueError(f"the journal sets {', '.join(taken)} itself")
        try:
            self._append(session_id, kind, self.cleaner.fields(fields))
        except Exception as error:
            self._failed(session_id, error)
            return False
        return True

    def close_session(self, session_id: str) -> None:
        """Close the session's file. A later record opens it again."""
        if file := self._files.pop(session_id, None):
            file.close()
            self._tidied -= 1

    def close(self) -> None:
        """Close everything. A later record opens it again."""
        for session_id in list(self._files):
            self.close_session(session_id)
        for fd in (self._folder_fd, self._lock_fd):
            if fd >= 0:
                os.close(fd)
        self._folder_fd = self._lock_fd = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, session_id: str, kind: str, fields: Mapping[str, Any]) -> None:
        with self._locked():
            now = timestamp(self._clock())
            head = {"t": now, "seq": 0, "kind": kind}
            file = self._ready_file(session_id, str(fields.get("directory") or ""), now)
            line = fitting_line({**head, "seq": file.seq + 1}, fields)
            if file.size + len(line) > self._max_bytes and not file.fresh:
                directory = file.header_directory()
                file.put_aside(self._keep)
                file = self._ready_file(session_id, directory, now)
                line = fitting_line({**head, "seq": file.seq + 1}, fields)
            file.append_record(line)
            if self._tidied <= 0:
                self._tidied = _TIDY_AFTER
                tidy(self._folder_fd, self.keep_days, self.keep_sessions)

    def _failed(self, session_id: str, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else None
        self.last_error = self.cleaner.text(reason or str(error))
        self.failures += 1
        # Whatever was open may be what is wrong.
        self.close()
        if self.failures == 1:
            self._report(
                f"the journal of session {session_id or '(none)'} in {self.folder} cannot be"
                f" written: {self.last_error}; calls go on without it"
            )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the folder's lock: nobody else writes, cuts or moves a file meanwhile."""
        if self._folder_fd < 0:
            self._folder_fd = _open_folder(self.folder)
        if self._lock_fd < 0:
            self._lock_fd = os.open(_LOCK, _FLAGS, 0o600, dir_fd=self._folder_fd)
        deadline = time.monotonic() + self._patience
        while True:
            # Looked at before the try: if this process stood still, the lock may be free by now.
            last = time.monotonic() >= deadline
            try:
                fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if last:
                    # One that hangs costs its time once, and not at every record.
                    self._patience = 0.0
                    raise JournalError("another process keeps it locked") from None
                time.sleep(0.0005)
        self._patience = LOCK_PATIENCE
        try:
            yield
        finally:
            fcntl.flock(self._lock_fd, fcntl.LOCK_UN)

    def _ready_file(self, session_id: str, directory: str, now: str) -> _File:
        """The file at the session's path, open, with a header and no torn line."""
        file = self._files.get(session_id)
        if file is None or not file.is_at_its_path():
            self.close_session(session_id)
            while len(self._files) >= _MAX_OPEN:
                self.close_session(next(iter(self._files)))
            file = self._files[session_id] = _File(session_id, self._folder_fd)
        file.prepare(directory, now)
        return file


class _File:
    """One open file; every method but close is called with the lock held.

    size: its bytes when we last looked, with the lock held; seq: the number of its last record.
    fresh: no record is in it yet.
    """

    def __init__(self, session: str, folder_fd: int) -> None:
        self.session, self._folder_fd = session, folder_fd
        self.name = safe_name(session) + ".jsonl"
        self.size, self.seq, self.fresh = -1, 0, False
        self.fd = os.open(self.name, _FLAGS, 0o600, dir_fd=folder_fd)
        try:
            found = os.fstat(self.fd)
            if not stat.S_ISREG(found.st_mode):
                raise JournalError("is not a regular file", file=self.name)
            if stat.S_IMODE(found.st_mode) & 0o077:
                os.fchmod(self.fd, 0o600)
        except BaseException:
            os.close(self.fd)
            raise
        self._identity = (found.st_dev, found.st_ino)

    def close(self) -> None:
        os.close(self.fd)

    def is_at_its_path(self) -> bool:
        try:
            found = os.stat(self.name, dir_fd=self._folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def is_as_we_left_it(self) -> bool:
        # Others only add to it, and only ever cut off what stands behind the last line end.
        return os.fstat(self.fd).st_size == self.size > 0

    def prepare(self, directory: str, now: str) -> None:
        """Make it a file that a record can be appended to, and know its last number."""
        if self.is_as_we_left_it():
            return
        self.cut_torn_line()
        if self.size:
            self.check_header()
            self.seq, self.fresh = last_seq(self.read_end()), False
            return
        after = self.seq_before()
        self.append(fitting_line(header(self.session, directory, now, after), {}))
        self.seq, self.fresh = after, True

    def cut_torn_line(self) -> None:
        """Cut what a writer that was killed left behind the last whole line."""
        self.size = os.fstat(self.fd).st_size
        end = self.size
        while end > 0:
            begin = max(0, end - LINE_MAX)
            found = os.pread(self.fd, end - begin, begin).rfind(b"\n")
            if found >= 0:
                end = begin + found + 1
                break
            end = begin
        if end != self.size:
            os.ftruncate(self.fd, end)
            self.size = end

    def check_header(self) -> None:
        """Raises JournalError when the file is not one of ours, or of another session."""
        found = parse_header(self._first_line(), self.name)
        if found.session != self.session:
            raise JournalError(f"belongs to session {found.session!r:.80}", file=self.name)

    def header_directory(self) -> str:
        return parse_header(self._first_line(), self.name).directory

    def _first_line(self) -> bytes:
        return os.pread(self.fd, LINE_MAX, 0).split(b"\n", 1)[0]

    def read_end(self) -> bytes:
        begin = max(0, self.size - 2 * LINE_MAX)
        return os.pread(self.fd, self.size - begin, begin)

    def seq_before(self) -> int:
        """The number of the last record in the file that was put aside before this one."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            fd = os.open(self.name + ".1", flags, dir_fd=self._folder_fd)
        except OSError:
            return 0
        try:
            size = os.fstat(fd).st_size
            begin = max(0, size - 2 * LINE_MAX)
            return last_seq(os.pread(fd, size - begin, begin))
        finally:
            os.close(fd)

    def put_aside(self, keep: int) -> None:
        """Move the files on by one number; the oldest of them goes."""
        numbered = ["", *(f".{number}" for number in range(1, keep + 1))]
        for old, new in reversed(list(itertools.pairwise(numbered))):
            with contextlib.suppress(FileNotFoundError):
                folder = self._folder_fd
                os.rename(self.name + old, self.name + new, src_dir_fd=folder, dst_dir_fd=folder)

    def append_record(self, line: bytes) -> None:
        """Write a record's line, which has the next number."""
        self.append(line)
        self.seq += 1
        self.fresh = False

    def append(self, line: bytes) -> None:
        """Write a line in one piece, or nothing of it."""
        written = os.write(self.fd, line)
        if written != len(line):
            os.ftruncate(self.fd, self.size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.name)
        self.size += written


def _open_folder(path: str) -> int:
    """Open the folder, made if needed, and see that nobody else can look into it."""
    paths.make_private(path)
    fd = os.open(path, _FOLDER_FLAGS)
    try:
        found = os.fstat(fd)
        if found.st_uid != os.geteuid():
            raise TinyhostError(f"the folder {path} belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(fd, 0o700)
    except BaseException:
        os.close(fd)
        raise
    return fd
