"""Which must-gather each session looks at."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from .._shared.must_gather import Limits, MustGather, MustGatherError, open_must_gather
from .._shared.must_gather_tree import Tree
from .._shared.pace import Pace
from .options import Options
from .unpacking import Unpacked

# A host may run many sessions; those that have not asked for long have to load again.
MOST_SESSIONS = 4
# Path, size and time of change, by which a changed archive is told.
_Stamp = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """given: the path that was asked for. unpacked: where an archive went, None for a folder.

    Its files stay for as long as somebody holds it: sessions, and calls that are under way.
    """

    given: Path
    mg: MustGather
    unpacked: Unpacked | None = None
    stamp: _Stamp | None = None

    def for_call(self, is_over: Callable[[str], bool], *, opening: bool = False) -> MustGather:
        """The must-gather for one call, since others may ask at the same time: with a time of its
        own, and faults of what it reads itself. opening: and of what was found when it was opened.
        """
        mg = copy.copy(self.mg)
        mg.tree = Tree(mg.root, mg.limits.entries, is_over=is_over)
        if opening:
            mg.tree.faults, mg.tree.fault_count = dict(self.mg.faults), self.mg.tree.fault_count
        return mg

    def hold(self) -> None:
        if self.unpacked is not None:
            self.unpacked.hold()

    def release(self) -> None:
        """Let go of it. The last one to do so removes what was unpacked."""
        if self.unpacked is not None:
            self.unpacked.release()


class Sessions:
    """The must-gathers of the sessions that asked last. Several threads may use it at a time."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._limits = Limits(options.max_file_bytes, options.max_entries)
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        # Each load that is under way and its session, which may end meanwhile.
        self._loading: set[tuple[str, object]] = set()
        # Never held while files are unpacked or removed, so that no call waits for that of another.
        self._lock = Lock()

    def use(self, session: str, path: Path, pace: Pace) -> Loaded:
        """Load a must-gather for a session, in place of its former one. The caller releases it.

        An archive that is unpacked already and has not changed is not unpacked again. Raises
        MustGatherError, ArchiveError, HandlerError, OSError and RuntimeError; the session then
        keeps what it had.
        """
        mark = (session, object())
        with self._lock:
            self._loading.add(mark)
        try:
            loaded = self._load(path, pace)
        except BaseException:
            with self._lock:
                self._loading.discard(mark)
            raise
        with self._lock:
            lasts = mark in self._loading
            self._loading.discard(mark)
            former = self._keep(session, loaded) if lasts else [loaded]
        for unused in former:
            unused.release()
        if not lasts:
            raise MustGatherError(f"the session has ended before {path} was loaded")
        return loaded

    def current(self, session: str) -> Loaded | None:
        """The must-gather that a session has loaded. The caller releases it."""
        with self._lock:
            loaded = self._loaded.get(session)
            if loaded is not None:
                self._loaded.move_to_end(session)
                loaded.hold()
            return loaded

    def forget(self, session: str) -> None:
        """The session is over."""
        with self._lock:
            loaded = self._loaded.pop(session, None)
            self._loading = {mark for mark in self._loading if mark[0] != session}
        if loaded is not None:
            loaded.release()

    def close(self) -> None:
        """Remove everything that was unpacked, whoever holds it."""
        with self._lock:
            former = list(self._loaded.values())
            self._loaded.clear()
            self._loading.clear()
        for loaded in former:
            if loaded.unpacked is not None:
                loaded.unpacked.remove()

    def _keep(self, session: str, loaded: Loaded) -> list[Loaded]:
        """Give it to the session; what is to be released for it. Only with the lock."""
        former = [self._loaded.pop(session)] if session in self._loaded else []
        loaded.hold()
        self._loaded[session] = loaded
        while len(self._loaded) > MOST_SESSIONS:
            former.append(self._loaded.popitem(last=False)[1])
        return former

    def _load(self, path: Path, pace: Pace) -> Loaded:
        if path.is_file():
            return self._archive(path, pace)
        return Loaded(path, open_must_gather(path, self._limits))

    def _archive(self, path: Path, pace: Pace) -> Loaded:
        found = path.stat()
        stamp = (str(path.resolve()), found.st_size, found.st_mtime_ns)
        with self._lock:
            for loaded in self._loaded.values():
                # Folders of temporary files are cleared now and then.
                if loaded.stamp == stamp and loaded.mg.root.is_dir():
                    loaded.hold()
                    return loaded
        unpacked = Unpacked(path, self._options, pace)
        try:
            gather = open_must_gather(unpacked.folder, self._limits)
        except MustGatherError as error:
            unpacked.remove()
            # The person knows the archive, and not the folder that is gone again.
            raise MustGatherError(str(error).replace(str(unpacked.folder), str(path))) from None
        return Loaded(path, gather, unpacked, stamp)
