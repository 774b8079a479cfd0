"""The sessions of a host, from their start to their end."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from .asking import SessionGrants
from .attendance import Attendance
from .dispatch import Dispatcher
from .hooks import SessionEnd
from .manager import Manager
from .outcomes import Session
from .plugin import Plugin
from .recorder import Recorder


class Sessions:
    """Those that have begun and not ended. grants: what the person allowed in each."""

    def __init__(
        self,
        manager: Manager,
        dispatcher: Dispatcher,
        attendance: Attendance,
        recorder: Recorder,
        grants: SessionGrants,
    ) -> None:
        self._manager, self._dispatcher = manager, dispatcher
        self._attendance, self._recorder, self._grants = attendance, recorder, grants
        self._by_id: dict[str, Session] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(self._by_id.values())

    def get(self, session_id: str) -> Session | None:
        """The session of that id, where there is one."""
        return self._by_id.get(session_id)

    def observed(self, event: str, plugin: Plugin, text: str) -> None:
        """Something happened to a plugin, which concerns them all; see Manager.observers."""
        self._attendance.observed(event, plugin)
        for session_id in self._by_id:
            self._recorder.plugin(session_id, event, plugin, text)

    async def start(self, session: Session) -> Session:
        """Begin it: plugins are told, and what they have to say is in the one returned.

        One whose start is broken off is over.
        """
        self._by_id[session.id] = session
        self._recorder.session_start(session.id, session.directory, self._manager.plugins)
        try:
            contexts = await self._attendance.begin(session.id, session.directory)
        except BaseException:
            self._forget(session)
            raise
        session = attrs.evolve(session, contexts=tuple(contexts))
        self._by_id[session.id] = session
        return session

    async def end(self, session: Session) -> None:
        """End it: plugins are told, and it is forgotten whatever comes of that."""
        try:
            await self._attendance.greet(session.id)
            result = await self._dispatcher.session_end(SessionEnd(session_id=session.id))
            self._recorder.hook(session.id, result)
        finally:
            self._forget(session)

    def _forget(self, session: Session) -> None:
        self._recorder.session_end(session.id)
        self._by_id.pop(session.id, None)
        self._attendance.end(session.id)
        self._grants.forget(session.id)
