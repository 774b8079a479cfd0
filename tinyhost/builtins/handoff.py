"""handoff: what a session wants the next one in the same directory to know."""

from __future__ import annotations

import logging
import os
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import trio

from .. import hooks, paths
from ..model import CallContext
from . import arguments
from .base import BuiltinPlugin, BuiltinTool, ToolFailed
from .handoff_store import Record, Store

GOAL_MAX = 2000  # characters
ITEM_MAX = 1000  # characters of one decision, task or file
ITEMS_MAX = 100  # of each kind; the oldest make room
_SESSIONS_MOST = 256  # remembered; the files of older ones are read again when needed
# Characters of each kind that a new session is told. With the goal they stay below what the
# host takes of one context, so that nothing is cut in the middle.
_SECTION_MAX = 2400
_VARIABLE = "HANDOFF_DIR"

_log = logging.getLogger(__name__)


def _list_of(what: str) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "string"},
        "description": f"{what} Added to those that were saved before.",
    }


_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "goal": {
            "type": "string",
            "description": "What the session is about. Replaces the goal saved before.",
        },
        "decisions": _list_of("What was decided, and why."),
        "openTasks": _list_of("What is left to do."),
        "filesModified": _list_of("Files that were changed."),
    },
    "additionalProperties": False,
}


@attrs.define
class _Session:
    directory: str
    record: Record | None = None  # None until something is saved or read
    unsaved: bool = False  # the last write failed


