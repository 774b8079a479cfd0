"""Handoff files: one JSON file per session, for the person alone, the newest ones kept."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

KEPT = 50  # files
AGE_MAX = 90 * 24 * 3600.0  # seconds
FILE_MAX = 2 * 1024 * 1024  # bytes; larger ones are not ours
# Only files of these names are ever deleted: the folder may hold others'.
_NAME = re.compile(r"handoff-[0-9a-f]{32}\.json")
_LEFTOVER = re.compile(r"\.handoff-[0-9a-f]{32}\.json\.[0-9a-f]+\.tmp")
_LEFTOVER_AGE = 3600.0  # seconds
_LATEST = 2**53


@attrs.frozen(kw_only=True)
class Record:
    """What one session hands on. timestamp: of the last change, in ms since the epoch."""

    session_id: str
    directory: str
    timestamp: int = 0
    goal: str = ""
    decisions: tuple[str, ...] = ()
    open_tasks: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()


class Store:
    """The handoff files in a folder, which is made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, session_id: str) -> Path:
        """A session's file. Its name is a digest, so no id leads out of the folder."""
        digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / f"handoff-{digest[:32]}.json"

    def load(self, session_id: str) -> Record | None:
        """A session's own record; None when there is none that can be read."""
        record = _read(self.path(session_id))
        return record if record is not None and record.session_id == session_id else None

    def newest(self, directory: str, *, besides: str) -> Record | None:
        """The latest record of the directory that is of another session than `besides`."""
        records = [
            record
            for path in self._files(_NAME)
            if (record := _read(path)) is not None
            and record.directory == directory
            and record.session_id != besides
        ]
        return max(records, key=lambda record: record.timestamp, default=None)

    def save(self, record: Record) -> None:
        """Write a record whole or not at all, then delete what is old. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = self.path(record.session_id)
        temporary = self.folder / f".{target.name}.{os.getpid():x}.tmp"
        temporary.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o600)
        try:
            with open(handle, "wb") as stream:  # noqa: PTH123 (a descriptor, not a path)
                stream.write(_encode(record))
                stream.flush()
                os.fsync(handle)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        self._prune()

    def _prune(self) -> None:
        now = time.time()
        dated = sorted(_dated(self._files(_NAME)), reverse=True)
        for index, (date, path) in enumerate(dated):
            if index >= KEPT or now - date > AGE_MAX:
                _delete(path)
        for date, path in _dated(self._files(_LEFTOVER)):
            if now - date > _LEFTOVER_AGE:
                _delete(path)

    def _files(self, name: re.Pattern[str]) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if name.fullmatch(path.name)]
        except OSError:
            return []


def _dated(paths: Iterable[Path]) -> Iterator[tuple[float, Path]]:
    for path in paths:
        with contextlib.suppress(OSError):
            yield path.lstat().st_mtime, path


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _encode(record: Record) -> bytes:
    value = {
        "sessionId": record.session_id,
        "directory": record.directory,
        "timestamp": record.timestamp,
        "goal": record.goal,
        "decisions": record.decisions,
        "openTasks": record.open_tasks,
        "filesModified": record.files_modified,
    }
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


def _read(path: Path) -> Record | None:
    """Read a file; None for one that is not a whole and valid record of the person's own."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if not own or found.st_size > FILE_MAX:
            return None
        with open(handle, "rb", closefd=False) as stream:
            return _decode(json.loads(stream.read()))
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        os.close(handle)


def _decode(value: Any) -> Record:
    """Raises ValueError for anything but the form that _encode writes."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    timestamp = value.get("timestamp")
    if type(timestamp) is not int or not 0 <= timestamp <= _LATEST:
        raise ValueError("timestamp is not a time in milliseconds")
    return Record(
        session_id=_text(value.get("sessionId")),
        directory=_text(value.get("directory")),
        timestamp=timestamp,
        goal=_text(value.get("goal")),
        decisions=_texts(value.get("decisions")),
        open_tasks=_texts(value.get("openTasks")),
        files_modified=_texts(value.get("filesModified")),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return tuple(_text(item) for item in value)
