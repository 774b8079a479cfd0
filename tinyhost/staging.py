"""Putting a file or folder in its place so that it is whole there at every moment.

What is new is copied beside the place under a name with a dot in front, made durable, and then
exchanged with what is there in one step of the file system. Where a system has no such step,
the old is moved aside first; a later run moves it back if this one ended in between. Names of
work under way begin with ".tinyhost-", are no plugin's, and are cleaned up by the next run.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence

import attrs

OnStep = Callable[[str], None]

_NEW, _OLD, _GONE = ".tinyhost-new.", ".tinyhost-old.", ".tinyhost-removed."
_CHUNK = 1024 * 1024


class Busy(Exception):
    """Another process is at work in the folder."""


class Changed(Exception):
    """What is copied changed meanwhile, or is not what it was taken for: `path`, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}")


@attrs.frozen
class Item:
    """A file or folder to be copied. name: its path below the whole; "" for the whole."""

    name: str
    is_folder: bool
    mode: int


def _ignore(_step: str) -> None:
    pass


@contextlib.contextmanager
def opened(folder: str, on_step: OnStep = _ignore) -> Iterator[Stage]:
    """Lock a folder, making it first, and clean up what an earlier run has left there.

    on_step is called with a few words before each thing that is done. Raises Busy and OSError.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        stage = Stage(folder, handle, on_step)
        stage.clean_up()
        yield stage
    finally:
        os.close(handle)


class Stage:
    """The work on one locked folder; made by `opened`. Names are of entries of the folder."""

    def __init__(self, folder: str, handle: int, on_step: OnStep) -> None:
        self.folder = folder
        self._handle = handle
        self._step = on_step

    def path(self, name: str) -> str:
        """Where an entry is, or would be."""
        return f"{self.folder}/{name}"

    def copy(self, source: str, name: str, items: Sequence[Item]) -> str:
        """Copy a file or folder, durably, to where it can be looked at; return that path.

        items: what there is to copy, each folder before what is in it. Of modes, what lets
        others write is left out. Raises OSError and Changed, and then nothing is left.
        """
        staged = self.path(_NEW + name)
        try:
            for item in items:
                self._step(f"copy {item.name}")
                self._copy_one(_below(source, item.name), _below(staged, item.name), item)
            for item in reversed(items):
                if item.is_folder:
                    self._step(f"sync {item.name}")
                    _seal_folder(_below(staged, item.name), item.mode)
        except BaseException:
            _delete(staged)
            raise
        return staged

    def _copy_one(self, source: str, target: str, item: Item) -> None:
        if item.is_folder:
            os.mkdir(target, 0o700)  # noqa: PTH102
        else:
            _copy_file(source, target, item.mode)

    def drop(self, staged: str) -> None:
        """Delete what was copied."""
        _delete(staged)

    def put(self, staged: str, name: str) -> None:
        """Move what was copied to a place that is free. Raises OSError; see copy."""
        try:
            self._step("put")
            if os.path.lexists(self.path(name)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path(name))
            os.rename(staged, self.path(name))  # noqa: PTH104
        except BaseException:
            _delete(staged)
            raise
        self._sync()

    def exchange(self, staged: str, name: str, *, at_once: bool = True) -> None:
        """Put what was copied in the place of what is there. Raises OSError; see copy.

        at_once: use the system's own step for it where there is one.
        """
        try:
            self._step("exchange")
            done = at_once and _swap(staged, self.path(name))
            if not done:
                self._exchange_in_two_steps(staged, name)
        except BaseException:
            _delete(staged)
            raise
        self._sync()
        self._step("delete the old one")
        _delete(staged if done else self.path(_OLD + name))

    def _exchange_in_two_steps(self, staged: str, name: str) -> None:
        aside = self.path(_OLD + name)
        os.rename(self.path(name), aside)  # noqa: PTH104
        try:
            self._step("exchange, second half")
            os.rename(staged, self.path(name))  # noqa: PTH104
        except BaseException:
            os.rename(aside, self.path(name))  # noqa: PTH104
            raise

    def _sync(self) -> None:
        """Make the change durable. It is made, so a failure here must not look like none."""
        self._step("sync the folder")
        with contextlib.suppress(OSError):
            os.fsync(self._handle)

    def remove(self, name: str) -> None:
        """Take an entry away, and then delete it. Raises OSError when it stays in place."""
        gone = self.path(_GONE + name)
        self._step("remove")
        os.rename(self.path(name), gone)  # noqa: PTH104
        self._sync()
        self._step("delete what was removed")
        _delete(gone)

    def clean_up(self) -> None:
        """Finish or undo what a run that was ended has begun."""
        for entry in sorted(os.listdir(self.folder)):  # noqa: PTH208
            if entry.startswith(_OLD) and not os.path.lexists(self.path(entry[len(_OLD) :])):
                os.rename(self.path(entry), self.path(entry[len(_OLD) :]))  # noqa: PTH104
            elif entry.startswith((_NEW, _OLD, _GONE)):
                _delete(self.path(entry))


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if name else folder


def _copy_file(source: str, target: str, mode: int) -> None:
    # Without O_NONBLOCK, opening a named pipe would wait for its other end.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(source, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Changed(source, "has become a link") from None
        raise
    with open(handle, "rb") as original:  # noqa: PTH123
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Changed(source, "is not a regular file any more")
        left = status.st_size
        new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(new, "wb") as copy:  # noqa: PTH123
            while data := original.read(_CHUNK):
                left -= len(data)
                if left < 0:
                    raise Changed(source, "grows while it is copied")
                copy.write(data)
            copy.flush()
            os.fchmod(new, mode & 0o755 | 0o600)
            os.fsync(new)


def _seal_folder(path: str, mode: int) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fchmod(handle, mode & 0o755 | 0o700)
        os.fsync(handle)
    finally:
        os.close(handle)


def _delete(path: str) -> None:
    """What cannot be deleted now is left to the next run."""
    if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108


def _swap(one: str, other: str) -> bool:
    """Exchange two entries in one step; False where the system cannot. Raises OSError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    at_cwd, exchange = -100, 2
    try:
        if sys.platform == "darwin":
            status = libc.renamex_np(first, second, ctypes.c_uint(exchange))
        else:
            status = libc.renameat2(at_cwd, first, at_cwd, second, ctypes.c_uint(exchange))
    except AttributeError:
        return False
    if status == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), other)
