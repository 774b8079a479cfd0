"""A host that keeps running: what every surface offers of it, as JSON values.

Surfaces (the control socket, HTTP, MCP) translate; what is done, and what it looks like as
JSON, is here.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import trio

from .config import Config
from .dispatch import Dispatcher, DispatchResult
from .errors import (
    ConfigError,
    InvalidCall,
    NotLoaded,
    PluginNotFound,
    PluginSkipped,
    TinyhostError,
)
from .events import EventBus
from .hooks import HOOKS
from .host import Host
from .journal_records import hook_fields
from .layers import notices
from .manager import Loaded
from .model import PluginInfo, PluginSpec
from .opening import set_shell_hooks
from .outcomes import Caller, Session
from .plugin import Plugin, StartedPlugin
from .present import loaded_value, plugin_value
from .reload import plan
from .stats import Latencies, usage

_log = logging.getLogger(__name__)

_SESSIONS = 256  # that clients began and have not ended


class RunningHost:
    """host: one that is open. reread: reads its configuration anew, from where it was read.

    addresses: where it can be reached, by surface; each surface adds its own.
    ready: set once the configuration's plugins are loaded or have failed. Before that no
    surface lets a call through; see steady, as a guard may not be there yet.
    drains: called when the host is to stop; each takes nothing new for a surface, and returns
    once everything that was asked of it has been answered.
    reload_listeners: told true when a reload begins, and false when it has ended.
    """

    def __init__(self, host: Host, reread: Callable[[], Config]) -> None:
        self.host = host
        self.events = EventBus()
        self.addresses: dict[str, str] = {}
        self.ready = trio.Event()
        self.drains: list[Callable[[], Awaitable[None]]] = []
        self.reload_listeners: list[Callable[[bool], None]] = []
        self.started = time.time()
        self._reread = reread
        self._failed: dict[str, Loaded] = {}
        self._latencies = Latencies()
        self._cleaner = host.cleaner
        self._changing = trio.Lock()
        self._stopping = trio.Event()
        self._reloading = trio.CancelScope()
        self._swapping: trio.Event | None = None  # while a reload starts plugins anew
        self._begun: dict[str, Session] = {}  # by clients; the longest unused comes first
        host.manager.observers.append(self._observed)
        host.manager.offers.listeners.append(self._noticed)
        host.record_listeners.append(self._recorded)

    # --- what happens

    def _recorded(self, session_id: str, kind: str, fields: Mapping[str, Any]) -> None:
        self._latencies.record(kind, fields)
        if kind in ("load", "exit"):  # which come once, from _observed, not by session
            return
        self.events.publish(kind, self._cleaner.fields(fields), session_id)
        if session_id in self._begun:
            session = self._begun.pop(session_id)
            if (kind, fields.get("event")) != ("session", "end"):
                self._begun[session_id] = session

    def _observed(self, event: str, plugin: Plugin, text: str) -> None:
        if event == "unloaded":
            self._latencies.forget(plugin.name)
            if not self.stopping:  # which is told as a whole
                _log.info("plugin %s unloaded", plugin.name)
        fields = {"plugin": plugin.name, "id": plugin.id, "event": event, "text": text}
        self.events.publish("plugin", self._cleaner.fields(fields))

    def _noticed(self, plugin: str, level: str, text: str) -> None:
        fields = {"plugin": plugin, "level": level, "text": text}
        self.events.publish("notice", self._cleaner.fields(fields))

    # --- looking

    def status(self) -> dict[str, Any]:
        """Everything at a glance. Times are seconds, `started` since the epoch."""
        host = self.host
        project = host.config.project
        _, lost = host.missing_records()
        return {
            "pid": os.getpid(),
            "config": host.config.file,
            "project": project.root if project else None,
            "directory": host.directory,
            "started": round(self.started, 3),
            "ready": self.ready.is_set(),
            "uptimeSeconds": round(time.time() - self.started, 3),
            "addresses": dict(self.addresses),
            "sessions": len(host.sessions),
            "events": self.events.last,
            "problems": [*map(str, host.problems), *([lost] if lost else [])],
            "notices": notices(host.config),
            "plugins": self.plugins(),
            "failed": self.failed(),
        }

    def plugins(self) -> list[dict[str, Any]]:
        """Every loaded plugin, in load order, with how it fares."""
        return [self._plugin(info) for info in self.host.manager.list()]

    def plugin(self, id_or_name: str) -> dict[str, Any]:
        """One of them. Raises PluginNotFound."""
        return self._plugin(self.host.manager.get(id_or_name).info)

    def _plugin(self, info: PluginInfo) -> dict[str, Any]:
        fares = {**self._latencies.value(info.name), **usage(info.pid)}
        return {**plugin_value(info), "stats": fares}

    def failed(self) -> list[dict[str, Any]]:
        """The plugins that should be loaded and are not, each with its error."""
        return [loaded_value(result) for result in self._failed.values()]

    @property
    def missing(self) -> Sequence[Loaded]:
        """Those that calls go without; not what somebody merely tried to load by hand."""
        wanted = [name for name in self._failed if self._configured(name) or self.host.misses(name)]
        return [self._failed[name] for name in wanted]

    async def steady(self) -> None:
        """Return when the plugins are there: loaded at the start, and started anew by a reload.

        Whoever calls meanwhile waits, rather than be told that a tool or a guard is not there.
        """
        await self.ready.wait()
        while self._swapping is not None:
            await self._swapping.wait()

    # --- sessions

    def begun(self, session_id: str) -> bool:
        """Whether a session of that id has begun and not ended."""
        return any(session.id == session_id for session in self.host.sessions)

    async def session_start(
        self, directory: str, session_id: str | None = None, caller: Caller | None = None
    ) -> Session:
        """Begin a session that whoever asked for it is to end; see Host.session_start.

        An agent that is killed never ends its own. Where there are too many, those that have
        not been used for longest are ended; what is done in them later is still judged.
        """
        session = await self.host.session_start(directory, session_id, caller)
        self._begun[session.id] = session
        while len(self._begun) > _SESSIONS:
            oldest = self._begun.pop(next(iter(self._begun)))
            await self.host.session_end(oldest)
        return session

    async def invoke_hook(
        self,
        name: str,
        input: Mapping[str, Any] | None = None,
        plugins: Sequence[str] | None = None,
    ) -> DispatchResult:
        """Call a hook of all plugins, or of these alone; see Dispatcher.dispatch.

        Raises NotLoaded for one that is not there: its silence would look like consent.
        """
        there = {plugin.name for plugin in self.host.manager.plugins}
        if missing := [plugin for plugin in plugins or () if plugin not in there]:
            raise NotLoaded(missing)

        def subscribers(hook: str) -> Sequence[Plugin]:
            found = self.host.manager.with_hook(hook)
            return found if plugins is None else [p for p in found if p.name in plugins]

        result = await Dispatcher(subscribers).dispatch(name, input)
        if result.answers:
            self._recorded("", "hook", hook_fields(result))
        return result

    async def event(self, name: str, session_id: str = "", data: Any = None) -> DispatchResult:
        """Tell of an event of a program's own, and the plugins that declared it.

        They get {"event", "sessionId", "data"}. Raises InvalidCall for the name of a hook:
        those are called by the host, when what they are about happens.
        """
        if name in HOOKS:
            raise InvalidCall(f"{name} is the name of a hook, and no event of a program's own")
        fields = {"event": name, "data": data}
        self.events.publish("event", self._cleaner.fields(fields), session_id)
        return await self.invoke_hook(name, {**fields, "sessionId": session_id})

    # --- plugins come and go

    async def load_all(
        self,
        specs: Sequence[PluginSpec] | None = None,
        *,
        on_done: Callable[[Loaded], None] | None = None,
    ) -> list[dict[str, Any]]:
        """Load the configuration's plugins, or these; what became of each."""
        async with self._changing:
            return [loaded_value(result) for result in await self._load(specs, on_done)]

    async def _load(
        self,
        specs: Sequence[PluginSpec] | None,
        on_done: Callable[[Loaded], None] | None = None,
    ) -> list[Loaded]:
        def done(result: Loaded) -> None:
            if result.error is not None:
                _log.error("%s", result.error)
            else:
                _log.info("plugin %s loaded after %.0f ms", result.spec.name, result.seconds * 1000)
            if on_done is not None:
                on_done(result)

        results = await self.host.load_all(specs, on_done=done)
        for result in results:
            self._note(result)
        return results

    def _note(self, result: Loaded) -> None:
        name, error = result.spec.name, result.error
        loaded = any(plugin.name == name for plugin in self.host.manager.plugins)
        if loaded or isinstance(error, PluginSkipped):
            self._failed.pop(name, None)
        elif error is not None:
            # A name that nothing is known of is nobody's plugin that is missing.
            unknown = isinstance(error, PluginNotFound | InvalidCall)
            if not unknown or self._configured(name) or self.host.misses(name):
                self._failed[name] = result
            fields = {"plugin": name, "event": "failed", "text": str(error)}
            self.events.publish("plugin", self._cleaner.fields(fields))

    def _configured(self, name: str) -> bool:
        return any(spec.name == name for spec in self.host.config.specs)

    async def load(self, spec: PluginSpec) -> dict[str, Any]:
        """Load one plugin. Raises what Manager.load_spec raises."""
        async with self._changing:
            [result] = await self._load([spec])
            if result.error is not None:
                raise result.error
            return self.plugin(spec.name)

    async def unload(self, id_or_name: str) -> None:
        """Unload a plugin, or give up one that failed to load. Raises PluginNotFound."""
        async with self._changing:
            if self._failed.pop(id_or_name, None) is not None:
                self.host.dismiss(id_or_name)
                return
            plugin = self._started(id_or_name, "unloaded")
            self.host.dismiss(plugin.name)
            await self.host.manager.unload(plugin.id)

    async def restart(self, id_or_name: str) -> dict[str, Any]:
        """End a plugin and start it anew with a clean record, or try to load a failed one again.

        Raises PluginNotFound, and LoadError when it does not come up.
        """
        async with self._changing:
            failed = self._failed.get(id_or_name)
            if failed is not None:
                [result] = await self._load([failed.spec])
                if result.error is not None:
                    raise result.error
                return self.plugin(id_or_name)
            plugin = self._started(id_or_name, "restarted")
            await plugin.restart()
            return self._plugin(plugin.info)

    def _started(self, id_or_name: str, what: str) -> StartedPlugin:
        try:
            plugin = self.host.manager.get(id_or_name)
        except PluginNotFound as error:
            if self._failed:
                error.add_note(f"Not loaded: {', '.join(self._failed)}.")
            raise
        if not isinstance(plugin, StartedPlugin):
            raise InvalidCall(f"{plugin.name} is built in and cannot be {what}")
        return plugin

    # --- the whole

    async def reload(self) -> dict[str, Any]:
        """Read the configuration anew, and change what has changed in it.

        Plugins that were loaded by hand stay. Raises ConfigError, and then nothing changes.
        One that has begun is done to its end, also when nobody waits for it any more, unless
        the host stops.
        """
        async with self._changing:
            for listener in self.reload_listeners:
                listener(True)
            try:
                with trio.CancelScope(shield=not self.stopping) as self._reloading:
                    done = await self._reload()
            except TinyhostError as error:
                _log.error("not reloaded: %s", error)
                raise
            finally:
                for listener in self.reload_listeners:
                    listener(False)
        _tell(done)
        return done

    async def _read(self) -> Config:
        try:
            # What is never read to its end must not hold up a stop.
            new = await trio.to_thread.run_sync(self._reread, abandon_on_cancel=True)
        except OSError as error:  # such as a current folder that was deleted
            file = self.host.config.file
            raise ConfigError(f"the configuration cannot be read: {error}", file=file) from error
        if self.host.config.exists and not new.exists:
            # Perhaps just being replaced. Without it no rule and no guard would be left.
            reason = "it is gone, so nothing was changed; bring it back, if only as {}"
            raise ConfigError(reason, file=new.file)
        return new

    async def _reload(self) -> dict[str, Any]:
        new = await self._read()
        plugins = self.host.manager.plugins
        # What is built in stays, whether the configuration names it or not.
        loaded = {plugin.name for plugin in plugins if isinstance(plugin, StartedPlugin)}
        todo = plan(self.host.config, new, loaded)
        self.host.reconfigure(new)
        set_shell_hooks(self.host, new)
        for name in self._failed.keys() - {spec.name for spec in new.specs}:
            del self._failed[name]
            self.host.dismiss(name)
        for spec in todo.load:
            self.host.expect(spec.name)
        self._swapping = trio.Event() if todo.restart else None
        try:
            await self._swap(todo.unload, [spec.name for spec in todo.restart])
            results = await self._load([*todo.restart, *todo.load])
            self.host.manager.arrange([spec.name for spec in new.specs])
        finally:
            if self._swapping is not None:
                self._swapping.set()
                self._swapping = None
        restarted = {spec.name for spec in todo.restart}
        done = {
            "loaded": [r.spec.name for r in results if r.plugin and r.spec.name not in restarted],
            "restarted": [r.spec.name for r in results if r.plugin and r.spec.name in restarted],
            "unloaded": list(todo.unload),
            "unchanged": list(todo.keep),
            "failed": self.failed(),
            "problems": [str(problem) for problem in new.problems],
            "notices": notices(new),
        }
        names = {key: done[key] for key in ("loaded", "restarted", "unloaded")}
        self.events.publish("reload", names)
        return done

    async def _swap(self, leaving: Sequence[str], changing: Sequence[str]) -> None:
        async with trio.open_nursery() as nursery:
            for name in leaving:
                self.host.dismiss(name)
                nursery.start_soon(self.host.manager.unload, name)
            for name in changing:
                self.host.expect(name)
                nursery.start_soon(self.host.manager.unload, name)

    def stop(self) -> None:
        """Ask the host to stop."""
        self._stopping.set()
        self._reloading.shield = False

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stopping.is_set()

    async def wait_stopping(self) -> None:
        """Return once it was asked to stop."""
        await self._stopping.wait()


def _tell(done: Mapping[str, Any]) -> None:
    """Log what a reload has changed; plugins that failed have been told of."""
    for text in (*done["problems"], *done["notices"]):
        _log.warning("%s", text)
    changed = {key: done[key] for key in ("loaded", "restarted", "unloaded") if done[key]}
    words = "; ".join(f"{key} {', '.join(names)}" for key, names in changed.items())
    _log.info("reloaded: %s", words or "no plugin has changed")
