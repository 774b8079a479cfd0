"""A plugin that is a child process, whatever wire it speaks.

It starts when it is loaded. When it dies, the next call starts it again, within the limits
of `supervise`. A call whose answer was lost is never sent a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import trio

from tinyhost_sdk import names

from . import codec
from .connection import Connection
from .dialects.base import Dialect
from .errors import (
    InvalidCall,
    LoadError,
    PluginDied,
    PluginError,
    ProtocolError,
    RemoteError,
)
from .guardian import Guardian
from .handshake import shake_hands
from .launch_plan import Launch
from .link import PluginLink
from .lives import Lives, Observe
from .model import (
    CallContext,
    Counters,
    Manifest,
    PluginInfo,
    State,
    ToolResult,
    ToolSpec,
)
from .plugin import Plugin, StartedPlugin, capability_names, find_tool
from .pluginlog import PluginLog
from .process import Process, spawn
from .redaction import redact, redact_value

# Hooks by which a plugin looks at calls.
_LOOKS = (names.PERMISSION_ASK, names.TOOL_EXECUTE_BEFORE, names.TOOL_EXECUTE_AFTER)

_log = logging.getLogger(__name__)

StartTask = Callable[[Callable[[], Awaitable[None]]], None]


def _ignore(_kind: str, _plugin: Plugin, _text: str) -> None:
    pass


class ProcessPlugin(StartedPlugin):
    """See the module. `start_task` runs a coroutine function in the manager's nursery."""

    def __init__(
        self,
        id: str,
        name: str,
        launch: Launch,
        start_task: StartTask,
        guardian: Guardian,
        observe: Observe = _ignore,
    ) -> None:
        self.id = id
        self.name = name
        self.secrets = launch.secrets
        self._launch = launch
        self._start_task = start_task
        self._guardian = guardian
        self._dialect = launch.dialect()
        self._conduct = self._dialect.conduct(launch.settings.max_line)
        self._manifest = Manifest()
        self._connection: Connection | None = None
        self._link: PluginLink | None = None
        self._starting: Connection | None = None
        self._start_lock = trio.Lock()
        self._lives = Lives(self, observe, died="died", started="started")
        self._stopped = trio.Event()
        self._spawn_s = 0.0
        self._handshake_s = 0.0

    # --- what is known of it

    @property
    def info(self) -> PluginInfo:
        """A snapshot; counters are of all its lives since it was loaded."""
        live = self._live
        return PluginInfo(
            id=self.id,
            name=self.name,
            dialect=self._dialect.name,
            version=self._manifest.version,
            pid=live.process.pid if live else None,
            state=self.state,
            tools=self._manifest.tools,
            hooks=self._manifest.hooks,
            counters=self._count(live),
            path=self._launch.command[0],
            message="" if live else self._lives.last_words,
            spawn_ms=self._spawn_s * 1000,
            handshake_ms=self._handshake_s * 1000,
            limits=self._launch.settings.limits,
            confinement=self._launch.confinement,
            capabilities=capability_names(self.capabilities),
        )

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the plugin offers beyond tools and hooks, as its dialect has it."""
        return self._dialect.capabilities()

    async def revive(self) -> None:
        """Start the plugin again if it died."""
        await self._ready_link()

    def handles(self, hook: str) -> bool:
        """Whether the plugin declared the hook."""
        return hook in self._manifest.hooks

    def tool(self, name: str) -> ToolSpec:
        """The tool of that name or id. Raises ToolNotFound."""
        return find_tool(self._manifest.tools, name)

    @property
    def state(self) -> State:
        """Where the plugin is in its life."""
        if self._stopped.is_set():
            return State.STOPPED
        if self._lives.over:
            return State.STOPPING
        if self._starting is not None:
            return State.STARTING
        connection = self._connection
        ended = connection is None or connection.ended.is_set()
        if self._lives.failed or (ended and not self._conduct.restarts):
            return State.FAILED
        if connection is None or ended:
            return State.RESTARTING
        if connection.broken is not None:
            return State.WEDGED
        return State.SLOW if connection.peer.timeouts_in_row else State.READY

    @property
    def _live(self) -> Connection | None:
        connection = self._connection
        return connection if connection is not None and connection.usable else None

    def _count(self, connection: Connection | None) -> Counters:
        total = attrs.evolve(self._lives.counters)
        if connection is not None:
            total.junk_lines += connection.peer.junk_lines
            total.late_replies += connection.peer.late_replies
            total.notifications += connection.peer.notifications
            total.unsent += connection.peer.unsent
            total.stderr_dropped += connection.log.dropped
        return total

    # --- starting

    async def start(self, *, promised: Sequence[str] = ()) -> None:
        """Spawn and shake hands. Raises LoadError, and then nothing is left running.

        promised: hooks that its last life declared. A guard that comes back and wants to be
        asked nothing any more would be missed in silence.
        Raises PluginDied once the plugin is being stopped.
        """
        self._lives.refuse_when_over()
        await self._verify()
        began = trio.current_time()
        connection, dialect, link = self._begin()
        try:
            manifest = await shake_hands(dialect, link, self._launch, self._lives)
            self._refuse_to_forget(promised, manifest)
            self._manifest = manifest
        except BaseException:
            with trio.CancelScope(shield=True):
                await connection.kill()
            raise
        finally:
            self._starting = None
        self._handshake_s = trio.current_time() - began - self._spawn_s
        self._connection, self._dialect, self._link = connection, dialect, link

    def _refuse_to_forget(self, promised: Sequence[str], manifest: Manifest) -> None:
        forgotten = [hook for hook in promised if hook in _LOOKS and hook not in manifest.hooks]
        if forgotten:
            reason = (
                f"it does not declare {', '.join(forgotten)} any more, as it did before it died;"
                f" if that is as it should be: tinyhost plugin restart {self.name}"
            )
            raise LoadError(self.name, "handshake", reason, command=self._launch.command)

    @trio.lowlevel.enable_ki_protection
    def _begin(self) -> tuple[Connection, Dialect, PluginLink]:
        """Spawn, and see to it that the process is watched before a Ctrl+C can come between."""
        launch = self._launch
        began = trio.current_time()
        process = self._spawn()
        self._spawn_s = trio.current_time() - began
        dialect = launch.dialect()
        connection = Connection(
            self.name,
            process,
            self._conduct,
            PluginLog(launch.log_path, launch.secrets, self._conduct.stderr_tail),
            clean_up=lambda: self._guardian.sweep(self.id),
            on_notification=lambda message: dialect.notified(link, message),
            on_request=lambda message: dialect.requested(link, message),
            on_abandoned=lambda call: dialect.cancelled(link, call.id, call.method),
        )
        link = PluginLink(
            connection,
            launch.directory,
            launch.options,
            launch.settings.timeouts,
            self._manifest_changed,
        )
        self._start_task(partial(self._watch, connection))
        self._starting = connection
        return connection, dialect, link

    async def _verify(self) -> None:
        if self._launch.verify is None:
            return
        await self._launch.verify()
        if self._lives.over:
            raise LoadError(self.name, "resolve", "it was stopped before it was started")

    def _manifest_changed(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._lives.changed()

    def _spawn(self) -> Process:
        launch = self._launch
        env = {**launch.env, **self._guardian.marks(self.id)}
        try:
            self._guardian.start()
        except OSError as error:
            reason = f"no guardian could be started for it: {error}"
            raise LoadError(self.name, "spawn", reason, command=launch.command) from error
        process = spawn(
            self.name,
            launch.command,
            env=env,
            directory=launch.directory,
            wrapping=launch.wrapping,
        )
        self._guardian.watch(process.pid)
        return process

    @trio.lowlevel.enable_ki_protection
    async def _watch(self, connection: Connection) -> None:
        try:
            await connection.run()
        except Exception:
            # A fault of ours ends this plugin, and no other.
            _log.exception("internal error while watching plugin %s", self.name)
        self._guardian.release(connection.process.pid)
        if connection is self._connection:
            self._lives.counters = self._count(connection)
            if not self._lives.over:
                self._lives.ended(connection.death())

    async def _ready_link(self) -> PluginLink:
        link = self._link
        if link is None or not link.connection.usable:
            link = await self._start_again()
        return link

    async def _start_again(self) -> PluginLink:
        async with self._start_lock:
            if self._connection is not None and self._connection.broken is not None:
                await self._connection.ended.wait()
            if self._live is not None and self._link is not None:
                return self._link
            self._lives.refuse_too_soon(restarts=self._conduct.restarts)
            try:
                await self.start(promised=self._manifest.hooks)
            except LoadError as error:
                reason = f"could not be started again: {error}"
                self._lives.ended(PluginDied(self.name, reason))
                raise
            self._lives.began_again()
            assert self._link is not None
            return self._link

    async def restart(self) -> None:
        """Stop the process if there is one, and start anew with a clean record."""
        async with self._start_lock:
            self._lives.refuse_when_over()
            connection, self._connection = self._connection, None
            if connection is not None:
                await self._end(connection)
                self._lives.counters = self._count(connection)
            self._lives.supervisor.reset()
            await self.start()
            self._lives.began_again()

    # --- calling

    async def invoke_hook(self, name: str, input: Mapping[str, Any] | None = None) -> Any:
        """Call a hook and return the plugin's output; None is no opinion."""
        link = await self._ready_link()
        self._lives.counters.calls += 1
        try:
            return await self._dialect.invoke_hook(link, name, input)
        except (PluginError, ValueError) as error:
            failure = self._failure(f"hook {name}", error)
            if failure is error:
                raise
            raise failure from None

    async def call_tool(
        self,
        name: str,
        args: object = None,
        context: CallContext | None = None,
        *,
        on_progress: Callable[[str], None] | None = None,
    ) -> ToolResult:
        """Call a tool by its bare name or its id."""
        tool = self.tool(name)
        if context is None:
            context = CallContext(directory=self._launch.directory)
        try:
            text = codec.dumps(args)
        except (TypeError, ValueError) as error:
            raise InvalidCall(f"the arguments of {tool.id} are not JSON: {error}") from error
        link = await self._ready_link()
        self._lives.counters.calls += 1
        try:
            return await self._dialect.call_tool(link, tool, text, context, on_progress)
        except (PluginError, ValueError) as error:
            failure = self._failure(f"tool {tool.name}", error)
            if failure is error:
                raise
            raise failure from None

    def _failure(self, what: str, error: PluginError | ValueError) -> PluginError:
        """Count a failed call; an answer of the wrong form becomes a ProtocolError.

        What the plugin said is repeated without the secrets that it was given.
        """
        self._lives.count_failure(error)
        secrets = self._launch.secrets
        if isinstance(error, RemoteError):
            said = redact(error.remote_message, secrets), redact_value(error.data, secrets)
            return RemoteError(self.name, error.method, error.code, *said)
        if isinstance(error, PluginError):
            return error
        return ProtocolError(self.name, what, redact(str(error), secrets))

    # --- stopping

    @trio.lowlevel.enable_ki_protection
    async def stop(self) -> None:
        """Dispose, end-of-file, SIGTERM, SIGKILL, each within its grace; see Timeouts.stop.

        A second stop waits for the first.
        """
        with trio.CancelScope(shield=True):
            if self._lives.over:
                await self._stopped.wait()
                return
            self._lives.over = True
            try:
                if self._starting is not None:
                    await self._starting.kill()
                async with self._start_lock:  # a restart under way ends its old process first
                    if self._connection is not None:
                        await self._end(self._connection)
            finally:
                self._stopped.set()

    async def _end(self, connection: Connection) -> None:
        grace = self._launch.settings.timeouts.stop
        with trio.CancelScope(shield=True):
            if connection is self._live and self._link is not None:
                try:
                    await self._dialect.goodbye(self._link, grace)
                except (PluginError, ValueError) as error:
                    _log.debug("plugin %s did not take its leave: %s", self.name, error)
            await connection.stop(grace)