class Handoff(BuiltinPlugin):
    """Offers `handoff_save`, and tells a new session what the last one there saved.

    state_dir: the folder whose subfolder "handoff" holds the files, by default the one that
    the environment names. environ: HANDOFF_DIR in it names another folder for them; by
    default os.environ.
    """

    name = "handoff"

    def __init__(
        self,
        state_dir: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        env = os.environ if environ is None else environ
        if own := env.get(_VARIABLE):
            folder = paths.absolute(own)
        else:
            folder = Path(state_dir or paths.state_dir(env)) / "handoff"
        self._store = Store(folder)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._lock = trio.Lock()  # files are written by one thread at a time, in order

    def tools(self) -> Sequence[BuiltinTool]:
        """The one tool."""
        return (
            BuiltinTool(
                name="handoff_save",
                description="Save the goal, decisions, open tasks and modified files of this"
                " session. The next session in the same directory is told them.",
                parameters=_PARAMETERS,
                execute=self._save_tool,
            ),
        )

    async def session_start(self, event: hooks.SessionStart) -> hooks.SessionStartOutput | None:
        """Give the newest handoff of another session in the same directory."""
        if not event.directory:
            return None
        directory = await trio.to_thread.run_sync(os.path.realpath, event.directory)
        async with self._lock:
            if event.session_id:
                await self._remember(event.session_id, directory)
            found = await trio.to_thread.run_sync(self._newest, directory, event.session_id)
        if found is None:
            return None
        return hooks.SessionStartOutput(additional_context=(_told(found),))

    async def session_end(self, event: hooks.SessionEnd) -> None:
        """Write what could not be written before, and forget the session."""
        async with self._lock:
            session = self._sessions.pop(event.session_id, None)
            if session is not None:
                await self._write(session)

    async def dispose(self) -> None:
        """Write what could not be written before, of all sessions."""
        async with self._lock:
            while self._sessions:
                _, session = self._sessions.popitem()
                await self._write_or_log(session)

    async def _save_tool(self, args: Mapping[str, Any], context: CallContext) -> str:
        change = _read(args)
        if not context.session_id:
            raise ToolFailed(
                "nothing was saved: a handoff belongs to a session; this call has none"
            )
        async with self._lock:
            session = await self._session(context)
            session.record = _merged(session.record, session.directory, context, change)
            session.unsaved = True
            try:
                await self._write(session)
            except OSError as error:
                raise ToolFailed(
                    f"the handoff is not on disk yet: {self._store.folder}:"
                    f" {error.strerror or error}; it will be tried again with the next"
                    " handoff_save and when the session ends"
                ) from None
            return _confirmed(session.record)

    async def _session(self, context: CallContext) -> _Session:
        """The session with its own record, also one that was saved by an earlier run."""
        session = self._sessions.get(context.session_id)
        if session is None:
            if not context.directory:
                raise ToolFailed(
                    "nothing was saved: a handoff belongs to a directory; the session has none"
                )
            directory = await trio.to_thread.run_sync(os.path.realpath, context.directory)
            session = await self._remember(context.session_id, directory)
        self._sessions.move_to_end(context.session_id)
        if session.record is None:
            session.record = await trio.to_thread.run_sync(self._store.load, context.session_id)
        return session

    async def _remember(self, session_id: str, directory: str) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _Session(directory)
        session.directory = directory
        while len(self._sessions) > _SESSIONS_MOST:
            _, oldest = self._sessions.popitem(last=False)
            await self._write_or_log(oldest)
        return session

    async def _write(self, session: _Session) -> None:
        """Raises OSError; what was not written stays marked."""
        if session.unsaved and session.record is not None:
            await trio.to_thread.run_sync(self._store.save, session.record)
            session.unsaved = False

    async def _write_or_log(self, session: _Session) -> None:
        try:
            await self._write(session)
        except OSError as error:
            _log.error("handoff: a session's state is lost: %s: %s", self._store.folder, error)

    def _newest(self, directory: str, session_id: str) -> Record | None:
        return self._store.newest(directory, besides=session_id)


@attrs.frozen
class _Change:
    goal: str
    decisions: Sequence[str]
    open_tasks: Sequence[str]
    files_modified: Sequence[str]


def _read(args: Mapping[str, Any]) -> _Change:
    arguments.refuse_unknown(args, _PARAMETERS)
    change = _Change(
        arguments.text(args, "goal"),
        arguments.texts(args, "decisions"),
        arguments.texts(args, "openTasks"),
        arguments.texts(args, "filesModified"),
    )
    if len(change.goal) > GOAL_MAX:
        raise ToolFailed(f"goal is longer than {GOAL_MAX} characters; say it shorter")
    for item in (*change.decisions, *change.open_tasks, *change.files_modified):
        if len(item) > ITEM_MAX:
            raise ToolFailed(f"an entry is longer than {ITEM_MAX} characters: {item[:60]!r}...")
    if not any(attrs.astuple(change)):
        raise ToolFailed("nothing to save: give a goal, decisions, openTasks or filesModified")
    return change


def _merged(old: Record | None, directory: str, context: CallContext, change: _Change) -> Record:
    old = old or Record(session_id=context.session_id, directory=directory)
    return attrs.evolve(
        old,
        directory=directory,
        timestamp=time.time_ns() // 1_000_000,
        goal=change.goal or old.goal,
        decisions=_appended(old.decisions, change.decisions),
        open_tasks=_appended(old.open_tasks, change.open_tasks),
        files_modified=_appended(old.files_modified, change.files_modified),
    )


def _appended(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(item for item in dict.fromkeys((*old, *new)) if item.strip())[-ITEMS_MAX:]


def _confirmed(record: Record) -> str:
    return (
        "Handoff saved for the next session in this directory:"
        f" {'a goal' if record.goal else 'no goal'}, {len(record.decisions)} decision(s),"
        f" {len(record.open_tasks)} open task(s), {len(record.files_modified)} file(s)."
    )


def _told(record: Record) -> str:
    """What a new session reads."""
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(record.timestamp / 1000))
    parts = [f"Handoff of an earlier session in this directory, saved {when}."]
    if record.goal:
        parts.append(f"Goal: {record.goal}")
    parts += _section("Open tasks", record.open_tasks)
    parts += _section("Decisions", record.decisions)
    parts += _section("Files modified", record.files_modified)
    return "\n".join(parts)


def _section(title: str, items: Sequence[str]) -> list[str]:
    """A list of the newest items that fit."""
    if not items:
        return []
    shown: list[str] = []
    room = _SECTION_MAX
    for item in reversed(items):
        room -= len(item) + 3
        if room < 0:
            break
        shown.append(f"- {item}")
    if len(shown) < len(items):
        title += f" (the last {len(shown)} of {len(items)})"
    return [f"{title}:", *reversed(shown)]
