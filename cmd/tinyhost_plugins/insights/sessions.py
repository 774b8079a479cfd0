"""Which archive each session looks at."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from .._shared.pace import Pace
from .loading import Loaded, load, stamp_of
from .options import Options

# A host may run many sessions; those that have not asked for long have to load again.
MOST_ARCHIVES = 4


class Sessions:
    """The archives of the sessions that asked last. Several threads may use it at a time."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        # Never held while an archive is read, so that no call waits for that of another.
        self._lock = Lock()

    def use(self, session: str, path: Path, pace: Pace) -> Loaded:
        """Load an archive for a session, in place of its former one. Raises ArchiveError.

        An archive that is loaded and has not changed is not read again. When reading fails, the
        session keeps the one that it had.
        """
        stamp = stamp_of(path)
        loaded = self._find(stamp) or load(path, self._options, pace.is_over)
        with self._lock:
            # Another call may have read the same one in the meantime.
            loaded = self._known(loaded.stamp) or loaded
            self._loaded[session] = loaded
            self._loaded.move_to_end(session)
            while len(self._loaded) > MOST_ARCHIVES:
                self._loaded.popitem(last=False)
        return loaded

    def current(self, session: str) -> Loaded | None:
        """The archive that a session has loaded."""
        with self._lock:
            if session in self._loaded:
                self._loaded.move_to_end(session)
            return self._loaded.get(session)

    def forget(self, session: str) -> None:
        """The session is over."""
        with self._lock:
            self._loaded.pop(session, None)

    def _find(self, stamp: tuple[str, int, int]) -> Loaded | None:
        with self._lock:
            return self._known(stamp)

    def _known(self, stamp: tuple[str, int, int]) -> Loaded | None:
        """An archive that is loaded and has not changed. Only with the lock."""
        return next((found for found in self._loaded.values() if found.stamp == stamp), None)
