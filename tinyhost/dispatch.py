"""Walk the plugins that declared a hook, by the hook's semantics, and combine their answers.

Plugins are walked in load order, always. One function per semantics; which hook has which
is the table's business. What a failed guard means is not decided here: a plugin that
failed has no opinion, and its failure stands in the result for the host's policy to see.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

from tinyhost_sdk import names

from . import hooks
from .errors import InvalidCall, ProtocolError
from .hooks import (
    PermissionAsk,
    PermissionOutput,
    SessionEnd,
    SessionStart,
    ShellEnv,
    ToolExecuteAfter,
    ToolExecuteBefore,
)
from .plugin import Plugin

_log = logging.getLogger(__name__)

CONTEXT_MAX = 10_000  # characters of one additionalContext string
CONTEXT_TOTAL_MAX = 50_000  # characters of all strings of one dispatch
CONTEXT_SUFFIX = "... [truncated]"


@attrs.frozen
class Answer:
    """What one plugin did: its checked output (None: no opinion) or its error.

    ms: how long it took, in milliseconds. raw: the output as the plugin sent it.
    """

    plugin: str
    id: str
    output: Any
    raw: Any
    error: Exception | None
    ms: float

    def to_json(self) -> dict[str, Any]:
        """For --json output and the journal."""
        said = {"output": self.raw} if self.error is None else {"error": str(self.error)}
        return {"name": self.plugin, **said, "ms": round(self.ms, 3)}


@attrs.frozen(kw_only=True)
class DispatchResult:
    """Who said what, in load order, and the contexts that were collected."""

    hook: str
    answers: Sequence[Answer] = ()
    contexts: Sequence[str] = ()

    @property
    def failures(self) -> Sequence[Answer]:
        """The answers that are errors."""
        return [answer for answer in self.answers if answer.error is not None]

    def output(self) -> Any:
        """The merged answer in wire form, or None when nobody had an opinion."""
        return {"additionalContext": list(self.contexts)} if self.contexts else None

    def to_json(self) -> dict[str, Any]:
        """For `hook invoke --json`."""
        return {
            "output": self.output(),
            "plugins": [answer.to_json() for answer in self.answers],
        }


@attrs.frozen(kw_only=True)
class PermissionResult(DispatchResult):
    """allowed: False when any plugin denied, True when one allowed and the others had no
    opinion, else None. ask: one wants the person asked, and none denied.

    reason and plugin are of the denial, or else of the wish to ask, that is first in load order.
    """

    allowed: bool | None = None
    ask: bool = False
    reason: str = ""
    plugin: str = ""

    def output(self) -> Any:
        """The merged answer in wire form."""
        if self.allowed is None and not self.ask:
            return None
        said = {"ask": True} if self.ask else {"allowed": self.allowed}
        return said | ({"reason": self.reason} if self.reason else {})


@attrs.frozen(kw_only=True)
class ShellEnvResult(DispatchResult):
    """env: all variables with the plugins' changes; changes: the changes alone."""

    env: Mapping[str, str]
    changes: Mapping[str, str | None]

    def output(self) -> Any:
        """The merged answer in wire form."""
        return {"env": dict(self.changes)} if self.changes else None


@attrs.frozen(kw_only=True)
class BeforeResult(DispatchResult):
    """tool_args: what the tool is to run with. blocked_by: the plugin whose error stops it."""

    tool_args: str
    rewritten: bool = False
    blocked_by: str = ""
    reason: str = ""

    def output(self) -> Any:
        """The merged answer in wire form."""
        rewritten = {"toolArgs": self.tool_args} if self.rewritten else {}
        return {**(super().output() or {}), **rewritten} or None


@attrs.frozen(kw_only=True)
class AfterResult(DispatchResult):
    """The tool's output and flag after all plugins saw it. changed: by any of them."""

    text: str
    is_error: bool
    changed: bool = False

    def output(self) -> Any:
        """The merged answer in wire form."""
        changed = {"output": self.text, "isError": self.is_error} if self.changed else {}
        return {**(super().output() or {}), **changed} or None


