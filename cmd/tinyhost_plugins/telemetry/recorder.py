"""Follows the sessions of a host and writes down what happens in them."""

from __future__ import annotations

import sys
import time

from . import changes
from .calls import OpenCalls, hash_of
from .options import Options
from .store import Change, Store, StoreError

# Seconds that a hook waits for another process: a call must not feel it.
_CALL_WAIT, _SESSION_WAIT = 0.25, 2.0
# After a failure calls are only kept in memory for a while.
_PAUSE = 5.0
MOST_WAITING = 2000
_LONGEST_NAME = 256


class Recorder:
    """Writes each call as it ends, so that a crash loses none.

    While the database cannot be written, events wait in memory, up to MOST_WAITING of them.
    """

    def __init__(self, options: Options) -> None:
        self.store = Store(options.database)
        self._options = options
        self._calls = OpenCalls()
        self._sessions: dict[str, None] = {}
        self._waiting: list[list[Change]] = []
        self._lost = 0
        self._try_again = 0.0
        self._said = ""

    def session_start(self, session: str) -> None:
        """A session begins, or is told of again."""
        if not session:
            return
        first = not self._sessions
        session = _name(session)
        self._sessions[session] = None
        self._add(changes.start(session, _now()), _SESSION_WAIT)
        # Also where sessions never end, as of a host that is killed, old ones go.
        if first:
            self._prune()

    def before(self, session: str, tool: str, tool_args: str) -> None:
        """A call begins. Touches no file."""
        if session:
            self._calls.begin(_name(session), _name(tool), hash_of(tool_args))

    def after(self, session: str, tool: str, tool_args: str, success: bool) -> None:
        """A call has ended."""
        if not session:
            return
        ended = time.monotonic()
        session, tool = _name(session), _name(tool)
        args_hash = hash_of(tool_args) if tool_args else ""
        begun = self._calls.finish(session, tool, args_hash)
        duration = round((ended - begun.began) * 1000) if begun else None
        args_hash = args_hash or (begun.args_hash if begun else "")
        row = changes.call(session, tool, args_hash, _now(), duration, success)
        self._add(row, _CALL_WAIT if ended >= self._try_again else None)

    def session_end(self, session: str) -> None:
        """A session is over."""
        session = _name(session)
        self._sessions.pop(session, None)
        self._calls.forget(session)
        self._add(changes.end(session, _now()), _SESSION_WAIT)
        self._prune()

    def close(self) -> None:
        """The host lets go: so its sessions are over. May be called again."""
        now = _now()
        for session in self._sessions:
            self._add(changes.end(session, now), None)
        self._sessions.clear()
        self.flush(_SESSION_WAIT)
        self.store.close()

    def flush(self, wait: float) -> None:
        """Write what waits; what cannot be written waits on."""
        if self._waiting:
            every = [change for event in self._waiting for change in event]
            if self._attempt(every, wait):
                self._waiting.clear()

    def missing(self) -> str:
        """What is not in the database, in one line; "" when all is."""
        counts = {"waiting to be written": len(self._waiting), "lost": self._lost}
        parts = [f"{number} {what}" for what, number in counts.items() if number]
        return f"Events that are not in here: {', '.join(parts)}" if parts else ""

    def _add(self, event: list[Change], wait: float | None) -> None:
        """Take the changes of an event, and write unless wait is None."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(event)
        else:
            self._lost += 1
        if wait is not None:
            self.flush(wait)

    def _prune(self) -> None:
        if not self._waiting:
            options = self._options
            self._attempt(
                changes.prune(_now(), options.retention_days, options.max_calls), _CALL_WAIT
            )

    def _attempt(self, every: list[Change], wait: float) -> bool:
        try:
            self.store.write(every, wait)
        except StoreError as error:
            self._fail(error)
            return False
        self._try_again, self._said = 0.0, ""
        return True

    def _fail(self, error: StoreError) -> None:
        # A plugin that only counts must neither stop nor slow what it counts.
        self._try_again = time.monotonic() + _PAUSE
        if str(error) != self._said:
            self._said = str(error)
            print(f"telemetry: {error}. Events wait in memory.", file=sys.stderr)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _name(text: str) -> str:
    """A name as the database takes it: of limited length, and Unicode."""
    return text[:_LONGEST_NAME].encode("utf-8", "replace").decode()
