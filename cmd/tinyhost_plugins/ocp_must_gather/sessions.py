"""Which must-gather each session looks at."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from .._shared.must_gather import Limits, MustGather, MustGatherError, open_must_gather
from .._shared.pace import Pace
from .options import Options
from .unpacking import Unpacked

# A host may run many sessions; those that have not asked for long have to load again.
MOST_SESSIONS = 4
# Path, size and time of change, by which a changed archive is told.
_Stamp = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """given: the path that was asked for. unpacked: where an archive went, None for a folder."""

    given: Path
    mg: MustGather
    unpacked: Unpacked | None = None
    stamp: _Stamp | None = None


class Sessions:
    """The must-gathers of the sessions that asked last."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._limits = Limits(options.max_file_bytes, options.max_entries)
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()

    def use(self, session: str, path: Path, pace: Pace) -> Loaded:
        """Load a must-gather for a session, in place of its former one.

        An archive that is unpacked already and has not changed is not unpacked again. Raises
        MustGatherError, ArchiveError, HandlerError, OSError and RuntimeError; the session then
        keeps what it had.
        """
        if path.is_file():
            loaded = self._archive(path, pace)
        else:
            loaded = Loaded(path, open_must_gather(path, self._limits))
        former = list(self._loaded.values())
        self._loaded[session] = loaded
        self._loaded.move_to_end(session)
        while len(self._loaded) > MOST_SESSIONS:
            self._loaded.popitem(last=False)
        self._remove_unused(former)
        return loaded

    def current(self, session: str) -> Loaded | None:
        """The must-gather that a session has loaded."""
        if session in self._loaded:
            self._loaded.move_to_end(session)
        return self._loaded.get(session)

    def forget(self, session: str) -> None:
        """The session is over."""
        former = list(self._loaded.values())
        self._loaded.pop(session, None)
        self._remove_unused(former)

    def close(self) -> None:
        """Remove everything that was unpacked."""
        former = list(self._loaded.values())
        self._loaded.clear()
        self._remove_unused(former)

    def _archive(self, path: Path, pace: Pace) -> Loaded:
        found = path.stat()
        stamp = (str(path.resolve()), found.st_size, found.st_mtime_ns)
        for loaded in self._loaded.values():
            # Folders of temporary files are cleared now and then.
            if loaded.stamp == stamp and loaded.mg.root.is_dir():
                return loaded
        unpacked = Unpacked(path, self._options, pace)
        try:
            gather = open_must_gather(unpacked.folder, self._limits)
        except MustGatherError as error:
            unpacked.remove()
            # The person knows the archive, and not the folder that is gone again.
            raise MustGatherError(str(error).replace(str(unpacked.folder), str(path))) from None
        return Loaded(path, gather, unpacked, stamp)

    def _remove_unused(self, former: list[Loaded]) -> None:
        used = [loaded.unpacked for loaded in self._loaded.values()]
        for loaded in former:
            if loaded.unpacked is not None and loaded.unpacked not in used:
                loaded.unpacked.remove()
