"""Which plugins are guards, remembered for the time when one of them does not load.

A plugin says in its handshake that it wants to be asked before calls. One that could not
be started has said nothing, and must not be missed in silence for that.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import atomic, paths, registry

_FILE = "known-guards.json"  # in the state folder: an array of names
_MAX_SIZE = 1024 * 1024  # bytes
_PATIENCE = 0.5  # seconds for another host's note; the whole host waits meanwhile


class KnownGuards:
    """Names of plugins that declared permission.ask when they were last loaded.

    The file is read anew each time, as other hosts note theirs in it. While it cannot be read
    nobody knows which plugins are guards, and each may be one.
    """

    def __init__(self, state_dir: str | os.PathLike[str]) -> None:
        self._file = Path(state_dir) / _FILE
        self._noted: dict[str, bool] = {}  # by this process, also where it could not be written
        self._lost = False  # the file was found damaged

    def __contains__(self, name: str) -> bool:
        entry = registry.lookup(name)
        if entry is not None and entry.guard:
            return True
        names = self._read()
        return self._noted.get(name, self._lost or name in names)

    def remember(self, name: str, is_guard: bool) -> None:
        """Note what a plugin that was loaded is. A note that cannot be written is let be."""
        self._noted[name] = is_guard
        if (name in self._read()) is is_guard:
            return
        try:
            paths.make_private(self._file.parent)
            with atomic.locked(self._file.parent, _PATIENCE):
                names = self._read()
                names = names | {name} if is_guard else names - {name}
                atomic.replace(self._file, json.dumps(sorted(names)).encode())
        except OSError:
            pass

    def _read(self) -> set[str]:
        try:
            with self._file.open("rb") as file:
                data = file.read(_MAX_SIZE + 1)
            names = json.loads(data) if len(data) <= _MAX_SIZE else None
        except (FileNotFoundError, NotADirectoryError):
            return set()
        except (OSError, ValueError, RecursionError):
            names = None
        if type(names) is not list:
            self._lost = True
            return set()
        return {name for name in names if isinstance(name, str)}
