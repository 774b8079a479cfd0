"""A plugin that is a child process, whatever wire it speaks.

It starts when it is loaded. When it dies, the next call starts it again, within the limits
of `supervise`. A call whose answer was lost is never sent a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

from . import codec
from .connection import Connection
from .dialects.base import Dialect
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
from .link import PluginLink
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
# Called with "died", "restarted" or "changed", the plugin, and what happened in words.
Observe = Callable[[str, Plugin, str], None]


def _ignore(_kind: str, _plugin: Plugin, _text: str) -> None:
    pass


@attrs.frozen(kw_only=True)
class Launch:
    """All that is needed to start one plugin's process, any number of times.

    verify: called in a thread before each start; raises LoadError when the plugin's files are
    not what they should be.
    """

    dialect: Callable[[], Dialect]
    command: Sequence[str]
    env: Mapping[str, str]
    directory: str
    options: Mapping[str, Any]
    settings: PluginSettings
    log_path: str | None = None
    secrets: Sequence[str] = ()
    verify: Callable[[], None] | None = None


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
        self._dialect = launch.dialect()
        self._conduct = self._dialect.conduct(launch.settings.max_line)
        self._manifest = Manifest()
        self._connection: Connection | None = None
        self._link: PluginLink | None = None
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
            dialect=self._dialect.name,
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
        connection = self._connection
        ended = connection is None or connection.ended.is_set()
        if self._supervisor.failed or (ended and not self._conduct.restarts):
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
        await self._verify()
        began = trio.current_time()
        process = self._spawn()
        self._spawn_s = trio.current_time() - began
        dialect = launch.dialect()
        connection = Connection(
            self.name,
            process,
            self._conduct,
            PluginLog(launch.log_path, launch.secrets),
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

        async def watch() -> None:
            await self._watch(connection)

        self._start_task(watch)
        self._starting = connection
        try:
            self._manifest = await self._shake_hands(connection, dialect, link)
        except BaseException:
            with trio.CancelScope(shield=True):
                await connection.kill()
            raise
        finally:
            self._starting = None
        self._handshake_s = trio.current_time() - began - self._spawn_s
        self._connection, self._dialect, self._link = connection, dialect, link

    async def _verify(self) -> None:
        if self._launch.verify is None:
            return
        await trio.to_thread.run_sync(self._launch.verify)
        if self._stopping:
            raise LoadError(self.name, "resolve", "it was stopped before it was started")

    def _manifest_changed(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._observe("changed", self, "")

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

    async def _shake_hands(
        self, connection: Connection, dialect: Dialect, link: PluginLink
    ) -> Manifest:
        try:
            manifest = await dialect.handshake(link)
        except (PluginError, ValueError, TypeError) as error:
            raise await self._failed_handshake(connection, error) from error
        if connection.ended.is_set() or self._stopping:
            raise await self._failed_handshake(connection, connection.death())
        link.handshake_done()
        connection.peer.concurrency = manifest.concurrency
        if manifest.max_line:
            connection.peer.max_line_out = manifest.max_line
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

    async def _start_again(self) -> PluginLink:
        async with self._start_lock:
            if self._connection is not None and self._connection.broken is not None:
                await self._connection.ended.wait()
            if self._live is not None and self._link is not None:
                return self._link
            self._refuse_restart()
            try:
                await self.start()
            except LoadError as error:
                self._died(PluginDied(self.name, f"could not be started again: {error}"))
                raise
            self._restarted()
            assert self._link is not None
            return self._link

    def _restarted(self) -> None:
        self._counters.restarts += 1
        self._observe("restarted", self, "")

    def _refuse_restart(self) -> None:
        if self._stopping:
            raise PluginDied(self.name, "was stopped")
        death = self._last_death
        assert death is not None
        if not self._conduct.restarts:
            hint = "It is not started again by itself, and nothing was sent."
            raise PluginDied(self.name, death.status, stderr=death.stderr, hint=hint)
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
        link = self._link
        if link is None or not link.connection.usable:
            link = await self._start_again()
        self._counters.calls += 1
        try:
            return await self._dialect.invoke_hook(link, name, input)
        except (PluginError, ValueError) as error:
            failure = self._failure(f"hook {name}", error)
            if failure is error:
                raise
            raise failure from error

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
        link = self._link
        if link is None or not link.connection.usable:
            link = await self._start_again()
        self._counters.calls += 1
        try:
            return await self._dialect.call_tool(link, tool, text, context, on_progress)
        except (PluginError, ValueError) as error:
            failure = self._failure(f"tool {tool.name}", error)
            if failure is error:
                raise
            raise failure from error

    def _failure(self, what: str, error: PluginError | ValueError) -> PluginError:
        """Count a failed call; an answer of the wrong form becomes a ProtocolError."""
        if isinstance(error, CallTimeout):
            if error.busy:
                self._counters.busy += 1
            else:
                self._counters.timeouts += 1
            return error
        self._counters.errors += 1
        if isinstance(error, PluginError):
            return error
        return ProtocolError(self.name, what, str(error))

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
            if connection is self._live and self._link is not None:
                try:
                    await self._dialect.goodbye(self._link, grace)
                except (PluginError, ValueError) as error:
                    _log.debug("plugin %s did not take its leave: %s", self.name, error)
            await connection.stop(grace)


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
