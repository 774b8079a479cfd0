"""context-pruning: a tool's output that the session has just seen is not given once more.

Only output that is the same to the last character is replaced, so what the note stands for
is never out of date. Kept are digests and numbers, not outputs.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import OrderedDict
from collections.abc import Mapping

from .. import hooks
from .base import BuiltinPlugin

WINDOW = 20  # calls
SHORTEST = 500  # characters; below, a note saves too little
_WINDOW_MOST = 1000  # bounds what one session remembers
_SESSIONS_MOST = 256
_VARIABLE = "CONTEXT_PRUNE_THRESHOLD"

_log = logging.getLogger(__name__)


class ContextPruning(BuiltinPlugin):
    """Replaces a repeated output by a note that says how many calls ago it was given.

    environ: CONTEXT_PRUNE_THRESHOLD in it, a whole number above 0, is how many calls back a
    note may point; by default os.environ.
    """

    name = "context-pruning"

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._window = _window(os.environ if environ is None else environ)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def tool_execute_after(
        self, event: hooks.ToolExecuteAfter
    ) -> hooks.ToolExecuteAfterOutput | None:
        """Count the call; answer with a note when its output is a repetition."""
        if not event.session_id:
            # Without a session nobody knows who has seen what.
            return None
        ago = self._session(event.session_id).calls_since_same(event, self._window)
        if not ago:
            return None
        calls = "1 call ago" if ago == 1 else f"{ago} calls ago"
        note = (
            f"[same output as {event.tool_name} gave {calls}: {len(event.output)} characters,"
            " unchanged and not repeated here]"
        )
        return hooks.ToolExecuteAfterOutput(output=note)

    async def session_end(self, event: hooks.SessionEnd) -> None:
        """Forget the session."""
        self._sessions.pop(event.session_id, None)

    async def dispose(self) -> None:
        """Forget all sessions."""
        self._sessions.clear()

    def _session(self, session_id: str) -> _Session:
        session = self._sessions.pop(session_id, None) or _Session()
        self._sessions[session_id] = session
        if len(self._sessions) > _SESSIONS_MOST:
            self._sessions.popitem(last=False)
        return session


class _Session:
    """Which outputs were given in full, and by which call, within the window."""

    def __init__(self) -> None:
        self._calls = 0
        self._given: OrderedDict[bytes, int] = OrderedDict()  # by age, oldest first

    def calls_since_same(self, event: hooks.ToolExecuteAfter, window: int) -> int:
        """How many calls ago the same output was given in full; 0 when it was not."""
        self._calls += 1
        while self._given and self._calls - next(iter(self._given.values())) > window:
            self._given.popitem(last=False)
        if len(event.output) < SHORTEST:
            return 0
        # A repetition does not count as given: notes always point at the full text.
        digest = _digest(event)
        return self._calls - self._given.setdefault(digest, self._calls)


def _digest(event: hooks.ToolExecuteAfter) -> bytes:
    parts = (event.tool_name, "\0", "error" if event.is_error else "", "\0", event.output)
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogatepass")).digest()


def _window(environ: Mapping[str, str]) -> int:
    given = environ.get(_VARIABLE, "").strip()
    if not given:
        return WINDOW
    if given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0:
        return min(int(given), _WINDOW_MOST)
    _log.warning("%s is not a whole number above 0; using %d", _VARIABLE, WINDOW)
    return WINDOW
