"""Who has been told of which session: each plugin once, before anything else of the session.

Most are told when it starts. One that joins later, because it was loaded or started anew
since, is told before the next hook or call of the session. A plugin that dies just then, and
is started again by the very call that follows, hears of the session after that call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import trio

from tinyhost_sdk import names

from .dispatch import Answer, Dispatcher, DispatchResult
from .errors import CallTimeout, PluginDied
from .hooks import SessionStart
from .model import State
from .plugin import Plugin

Subscribers = Callable[[str], Sequence[Plugin]]


@attrs.define(eq=False)
class _Roll:
    """One session. told: plugin id -> the life in which it was told."""

    event: SessionStart
    told: dict[str, int] = attrs.field(factory=dict)
    contexts: list[str] = attrs.field(factory=list)  # not handed out yet
    lock: trio.Lock = attrs.field(factory=trio.Lock)
    seen: int = -1  # how many changes there had been when all had been told


class Attendance:
    """`subscribers` gives the plugins that declared a hook; record gets what was dispatched."""

    def __init__(
        self, subscribers: Subscribers, record: Callable[[str, DispatchResult], None]
    ) -> None:
        self._subscribers = subscribers
        self._record = record
        self._rolls: dict[str, _Roll] = {}
        self._lives: dict[str, int] = {}  # plugin id -> how often it died or was restarted
        self._changes = 0

    def observed(self, event: str, plugin: Plugin) -> None:
        """Something happened to a plugin; see Manager.observers."""
        self._changes += 1
        if event in ("died", "restarted"):
            self._lives[plugin.id] = self._lives.get(plugin.id, 0) + 1
        elif event == "unloaded":
            self._lives.pop(plugin.id, None)

    async def begin(self, session_id: str, directory: str) -> Sequence[str]:
        """A session starts: tell all, and give what they had to say."""
        self._rolls[session_id] = _Roll(SessionStart(session_id=session_id, directory=directory))
        await self.greet(session_id)
        return self.take_contexts(session_id)

    def end(self, session_id: str) -> None:
        """A session is over."""
        self._rolls.pop(session_id, None)

    async def greet(self, session_id: str) -> None:
        """Tell those who have not been told. Nothing is done for a session that never began."""
        roll = self._rolls.get(session_id)
        if roll is None or roll.seen == self._changes:
            return
        async with roll.lock:
            changes = self._changes
            late = [p for p in self._subscribers(names.SESSION_START) if self._is_late(p, roll)]
            if late:
                await self._tell(late, roll)
            if changes == self._changes and not any(self._is_late(p, roll) for p in late):
                roll.seen = changes

    def _is_late(self, plugin: Plugin, roll: _Roll) -> bool:
        # One that has failed is not worth a try before each call: its restart is noticed.
        told = roll.told.get(plugin.id) == self._lives.get(plugin.id, 0)
        return not told and plugin.state is not State.FAILED

    async def _tell(self, plugins: Sequence[Plugin], roll: _Roll) -> None:
        result = await Dispatcher(lambda _: plugins).session_start(roll.event)
        self._record(roll.event.session_id, result)
        roll.contexts += result.contexts
        for answer in result.answers:
            if _was_heard(answer):
                roll.told[answer.id] = self._lives.get(answer.id, 0)

    def take_contexts(self, session_id: str) -> Sequence[str]:
        """What plugins had to say when they were told; each text is given out once."""
        roll = self._rolls.get(session_id)
        if roll is None or not roll.contexts:
            return ()
        contexts, roll.contexts = roll.contexts, []
        return contexts


def _was_heard(answer: Answer) -> bool:
    error = answer.error
    if isinstance(error, CallTimeout):
        return not error.busy
    return not isinstance(error, PluginDied)
