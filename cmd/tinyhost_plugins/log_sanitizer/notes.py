"""Which notes a session has had, so that it is not told the same again and again."""

from __future__ import annotations

_MAX_SESSIONS = 256


class Notes:
    """Remembers the classes that each of the last 256 sessions was told about."""

    def __init__(self) -> None:
        self._told: dict[str, set[str]] = {}

    def new(self, session: str, labels: set[str]) -> bool:
        """Whether one of the classes is new to the session. They are not from now on."""
        told = self._told.pop(session, set())
        is_new = not labels <= told
        # The session that was used last is the last to be forgotten.
        self._told[session] = told | labels
        if len(self._told) > _MAX_SESSIONS:
            del self._told[next(iter(self._told))]
        return is_new
