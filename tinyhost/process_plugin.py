"""A plugin that is a child process speaking the native wire.

It starts when it is loaded. When it dies, the next call starts it again, within the limits
of `supervise`. A call whose answer was lost is never sent a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

from tinyhost_sdk import names, wire

from . import codec
from .call import Call
from .connection import Connection
from .dialects import native
from .errors import (
    CallTimeout,
    InvalidCall,
    LoadError,
    PluginDied,
    PluginError,
    ProtocolError,
    RemoteError,
)
from .guardian import Guardian
from .model import (
    CallContext,
    Counters,
    Manifest,
    PluginInfo,
    PluginSettings,
    State,
    ToolResult,
    ToolSpec,
)
from .plugin import Plugin, find_tool
from .pluginlog import PluginLog
from .process import Process, spawn
from .supervise import BREAKER_WINDOW, Supervisor

_log = logging.getLogger(__name__)

StartTask = Callable[[Callable[[], Awaitable[None]]], None]
# Called with "died" or "restarted", the plugin, and what happened in words.
Observe = Callable[[str, Plugin, str], None]


def _ignore(_kind: str, _plugin: Plugin, _text: str) -> None:
    pass


@attrs.frozen(kw_only=True)
class Launch:
    """All that is needed to start one plugin's process, any number of times."""

    command: Sequence[str]
    env: Mapping[str, str]
    directory: str
    options: Mapping[str, Any]
    settings: PluginSettings
    log_path: str | None = None
    secrets: Sequence[str] = ()


