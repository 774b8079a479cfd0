"""The calls that have begun and not ended yet, in memory."""

from __future__ import annotations

import hashlib
import json
import time
from typing import NamedTuple

from tinyhost_sdk import codec

# Calls that other plugins stop never end here; the oldest make room.
MOST_OPEN = 1000
# Arguments that are longer are taken as they are spelt: the work is part of the call.
_LONGEST_PARSED = 65536


class Begun(NamedTuple):
    """A call that has begun. began: seconds on a clock that is never set."""

    session: str
    tool: str
    args_hash: str
    began: float


class OpenCalls:
    """Finds the beginning that belongs to an end, of which hosts tell nothing but a name."""

    def __init__(self) -> None:
        self._open: list[Begun] = []

    def begin(self, session: str, tool: str, args_hash: str) -> None:
        """Remember that a call begins now."""
        del self._open[: max(0, len(self._open) - MOST_OPEN + 1)]
        self._open.append(Begun(session, tool, args_hash, time.monotonic()))

    def finish(self, session: str, tool: str, args_hash: str = "") -> Begun | None:
        """Take out the call that ends now, or None if no such call has begun.

        args_hash: of the arguments that it ran with, "" when they are not known. Of several that fit it is
        the newest one, so that calls that were stopped are never taken for later ones.
        """
        fitting = [call for call in self._open if (call.session, call.tool) == (session, tool)]
        # Without the same arguments it may be one that a plugin has rewritten since.
        found = next((call for call in reversed(fitting) if call.args_hash == args_hash), None)
        found = found or (fitting[-1] if fitting else None)
        if found:
            self._open.remove(found)
        return found

    def forget(self, session: str) -> None:
        """Drop what is left of a session."""
        self._open = [call for call in self._open if call.session != session]


def hash_of(tool_args: str) -> str:
    """16 hex digits of SHA-256 of arguments, the same for the same values in another order."""
    text = tool_args
    if len(text) <= _LONGEST_PARSED:
        try:
            text = json.dumps(codec.decode(text), sort_keys=True, separators=(",", ":"))
        except (ValueError, RecursionError):
            pass
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
