"""A client's session with the host."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import mcp_types as types
import trio

from ...asking import Headless
from ...outcomes import Session
from ...permissions import Origin
from ...running import RunningHost
from .asking import ElicitingAsker
from .notices import DEFAULT_LEVEL

_log = logging.getLogger(__name__)


class Conversation:
    """Begun once the host is ready, at the first need; ended by `aclose`.

    level: of the log messages that the client wants.
    """

    def __init__(self, running: RunningHost) -> None:
        self.level: types.LoggingLevel = DEFAULT_LEVEL
        self.scope = trio.CancelScope()  # of what goes on beside its requests
        self._running = running
        self._lock = trio.Lock()
        self._session: Session | None = None
        self._contexts: Sequence[str] = ()

    async def session(self) -> Session:
        """The session."""
        await self._running.steady()
        async with self._lock:
            if self._session is None:
                host = self._running.host
                asker = ElicitingAsker(Headless(host.config.file))
                caller = host.caller(Origin.PROGRAM, asker)
                self._session = await host.session_start(caller=caller)
                self._contexts = self._session.contexts
            return self._session

    def take_contexts(self) -> Sequence[str]:
        """What plugins had to say when it began, the first time."""
        contexts, self._contexts = self._contexts, ()
        return contexts

    async def aclose(self) -> None:
        """End it, also while the host is being stopped.

        One that is just being begun is first: plugins that hear of its begin hear of its end.
        """
        with trio.CancelScope(shield=True):  # each plugin's hook has a deadline
            async with self._lock:
                self.scope.cancel()
                session, self._session = self._session, None
                if session is None:
                    return
                try:
                    await self._running.host.session_end(session)
                except Exception:
                    _log.exception("session %s did not end well", session.id)