class ProcessPlugin(Plugin):
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
        self._launch = launch
        self._start_task = start_task
        self._guardian = guardian
        self._observe = observe
        self._manifest = Manifest()
        self._connection: Connection | None = None
        self._starting: Connection | None = None
        self._start_lock = trio.Lock()
        self._supervisor = Supervisor()
        self._counters = Counters()
        self._last_death: PluginDied | None = None
        self._stopping = False
        self._stopped = False
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
            dialect=native.NAME,
            version=self._manifest.version,
            pid=live.process.pid if live else None,
            state=self.state,
            tools=self._manifest.tools,
            hooks=self._manifest.hooks,
            counters=self._count(live),
            path=self._launch.command[0],
            message=self._message(),
            spawn_ms=self._spawn_s * 1000,
            handshake_ms=self._handshake_s * 1000,
        )

    def handles(self, hook: str) -> bool:
        """Whether the plugin declared the hook."""
        return hook in self._manifest.hooks

    def tool(self, name: str) -> ToolSpec:
        """The tool of that name or id. Raises ToolNotFound."""
        return find_tool(self._manifest.tools, name)

    @property
    def state(self) -> State:
        """Where the plugin is in its life."""
        if self._stopped:
            return State.STOPPED
        if self._stopping:
            return State.STOPPING
        if self._starting is not None:
            return State.STARTING
        if self._supervisor.failed:
            return State.FAILED
        connection = self._connection
        if connection is None or connection.ended.is_set():
            return State.RESTARTING
        if connection.broken is not None:
            return State.WEDGED
        return State.SLOW if connection.peer.timeouts_in_row else State.READY

    @property
    def _live(self) -> Connection | None:
        connection = self._connection
        if connection is None or connection.ended.is_set() or connection.broken is not None:
            return None
        return connection

    def _count(self, connection: Connection | None) -> Counters:
        total = attrs.evolve(self._counters)
        if connection is not None:
            total.junk_lines += connection.peer.junk_lines
            total.late_replies += connection.peer.late_replies
        return total

    def _message(self) -> str:
        if self._last_death is None or self._live is not None:
            return ""
        text = str(self._last_death)
        return f"{text}\n{self._way_out()}" if self._supervisor.failed else text

    def _way_out(self) -> str:
        deaths = self._supervisor.recent_deaths(trio.current_time())
        return (
            f"It died {deaths} times within {BREAKER_WINDOW:g} s and is not started again by"
            f" itself. To try once more: tinyhost plugin restart {self.name}"
        )

    # --- starting

    async def start(self) -> None:
        """Spawn and shake hands. Raises LoadError, and then nothing is left running."""
        launch = self._launch
        began = trio.current_time()
        process = self._spawn()
        self._spawn_s = trio.current_time() - began
        connection = Connection(
            self.name,
            process,
            native.rules(launch.settings.max_line),
            PluginLog(launch.log_path, launch.secrets),
            clean_up=lambda: self._guardian.sweep(self.id),
            on_notification=lambda message: self._notified(connection, message),
            on_abandoned=lambda call: self._cancel_remotely(connection, call),
        )

        async def watch() -> None:
            await self._watch(connection)

        self._start_task(watch)
        self._starting = connection
        try:
            self._manifest = await self._shake_hands(connection)
        except BaseException:
            with trio.CancelScope(shield=True):
                await connection.kill()
            raise
        finally:
            self._starting = None
        self._handshake_s = trio.current_time() - began - self._spawn_s
        self._connection = connection

    def _spawn(self) -> Process:
        launch = self._launch
        env = {**launch.env, **self._guardian.marks(self.id)}
        process = spawn(self.name, launch.command, env=env, directory=launch.directory)
        try:
            self._guardian.watch(process.pid)
        except OSError as error:
            process.discard()
            reason = f"no guardian could be started for it: {error}"
            raise LoadError(self.name, "spawn", reason, command=launch.command) from error
        return process

    async def _shake_hands(self, connection: Connection) -> Manifest:
        peer = connection.peer
        peer.max_line_out = names.MAX_LINE_TO_PLUGIN
        try:
            params = native.encode_initialize(self._launch.directory, self._launch.options)
            result = await peer.call(
                names.INITIALIZE, params, timeout=self._launch.settings.timeouts.handshake
            )
            manifest = native.read_manifest(self.name, result)
        except (PluginError, ValueError, TypeError) as error:
            raise await self._failed_handshake(connection, error) from error
        if connection.ended.is_set() or self._stopping:
            raise await self._failed_handshake(connection, connection.death())
        peer.concurrency = manifest.concurrency
        peer.max_line_out = manifest.max_line
        return manifest

    async def _failed_handshake(self, connection: Connection, error: Exception) -> LoadError:
        status = connection.process.status
        with trio.CancelScope(shield=True):
            await connection.kill()
        return LoadError(
            self.name,
            "handshake",
            _explain_handshake(error, connection, self._launch.settings.timeouts.handshake),
            command=self._launch.command,
            status=status,
            stderr=connection.log.tail,
        )

    async def _watch(self, connection: Connection) -> None:
        try:
            await connection.run()
        except Exception:
            # A fault of ours ends this plugin, and no other.
            _log.exception("internal error while watching plugin %s", self.name)
        self._guardian.release(connection.process.pid)
        if connection is self._connection:
            self._counters = self._count(connection)
            if not self._stopping:
                self._died(connection.death())

    def _died(self, death: PluginDied) -> None:
        self._last_death = death
        self._counters.deaths += 1
        self._supervisor.record_death(trio.current_time())
        _log.warning("%s", death)
        self._observe("died", self, str(death))

    async def _ensure_live(self) -> Connection:
        return self._live or await self._start_again()

    async def _start_again(self) -> Connection:
        async with self._start_lock:
            if self._connection is not None and self._connection.broken is not None:
                await self._connection.ended.wait()
            live = self._live
            if live is not None:
                return live
            self._refuse_restart()
            try:
                await self.start()
            except LoadError as error:
                self._died(PluginDied(self.name, f"could not be started again: {error}"))
                raise
            self._restarted()
            assert self._connection is not None
            return self._connection

    def _restarted(self) -> None:
        self._counters.restarts += 1
        self._observe("restarted", self, "")

    def _refuse_restart(self) -> None:
        if self._stopping:
            raise PluginDied(self.name, "was stopped")
        death = self._last_death
        assert death is not None
        if self._supervisor.failed:
            raise PluginDied(self.name, death.status, stderr=death.stderr, hint=self._way_out())
        wait = self._supervisor.wait(trio.current_time())
        if wait > 0:
            hint = f"It may be started again in {wait:.1f} s."
            raise PluginDied(self.name, death.status, stderr=death.stderr, hint=hint)

    async def restart(self) -> None:
        """Stop the process if there is one, and start anew with a clean record."""
        async with self._start_lock:
            if self._stopping:
                raise PluginDied(self.name, "was stopped")
            connection, self._connection = self._connection, None
            if connection is not None:
                await self._end(connection)
            self._supervisor.reset()
            await self.start()
            self._restarted()

    # --- calling

    async def invoke_hook(self, name: str, input: Mapping[str, Any] | None = None) -> Any:
        """Call a hook and return the plugin's output; None is no opinion."""
        try:
            params = native.encode_hook(name, input)
        except (TypeError, ValueError) as error:
            raise InvalidCall(f"the input of hook {name} is not JSON: {error}") from error
        result = await self._call(
            names.HOOK_INVOKE, params, hook=True, timeout=self._launch.settings.timeouts.hook
        )
        try:
            return native.decode_hook(result)
        except ValueError as error:
            raise self._bad_answer(f"hook {name}", error) from error

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
            params = native.encode_tool(tool.name, codec.dumps(args), context)
        except (TypeError, ValueError) as error:
            raise InvalidCall(f"the arguments of {tool.id} are not JSON: {error}") from error
        timeouts = self._launch.settings.timeouts
        result = await self._call(
            names.TOOL_CALL,
            params,
            timeout=timeouts.tool,
            cap=timeouts.tool_cap,
            on_progress=on_progress,
        )
        try:
            return native.decode_tool(result)
        except ValueError as error:
            raise self._bad_answer(f"tool {tool.name}", error) from error

    async def _call(
        self,
        method: str,
        params: str,
        *,
        timeout: float,
        cap: float = 0.0,
        hook: bool = False,
        on_progress: Callable[[str], None] | None = None,
    ) -> Any:
        connection = self._live or await self._ensure_live()
        self._counters.calls += 1
        try:
            return await connection.peer.call(
                method, params, timeout=timeout, cap=cap, hook=hook, on_progress=on_progress
            )
        except CallTimeout as error:
            if error.busy:
                self._counters.busy += 1
            else:
                self._counters.timeouts += 1
            raise
        except PluginError:
            self._counters.errors += 1
            raise

    def _bad_answer(self, what: str, error: ValueError) -> ProtocolError:
        self._counters.errors += 1
        return ProtocolError(self.name, what, str(error))

    def _notified(self, connection: Connection, message: wire.Notification) -> None:
        if message.method == names.TOOL_PROGRESS and self._manifest.progress:
            params = message.params
            if type(params) is dict:
                text = params.get("message")
                connection.peer.extend(params.get("id"), text if type(text) is str else "")

    def _cancel_remotely(self, connection: Connection, call: Call) -> None:
        if self._manifest.cancel and call.method == names.TOOL_CALL:
            connection.peer.notify(names.TOOL_CANCEL, codec.dumps({"id": call.id}))

    # --- stopping

    async def stop(self) -> None:
        """Dispose, end-of-file, SIGTERM, SIGKILL, each within its grace; see Timeouts.stop."""
        if self._stopping:
            return
        self._stopping = True
        with trio.CancelScope(shield=True):
            if self._starting is not None:
                await self._starting.kill()
            if self._connection is not None:
                await self._end(self._connection)
        self._stopped = True

    async def _end(self, connection: Connection) -> None:
        grace = self._launch.settings.timeouts.stop
        with trio.CancelScope(shield=True):
            if names.DISPOSE in self._manifest.hooks and connection is self._live:
                await self._dispose(connection, grace)
            await connection.stop(grace)

    async def _dispose(self, connection: Connection, grace: float) -> None:
        timeout = min(self._launch.settings.timeouts.hook, grace)
        params = native.encode_hook(names.DISPOSE, None)
        try:
            await connection.peer.call(
                names.HOOK_INVOKE, params, timeout=timeout, hook=True, at_once=True
            )
        except PluginError as error:
            _log.debug("dispose of plugin %s failed: %s", self.name, error)


def _explain_handshake(error: Exception, connection: Connection, seconds: float) -> str:
    if isinstance(error, PluginDied):
        return "it ended before it answered initialize"
    if isinstance(error, CallTimeout):
        text = f"no answer to initialize within {seconds:g} s"
        junk = connection.peer.last_junk
        if junk is not None:
            head = junk.head[:80].decode(errors="replace")
            text += f"; standard output is for the protocol alone, but it wrote {head!r}"
        return text
    if isinstance(error, RemoteError):
        return f"it refused to initialize: error {error.code}: {error.remote_message}"
    return str(error)