class Dispatcher:
    """`subscribers` gives the plugins that declared a hook, in load order."""

    def __init__(self, subscribers: Callable[[str], Sequence[Plugin]]) -> None:
        self._subscribers = subscribers

    async def session_start(self, event: SessionStart) -> DispatchResult:
        """Tell all plugins; collect their contexts."""
        return await self._notify(names.SESSION_START, event)

    async def session_end(self, event: SessionEnd) -> DispatchResult:
        """Tell all plugins."""
        return await self._notify(names.SESSION_END, event)

    async def permission_ask(self, event: PermissionAsk) -> PermissionResult:
        """Ask all plugins; any denial wins."""
        return await self._query(names.PERMISSION_ASK, event)

    async def shell_env(self, event: ShellEnv) -> ShellEnvResult:
        """Let each plugin set and unset variables."""
        return await self._accumulate(names.SHELL_ENV, event)

    async def tool_execute_before(self, event: ToolExecuteBefore) -> BeforeResult:
        """Let each plugin rewrite the arguments, or stop the call by an error."""
        return await self._gate(names.TOOL_EXECUTE_BEFORE, event)

    async def tool_execute_after(self, event: ToolExecuteAfter) -> AfterResult:
        """Let each plugin change what the tool put out."""
        return await self._chain(names.TOOL_EXECUTE_AFTER, event)

    async def dispatch(self, name: str, input: Mapping[str, Any] | None = None) -> DispatchResult:
        """Any hook by name, with its input in wire form, as `hook invoke` has it.

        A name that is not in the table is a custom event and goes to the plugins that
        declared it. Raises InvalidCall for dispose, which is the manager's, and for input
        that does not fit the hook.
        """
        if name == names.DISPOSE:
            raise InvalidCall("dispose is sent when a plugin stops, and not otherwise")
        spec = hooks.spec_of(name)
        if spec.input is None:
            return await self._notify(name, input)
        try:
            event = hooks.from_wire(spec.input, input or {})
        except ValueError as error:
            raise InvalidCall(f"the input does not fit hook {name}: {error}") from error
        walk: Any = {
            hooks.Semantics.NOTIFY: self._notify,
            hooks.Semantics.QUERY: self._query,
            hooks.Semantics.ACCUMULATE: self._accumulate,
            hooks.Semantics.GATE: self._gate,
            hooks.Semantics.CHAIN: self._chain,
        }[spec.semantics]
        result: DispatchResult = await walk(name, event)
        return result

    # --- one function per semantics

    async def _notify(self, name: str, event: Any) -> DispatchResult:
        answers = await self._ask_all(name, event)
        return DispatchResult(hook=name, answers=answers, contexts=_contexts(answers))

    async def _query(self, name: str, event: PermissionAsk) -> PermissionResult:
        answers = await self._ask_all(name, event)
        said = [(a, a.output) for a in answers if isinstance(a.output, PermissionOutput)]
        first = next((pair for pair in said if pair[1].denies), None)
        allowed: bool | None = False
        if first is None:
            first = next((pair for pair in said if pair[1].ask), None)
            allowed = True if said and first is None else None
        if first is None:
            return PermissionResult(hook=name, answers=answers, allowed=allowed)
        return PermissionResult(
            hook=name,
            answers=answers,
            allowed=allowed,
            ask=allowed is None,
            reason=first[1].reason,
            plugin=first[0].plugin,
        )

    async def _accumulate(self, name: str, event: ShellEnv) -> ShellEnvResult:
        env = dict(event.env)
        changes: dict[str, str | None] = {}
        answers = []
        for plugin in self._subscribers(name):
            answer = await _ask(plugin, name, attrs.evolve(event, env=dict(env)))
            answers.append(answer)
            if answer.output is None:
                continue
            for variable, value in answer.output.env.items():
                changes[variable] = value
                if value is None:
                    env.pop(variable, None)
                else:
                    env[variable] = value
        return ShellEnvResult(hook=name, answers=answers, env=env, changes=changes)

    async def _gate(self, name: str, event: ToolExecuteBefore) -> BeforeResult:
        answers: list[Answer] = []
        rewritten = False
        for plugin in self._subscribers(name):
            answer = await _ask(plugin, name, event)
            answers.append(answer)
            if answer.error is not None:
                return BeforeResult(
                    hook=name,
                    answers=answers,
                    tool_args=event.tool_args,
                    rewritten=rewritten,
                    blocked_by=plugin.name,
                    reason=_reason(answer.error),
                )
            if answer.output is not None and answer.output.tool_args is not None:
                event = attrs.evolve(event, tool_args=answer.output.tool_args)
                rewritten = True
        return BeforeResult(
            hook=name,
            answers=answers,
            contexts=_contexts(answers),
            tool_args=event.tool_args,
            rewritten=rewritten,
        )

    async def _chain(self, name: str, event: ToolExecuteAfter) -> AfterResult:
        answers = []
        first = event
        for plugin in self._subscribers(name):
            answer = await _ask(plugin, name, event)
            answers.append(answer)
            said = answer.output
            if said is not None and said.output is not None:
                event = attrs.evolve(event, output=said.output)
            if said is not None and said.is_error is not None:
                event = attrs.evolve(event, is_error=said.is_error)
        return AfterResult(
            hook=name,
            answers=answers,
            contexts=_contexts(answers),
            text=event.output,
            is_error=event.is_error,
            changed=event != first,
        )

    async def _ask_all(self, name: str, event: Any) -> Sequence[Answer]:
        plugins = self._subscribers(name)
        if len(plugins) <= 1:
            return [await _ask(plugin, name, event) for plugin in plugins]
        answers: list[Answer | None] = [None] * len(plugins)

        async def ask(index: int, plugin: Plugin) -> None:
            answers[index] = await _ask(plugin, name, event)

        async with trio.open_nursery() as nursery:
            for index, plugin in enumerate(plugins):
                nursery.start_soon(ask, index, plugin)
        return [answer for answer in answers if answer is not None]


