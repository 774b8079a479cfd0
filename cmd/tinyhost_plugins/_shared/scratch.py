"""Folders for oneself alone that are removed again, also when their process was killed.

A lock in each says, while its descriptor is open, that the folder is in use.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_LOCK = "in-use"


def claimed_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, mode 0700, and the descriptor that is to be closed when it has been removed.

    What killed processes have left in the parent under this prefix is removed first. Raises
    OSError; nothing is left then.
    """
    _sweep(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        return folder, _claim(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _claim(folder: Path) -> int:
    # It gets its name when it is locked, so nobody finds it unlocked.
    unnamed = folder / f"{_LOCK}.new"
    claim = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX)
        unnamed.rename(folder / _LOCK)
    except BaseException:
        os.close(claim)
        raise
    return claim


def _sweep(parent: Path, prefix: str) -> None:
    for lock in parent.glob(f"{prefix}*/{_LOCK}"):
        with suppress(OSError):
            claim = os.open(lock, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(claim).st_uid == os.getuid():
                    fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(claim)
