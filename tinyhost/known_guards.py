"""Which plugins are guards, remembered for the time when one of them does not load.

A plugin says in its handshake that it wants to be asked before calls. One that could not
be started has said nothing, and must not be missed in silence for that.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from . import paths, registry

_FILE = "known-guards.json"  # in the state folder: an array of names
_MAX_SIZE = 1024 * 1024  # bytes


class KnownGuards:
    """Names of plugins that declared permission.ask when they were last loaded."""

    def __init__(self, state_dir: str | os.PathLike[str]) -> None:
        self._file = Path(state_dir) / _FILE
        self._names: set[str] | None = None

    def __contains__(self, name: str) -> bool:
        entry = registry.lookup(name)
        return name in self._load() or (entry is not None and entry.guard)

    def remember(self, name: str, is_guard: bool) -> None:
        """Note what a plugin that was loaded is. A note that cannot be written is let be."""
        names = self._load()
        if (name in names) is is_guard:
            return
        names ^= {name}
        try:
            self._save(sorted(names))
        except OSError:
            pass

    def _load(self) -> set[str]:
        if self._names is None:
            self._names = self._read()
        return self._names

    def _read(self) -> set[str]:
        try:
            if self._file.stat().st_size > _MAX_SIZE:
                return set()
            names = json.loads(self._file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return set()
        return {name for name in names if isinstance(name, str)} if type(names) is list else set()

    def _save(self, names: list[str]) -> None:
        paths.make_private(self._file.parent)
        fd, path = tempfile.mkstemp(prefix=_FILE, dir=self._file.parent)
        with os.fdopen(fd, "w") as file:
            json.dump(names, file)
        os.replace(path, self._file)  # noqa: PTH105
