"""Files that are whole at every moment, and changed by one process at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_LOOK = 0.002  # seconds between two tries of a lock


def replace(target: Path, data: bytes, status: os.stat_result | None = None) -> None:
    """Write a file beside the target and move it there; a crash leaves the old one whole.

    status: of the file that is replaced, whose mode and owner are kept; without one the file
    is for its owner alone. Raises OSError.
    """
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123 (a descriptor, not a path)
            stream.write(data)
            stream.flush()
            if status:
                os.fchmod(handle, stat.S_IMODE(status.st_mode))
                if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(PermissionError):
                        os.fchown(handle, status.st_uid, status.st_gid)
            os.fsync(handle)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def locked(folder: Path, patience: float = 30.0) -> Iterator[None]:
    """Keep other tinyhost processes from changing files in the same folder meanwhile.

    patience: seconds to wait for another's change. Raises OSError.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock_within(handle, patience)
        yield
    finally:
        os.close(handle)


def _lock_within(handle: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        # Looked at before the try: if this process stood still, the lock may be free by now.
        last = time.monotonic() >= deadline
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if last:
                reason = "another process is changing files beside it, and does not end"
                raise BlockingIOError(errno.EWOULDBLOCK, reason) from None
        time.sleep(_LOOK)