async def _ask(plugin: Plugin, name: str, event: Any) -> Answer:
    """One plugin's answer. Whatever it does wrong is in the answer, not raised."""
    began = trio.current_time()
    raw, output = None, None
    error: Exception | None = None
    try:
        sent = event if event is None or isinstance(event, Mapping) else hooks.to_wire(event)
        raw = await plugin.invoke_hook(name, sent)
        output = _checked(plugin, name, raw)
    except Exception as failure:
        # A builtin is somebody else's code, too: it may raise anything.
        error = failure
    if error is not None:
        _log.warning("hook %s: %s", name, error)
    return Answer(plugin.name, plugin.id, output, raw, error, (trio.current_time() - began) * 1000)


def _checked(plugin: Plugin, name: str, raw: Any) -> Any:
    """The output in its hook's type; None is no opinion. Raises ProtocolError."""
    kind = hooks.spec_of(name).output
    if raw is None or kind is None:
        return None
    try:
        return hooks.from_wire(kind, raw)
    except ValueError as error:
        raise ProtocolError(plugin.name, f"hook {name}", str(error)) from error


def _reason(error: Exception) -> str:
    """What a gate's error says to the caller: a plugin's own words where it has any."""
    remote = getattr(error, "remote_message", None)
    return remote if isinstance(remote, str) and remote else str(error)


def _contexts(answers: Sequence[Answer]) -> Sequence[str]:
    """All contexts in load order, each cut at CONTEXT_MAX, together at CONTEXT_TOTAL_MAX."""
    contexts: list[str] = []
    room = CONTEXT_TOTAL_MAX
    for answer in answers:
        for text in getattr(answer.output, "additional_context", ()):
            if room <= 0:
                return contexts
            most = min(CONTEXT_MAX, room)
            if len(text) > most:
                text = text[:most] + CONTEXT_SUFFIX
            contexts.append(text)
            room -= len(text)
    return contexts
