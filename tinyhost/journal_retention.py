"""Which old sessions' files leave the journal's folder, so that it does not grow for ever."""

from __future__ import annotations

import contextlib
import os
import stat
import time

KEEP_DAYS = 90
KEEP_SESSIONS = 5000

_EVERY = 3600.0  # seconds between two looks, of all processes together
_IN_USE = 3600.0  # seconds; a session that was written since then is never taken away
_STAMP = ".tidied"
_ENDING = ".jsonl"


def tidy(folder_fd: int, keep_days: int = KEEP_DAYS, keep_sessions: int = KEEP_SESSIONS) -> int:
    """Take old sessions away, at most once an hour; how many there were.

    folder_fd: the folder, open, with its lock held. A session is as old as its last record.
    """
    now = time.time()
    if not _is_due(folder_fd, now):
        return 0
    sessions = _sessions(folder_fd)
    by_age = sorted(sessions, key=lambda name: -sessions[name][0])
    taken = 0
    for place, name in enumerate(by_age):
        written, files = sessions[name]
        age = now - written
        if age > _IN_USE and (age > keep_days * 86400 or place >= keep_sessions):
            taken += 1
            for file in files:
                with contextlib.suppress(OSError):
                    os.unlink(file, dir_fd=folder_fd)
    return taken


def _is_due(folder_fd: int, now: float) -> bool:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        last = os.stat(_STAMP, dir_fd=folder_fd, follow_symlinks=False).st_mtime
        if 0 <= now - last < _EVERY:
            return False
    except FileNotFoundError:
        pass
    stamp = os.open(_STAMP, flags, 0o600, dir_fd=folder_fd)
    try:
        os.utime(stamp, (now, now))
    finally:
        os.close(stamp)
    return True


def _sessions(folder_fd: int) -> dict[str, tuple[float, list[str]]]:
    """By name: when the last record was written, and the files, those put aside as well."""
    found: dict[str, tuple[float, list[str]]] = {}
    for name in os.listdir(folder_fd):
        base, ending, number = name.partition(_ENDING)
        if not ending or not base or not (number == "" or number[1:].isdigit()):
            continue
        try:
            status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except OSError:
            continue  # another process has taken it away
        if stat.S_ISREG(status.st_mode):
            written, files = found.get(base, (0.0, []))
            found[base] = max(written, status.st_mtime), [*files, name]
    return found
