"""Which archive each session looks at."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from .._shared.pace import Pace
from .loading import Loaded, load, stamp_of
from .options import Options

# A host may run many sessions; those that have not asked for long have to load again.
MOST_ARCHIVES = 4


class Sessions:
    """The archives of the sessions that asked last."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()

    def use(self, session: str, path: Path, pace: Pace) -> Loaded:
        """Load an archive for a session, in place of its former one. Raises ArchiveError.

        An archive that is loaded and has not changed is not read again. When reading fails, the
        session keeps the one that it had.
        """
        stamp = stamp_of(path)
        known = (found for found in self._loaded.values() if found.stamp == stamp)
        loaded = next(known, None) or load(path, self._options, pace.is_over)
        self._loaded[session] = loaded
        self._loaded.move_to_end(session)
        while len(self._loaded) > MOST_ARCHIVES:
            self._loaded.popitem(last=False)
        return loaded

    def current(self, session: str) -> Loaded | None:
        """The archive that a session has loaded."""
        if session in self._loaded:
            self._loaded.move_to_end(session)
        return self._loaded.get(session)

    def forget(self, session: str) -> None:
        """The session is over."""
        self._loaded.pop(session, None)
