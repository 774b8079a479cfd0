"""What an in-process plugin is written against.

A subclass sets `name`, overrides the hooks it wants, and lists its tools. It may use every
hook. The host treats it as it treats a child process: deadlines apply, its errors are
caught and reported, and nothing that it raises reaches a caller as anything but an error
of this plugin.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

from tinyhost_sdk import names

from .. import hooks
from ..codec import RawJson, loads
from ..errors import CallTimeout, InvalidCall, PluginDied
from ..model import CallContext, Counters, PluginInfo, State, Timeouts, ToolResult, ToolSpec
from ..names import tool_id
from ..plugin import Plugin

_log = logging.getLogger(__name__)

_METHODS: Mapping[str, str] = {
    names.SESSION_START: "session_start",
    names.SESSION_END: "session_end",
    names.PERMISSION_ASK: "permission_ask",
    names.SHELL_ENV: "shell_env",
    names.TOOL_EXECUTE_BEFORE: "tool_execute_before",
    names.TOOL_EXECUTE_AFTER: "tool_execute_after",
    names.DISPOSE: "dispose",
}


@attrs.frozen(kw_only=True)
class BuiltinTool:
    """A tool of an in-process plugin.

    parameters: JSON Schema of the arguments. execute gets the arguments, an object, and the
    context; it returns the content, or a ToolResult. What it raises becomes an error result.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    execute: Callable[[Mapping[str, Any], CallContext], Awaitable[str | ToolResult]]
    permission: str | None = None


class ToolFailed(Exception):
    """Raised by a builtin's tool to say in plain words why it could not do its work."""


class BuiltinPlugin(Plugin):
    """Base of in-process plugins; see the module."""

    name: str = ""
    version: str = ""
    timeouts: Timeouts = Timeouts()

    def __init__(self) -> None:
        self.id = ""  # given by the host
        self._counters = Counters()
        self._stopped = False

    def tools(self) -> Sequence[BuiltinTool]:
        """The tools that the plugin offers; always the same."""
        return ()

    def events(self) -> Mapping[str, Callable[[Any], Awaitable[Any]]]:
        """Custom events that the plugin listens to, and what is called with their input."""
        return {}

    async def session_start(self, event: hooks.SessionStart) -> hooks.SessionStartOutput | None:
        """A session begins."""

    async def session_end(self, event: hooks.SessionEnd) -> None:
        """A session ends."""

    async def permission_ask(self, event: hooks.PermissionAsk) -> hooks.PermissionOutput | None:
        """A tool wants to run: allow, deny or have no opinion."""

    async def shell_env(self, event: hooks.ShellEnv) -> hooks.ShellEnvOutput | None:
        """A command is about to run: change its environment."""

    async def tool_execute_before(
        self, event: hooks.ToolExecuteBefore
    ) -> hooks.ToolExecuteBeforeOutput | None:
        """A tool is about to run: rewrite its arguments, or raise to stop it."""

    async def tool_execute_after(
        self, event: hooks.ToolExecuteAfter
    ) -> hooks.ToolExecuteAfterOutput | None:
        """A tool ran: see and change what it put out."""

    async def dispose(self) -> None:
        """The host is done with the plugin. Called once."""

    # --- the Plugin interface

    @property
    def info(self) -> PluginInfo:
        """A snapshot of the plugin."""
        return PluginInfo(
            id=self.id,
            name=self.name,
            dialect="builtin",
            version=self.version,
            pid=None,
            state=self.state,
            tools=[self._spec(tool) for tool in self.tools()],
            hooks=self._declared(),
            counters=attrs.evolve(self._counters),
        )

    @property
    def state(self) -> State:
        """A builtin is ready until it is stopped."""
        return State.STOPPED if self._stopped else State.READY

    def _spec(self, tool: BuiltinTool) -> ToolSpec:
        return ToolSpec(
            id=tool_id(self.name, tool.name),
            name=tool.name,
            plugin=self.name,
            description=tool.description,
            input_schema=tool.parameters,
            permission=tool.permission,
        )

    def _declared(self) -> Sequence[str]:
        own = [
            hook
            for hook, method in _METHODS.items()
            if getattr(type(self), method) is not getattr(BuiltinPlugin, method)
        ]
        return [*own, *self.events()]

    async def invoke_hook(self, name: str, input: Mapping[str, Any] | None = None) -> Any:
        """Call the hook's method with its typed event; give back its answer's wire form."""
        self._refuse_when_stopped()
        return await self._within(f"hook {name}", self.timeouts.hook, self._run_hook(name, input))

    async def _run_hook(self, name: str, input: Mapping[str, Any] | None) -> Any:
        custom = self.events().get(name)
        if custom is not None:
            return await custom(input)
        method = getattr(self, _METHODS[name]) if name in _METHODS else None
        if method is None:
            return None
        kind = hooks.spec_of(name).input
        if kind is None:
            return await method()
        output = await method(hooks.from_wire(kind, input or {}))
        return None if output is None else hooks.to_wire(output)

    async def call_tool(
        self,
        name: str,
        args: object = None,
        context: CallContext | None = None,
        *,
        on_progress: Callable[[str], None] | None = None,  # noqa: ARG002
    ) -> ToolResult:
        """Call a tool by its bare name or its id."""
        self._refuse_when_stopped()
        spec = self.tool(name)
        tool = next(tool for tool in self.tools() if tool.name == spec.name)
        if isinstance(args, RawJson):
            args = loads(args.encode())
        if args is None:
            args = {}
        if not isinstance(args, Mapping):
            raise InvalidCall(f"the arguments of {spec.id} are not an object")
        running = tool.execute(args, context or CallContext())
        try:
            result = await self._within(f"tool {tool.name}", self.timeouts.tool, running)
        except ToolFailed as error:
            return ToolResult(str(error), is_error=True)
        except CallTimeout:
            raise
        except Exception as error:
            _log.exception("builtin %s: tool %s failed", self.name, tool.name)
            return ToolResult(f"{type(error).__name__}: {error}", is_error=True)
        return ToolResult(result) if isinstance(result, str) else result

    async def _within(self, what: str, seconds: float, running: Awaitable[Any]) -> Any:
        self._counters.calls += 1
        try:
            with trio.fail_after(seconds):
                return await running
        except trio.TooSlowError:
            self._counters.timeouts += 1
            raise CallTimeout(self.name, what, seconds, sent=True) from None
        except Exception:
            self._counters.errors += 1
            raise

    def _refuse_when_stopped(self) -> None:
        if self._stopped:
            raise PluginDied(self.name, "was stopped")

    async def stop(self) -> None:
        """Dispose, once, in bounded time."""
        if self._stopped:
            return
        self._stopped = True
        with trio.move_on_after(self.timeouts.stop, shield=True):
            try:
                await self.dispose()
            except Exception:
                _log.exception("builtin %s failed to dispose", self.name)
