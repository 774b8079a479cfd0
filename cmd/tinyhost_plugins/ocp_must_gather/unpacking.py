"""Must-gathers that come as archives, unpacked to folders that are removed again."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from threading import Lock

from .._shared.archive import Limits, Member, extract, open_archive
from .._shared.pace import Pace
from .._shared.scratch import claimed_folder
from .options import Options

_PREFIX = "tinyhost-must-gather-"
_FILES = "files"
# Large, and no tool of this plugin looks at them.
_UNWANTED = {"audit_logs", "insights-data"}
# Seconds: unpacking takes longer than any question afterwards.
_PATIENCE = 10


class Unpacked:
    """A private folder with an archive's files. left_out: how many no tool looks at. skipped: links and the like.

    Whoever makes it holds it. The folder goes when nobody holds it any more, or `remove` is called;
    what a process has left that was killed is removed by the next one that unpacks, for a lock
    tells whether a folder is in use.
    """

    def __init__(self, archive: Path, options: Options, pace: Pace) -> None:
        """Raises ArchiveError, HandlerError and OSError; nothing is left then."""
        self._home, self._claim = claimed_folder(Path(tempfile.gettempdir()), _PREFIX)
        self.left_out = self.skipped = 0
        self._holders, self._lock = 1, Lock()
        try:
            self.folder = self._home / _FILES
            self.folder.mkdir(mode=0o700)
            self._extract(archive, options, pace)
        except BaseException:
            self.remove()
            raise

    def hold(self) -> None:
        """Keep the files until `release`. Only while somebody else holds them."""
        with self._lock:
            self._holders += 1

    def release(self) -> None:
        """Need the files no more."""
        with self._lock:
            self._holders -= 1
            is_last = not self._holders
        if is_last:
            self.remove()

    def remove(self) -> None:
        """Delete the files, whoever holds them. May be called again."""
        shutil.rmtree(self._home, ignore_errors=True)
        with self._lock:
            claim, self._claim = self._claim, -1
        if claim >= 0:
            os.close(claim)

    def _extract(self, archive: Path, options: Options, pace: Pace) -> None:
        most = options.max_unpacked_bytes
        limits = Limits(options.max_entries, most, most, options.max_seconds * _PATIENCE)

        def want(member: Member) -> bool:
            # It is here for the caller: to hear that the work goes on, and to be able to end it.
            pace.is_over(f"unpacking {archive.name}")
            pace.stopped = ""
            is_wanted = _UNWANTED.isdisjoint(member.name.split("/")[:-1])
            self.left_out += not is_wanted
            return is_wanted

        with open_archive(archive, limits) as opened:
            extract(opened, self.folder, want)
            self.skipped = opened.skipped_count
