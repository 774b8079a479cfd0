"""A folder for oneself alone: private copies of kubeconfigs, logins, and what oc keeps."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import stat
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from .._shared.scratch import claimed_folder
from .kubeconfig import write_private
from .oc import OcError

_PREFIX = "tinyhost-ocp-"


class Workspace:
    """Made with the first use, removed with close(). May be used by several threads."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._in_use = -1
        self._closed = False
        self._lock = threading.Lock()
        self._numbers = itertools.count()

    @property
    def folder(self) -> Path:
        """Raises OcError."""
        with self._lock:
            if self._closed:
                raise OcError("the plugin is being stopped")
            # Folders of logins and of temporary files are cleared now and then.
            if self._folder is not None and not _is_own(self._folder):
                self._let_go()
            if self._folder is None:
                try:
                    # It also removes those of processes that were killed, with the tokens in them.
                    self._folder, self._in_use = claimed_folder(_parent(), _PREFIX)
                except OSError as error:
                    raise _no_room(error) from None
            return self._folder

    @property
    def scratch(self) -> str:
        """A folder for what oc keeps. Raises OcError."""
        folder = self.folder / "oc"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _no_room(error) from None
        return str(folder)

    def fresh(self) -> Path:
        """A path that nothing is at yet. Raises OcError."""
        return self.folder / f"kubeconfig-{next(self._numbers)}"

    def certificates(self, text: str) -> str:
        """The path of a file with this text, always the same for the same text.

        Raises OcError.
        """
        # What is not ASCII is no certificate, and may be no text either.
        text = text.encode("ascii", "replace").decode("ascii")
        path = self.folder / f"ca-{hashlib.sha256(text.encode()).hexdigest()[:32]}.pem"
        with self._lock:
            if not path.exists():
                write_private(path, text)
        return str(path)

    def remove(self, path: Path) -> None:
        with suppress(OSError):
            path.unlink()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._let_go()

    def _let_go(self) -> None:
        if self._in_use >= 0:
            os.close(self._in_use)
        self._folder, self._in_use = None, -1


def _no_room(error: OSError) -> OcError:
    return OcError(f"there is no room for files: {error}")


def _parent() -> Path:
    # In memory and gone when the person logs out, where there is such a place.
    named = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    usable = named.is_absolute() and os.access(named, os.W_OK | os.X_OK)
    return named if usable else Path(tempfile.gettempdir())


def _is_own(folder: Path) -> bool:
    """Whether the folder is still there, and not another one that somebody put in its place."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
