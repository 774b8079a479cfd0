"""Bingo's hook points and contributors as the host's hooks, and what they say as its answers.

The table is in docs/protocol.md. Points that tinyhost itself has no hook for are custom
events, which a host that has such moments dispatches.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import trio

from tinyhost import codec, ids
from tinyhost.errors import InvalidCall, PluginError
from tinyhost_sdk import names

from .context import Contributor, piece_text, plain_query
from .forms import read, write
from .hook_messages import (
    HookBlock,
    HookDeny,
    HookParams,
    HookRedirect,
    HookSite,
    HookValueInput,
    PayloadAfterTool,
    PayloadPhase,
    PayloadSubmit,
    PayloadTurn,
)
from .judging import Judge, decide
from .matching import Hook, wire_name
from .talk import Talk
from .types import (
    HookPoint,
    InputText,
    Origin,
    PartText,
    Phase,
    PlacementBarrier,
    ToolCall,
    ToolOutput,
)

_log = logging.getLogger(__name__)

OBSERVE = "hook/observe"
# Custom events, for the points that no hook of the host's stands for.
SUBMIT, STOP, EVENT = "prompt.submit", "turn.stop", "session.event"
TURN_START, TURN_END = "turn.start", "turn.end"
COMPACT_START, COMPACT_END = "compact.start", "compact.end"

# What the host calls for each point.
BY_POINT: Mapping[HookPoint, Sequence[str]] = {
    HookPoint.BEFORE_TOOL: (names.PERMISSION_ASK, names.TOOL_EXECUTE_BEFORE),
    HookPoint.AFTER_TOOL: (names.TOOL_EXECUTE_AFTER,),
    HookPoint.SESSION: (names.SESSION_START, names.SESSION_END),
    HookPoint.SUBMIT: (SUBMIT,),
    HookPoint.STOP: (STOP,),
    HookPoint.TURN: (TURN_START, TURN_END),
    HookPoint.COMPACT: (COMPACT_START, COMPACT_END),
    HookPoint.EVENT: (EVENT,),
}
_SESSIONS_MOST = 256  # remembered
_SURFACE = "tinyhost"

_Input = Mapping[str, Any]


class Hooks:
    """The hooks and contributors of one life of a plugin."""

    def __init__(self, talk: Talk, hooks: Sequence[Hook], sources: Sequence[Contributor]) -> None:
        self._talk = talk
        self._hooks = hooks
        self._barrier = [s for s in sources if isinstance(s.spec.placement, PlacementBarrier)]
        self._start = [s for s in sources if s not in self._barrier]
        self._judge = Judge(talk)
        self._directories: OrderedDict[str, str] = OrderedDict()
        self._handlers: Mapping[str, Callable[[_Input], Awaitable[Any]]] = {
            names.PERMISSION_ASK: self._permission,
            names.TOOL_EXECUTE_BEFORE: self._before,
            names.TOOL_EXECUTE_AFTER: self._after,
            names.SESSION_START: self._session_start,
            names.SESSION_END: self._session_end,
            SUBMIT: self._submit,
            STOP: self._stop,
            TURN_START: self._turn(Phase.START),
            TURN_END: self._turn(Phase.END),
            COMPACT_START: self._compact(Phase.START),
            COMPACT_END: self._compact(Phase.END),
            EVENT: self._event,
        }

    def declared(self) -> tuple[str, ...]:
        """The host's hooks that the plugin is to be called for."""
        points = {p for h in self._hooks for p in (h.spec.points or tuple(HookPoint))}
        found = {name: None for point in HookPoint if point in points for name in BY_POINT[point]}
        if self._barrier:
            found[names.TOOL_EXECUTE_AFTER] = None
        if found or self._start:
            # Also to know where a session works: later hooks do not say.
            found |= {names.SESSION_START: None, names.SESSION_END: None}
        return tuple(found)

    async def invoke(self, name: str, input: _Input | None) -> Any:
        """One of the host's hooks. Raises PluginError and ValueError."""
        handler = self._handlers.get(name)
        return None if handler is None else await handler(input or {})

    # --- tools

    async def _permission(self, input: _Input) -> Any:
        tool = _text(input, "toolName")
        hooks = self._taking(HookPoint.BEFORE_TOOL, tool)
        if not hooks:
            return None
        return await self._judge.ask(hooks, self._site(input), tool, _text(input, "toolArgs"))

    async def _before(self, input: _Input) -> Any:
        tool = _text(input, "toolName")
        hooks = self._taking(HookPoint.BEFORE_TOOL, tool)
        if not hooks:
            return None
        return await self._judge.before(hooks, self._site(input), tool, _text(input, "toolArgs"))

    async def _after(self, input: _Input) -> Any:
        tool = _text(input, "toolName")
        site = self._site(input)
        contexts = []
        for hook in self._taking(HookPoint.AFTER_TOOL, tool):
            payload = write(_after_payload(tool, input))
            outcome, _ = await decide(self._talk, hook, site, HookPoint.AFTER_TOOL, payload)
            if isinstance(outcome, HookBlock):
                contexts.append(f"{self._called(hook)} asks to end the turn: {outcome.reason}")
        contexts += await self._contexts(self._barrier, site)
        return {"additionalContext": contexts} if contexts else None

    # --- the session

    async def _session_start(self, input: _Input) -> Any:
        session, directory = _text(input, "sessionId"), _text(input, "directory")
        if session and directory:
            self._directories[session] = directory
            while len(self._directories) > _SESSIONS_MOST:
                self._directories.popitem(last=False)
        site = self._site(input)
        self._observe(HookPoint.SESSION, site, write(PayloadPhase(phase=Phase.START)))
        contexts = await self._contexts(self._start, site)
        return {"additionalContext": contexts} if contexts else None

    async def _session_end(self, input: _Input) -> None:
        site = self._site(input)
        self._observe(HookPoint.SESSION, site, write(PayloadPhase(phase=Phase.END)))
        self._directories.pop(site.session, None)

    async def _contexts(self, sources: Sequence[Contributor], site: HookSite) -> list[str]:
        """What contributors say, side by side; one that fails says nothing, and holds up nobody."""
        if not sources:
            return []
        texts: list[list[str]] = [[] for _ in sources]
        query = plain_query(site.session, site.cwd)

        async def ask(index: int, source: Contributor) -> None:
            try:
                pieces = await source.contribute(query)
            except (PluginError, InvalidCall) as error:
                self._failed(source, error)
            else:
                texts[index] = [text for text in map(piece_text, pieces) if text]

        async with trio.open_nursery() as nursery:
            for index, source in enumerate(sources):
                nursery.start_soon(ask, index, source)
        return [text for found in texts for text in found]

    def _failed(self, source: Contributor, error: Exception) -> None:
        text = f"contributor {self._talk.plugin}:{source.spec.id} gives nothing: {error}"
        self._talk.link.log(f"warning: {text}")
        _log.warning("%s", text)

    # --- custom events

    async def _submit(self, input: _Input) -> Any:
        """{"prompt": text} or {"input": {...}}: denied, redirected, rewritten, or None."""
        given = input.get("input")
        if given is None:
            text = InputText(text=_text(input, "prompt"), origin=Origin(surface=_SURFACE))
            given = write(text)
        first, site = given, self._site(input)
        said: dict[str, Any] = {}
        for hook in self._taking(HookPoint.SUBMIT, None):
            payload = write(read(PayloadSubmit, {"input": given})) | {"input": given}
            outcome, value = await decide(self._talk, hook, site, HookPoint.SUBMIT, payload)
            if value is not None and value.get("kind") == "input":
                read(HookValueInput, value)
                given = value["input"]  # with whatever it holds that is not known here
            if isinstance(outcome, HookDeny | HookBlock):
                return {"allowed": False, "reason": f"{self._called(hook)}: {outcome.reason}"}
            if isinstance(outcome, HookRedirect):
                said["redirect"] = outcome.session
                break
        if given != first:
            said["input"] = given
            if given.get("kind") == "text":
                said["prompt"] = given.get("text")
        return said or None

    async def _stop(self, input: _Input) -> Any:
        """Whether a turn may end: {"block": true, "reason", "surface"}, or None."""
        site = self._site(input)
        for hook in self._taking(HookPoint.STOP, None):
            outcome, _ = await decide(self._talk, hook, site, HookPoint.STOP, None)
            if isinstance(outcome, HookBlock):
                surface = f"hook:{self._talk.plugin}:{hook.spec.id}"
                return {"block": True, "reason": outcome.reason, "surface": surface}
        return None

    def _turn(self, phase: Phase) -> Callable[[_Input], Awaitable[None]]:
        async def told(input: _Input) -> None:
            turn = _text(input, "turn") or ids.new_id("trn")
            payload = {
                **write(PayloadTurn(phase=phase, turn=turn)),
                "items": input.get("items", []),
            }
            read(PayloadTurn, payload)
            self._observe(HookPoint.TURN, self._site(input), payload)

        return told

    def _compact(self, phase: Phase) -> Callable[[_Input], Awaitable[None]]:
        async def told(input: _Input) -> None:
            self._observe(HookPoint.COMPACT, self._site(input), write(PayloadPhase(phase=phase)))

        return told

    async def _event(self, input: _Input) -> None:
        self._observe(HookPoint.EVENT, self._site(input), {"frame": input.get("frame")})

    # --- all of them

    def _taking(self, point: HookPoint, tool: str | None) -> list[Hook]:
        named = None if tool is None else wire_name(tool)
        return [hook for hook in self._hooks if hook.takes(point, named)]

    def _observe(self, point: HookPoint, site: HookSite, payload: Any) -> None:
        """Tell the hooks; nothing waits for them, and those who do not read miss it."""
        for hook in self._taking(point, None):
            params = HookParams(id=hook.spec.id, site=site, point=point, payload=payload)
            self._talk.notify(OBSERVE, params)

    def _called(self, hook: Hook) -> str:
        return f"hook {self._talk.plugin}:{hook.spec.id}"

    def _site(self, input: _Input) -> HookSite:
        session = _text(input, "sessionId")
        where = _text(input, "directory") or self._directories.get(session)
        return HookSite(
            session=session,
            cwd=self._talk.directory(where or self._talk.project),
            turn=_text(input, "turn") or None,
            model=_text(input, "model") or None,
        )


def _after_payload(tool: str, input: _Input) -> PayloadAfterTool:
    args = codec.loads(_text(input, "toolArgs").encode("utf-8", "surrogatepass") or b"null")
    return PayloadAfterTool(
        call=ToolCall(call_id=ids.new_id("call"), name=wire_name(tool), input=args),
        output=ToolOutput(
            parts=(PartText(text=_text(input, "output")),), is_error=input.get("isError") is True
        ),
    )


def _text(input: _Input, key: str) -> str:
    value = input.get(key)
    return value if isinstance(value, str) else ""
