"""Who is loaded: plugin id -> Plugin, in load order, and the ways in and out."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import trio

from . import ids
from .builtins.base import BuiltinPlugin
from .config import Config
from .errors import (
    LoadError,
    ManagerClosed,
    PluginAlreadyLoaded,
    PluginNotFound,
    PluginSkipped,
    TinyhostError,
    ToolNotFound,
)
from .guardian import Guardian
from .launch_plan import Launch
from .mcp import servers as mcp
from .model import (
    CallContext,
    ClientCallbacks,
    McpServer,
    PluginInfo,
    PluginSpec,
    ToolResult,
    ToolSpec,
)
from .names import check_name
from .offers import Offers
from .plugin import Plugin, StartedPlugin
from .preparing import Preparer
from .process_plugin import ProcessPlugin
from .registry import RegistryEntry, entries
from .resolve import Resolver
from .zuno.discovery import Found, packages_of

_log = logging.getLogger(__name__)

# Starting more at a time only makes each of them slower, until their handshakes time out.
_STARTS_AT_ONCE = 8


@attrs.frozen
class Loaded:
    """What became of one entry of a plugin list: a plugin or an error, and the time taken."""

    spec: PluginSpec
    plugin: Plugin | None
    error: TinyhostError | None
    seconds: float


class Manager:
    """Loads, finds and unloads plugins. Made by `open_manager`, which also ends it."""

    def __init__(
        self,
        start_task: Callable[[Callable[[], Awaitable[None]]], None],
        *,
        config: Config,
        directory: str,
        resolver: Resolver,
        environ: Mapping[str, str],
        callbacks: ClientCallbacks | None = None,
    ) -> None:
        self._start_task = start_task
        # Commands, services and the like; what plugins say to the person goes there, too.
        self.offers = Offers(lambda: self.plugins)
        self._callbacks = self.offers.callbacks(callbacks or ClientCallbacks())
        self._directory = directory
        self._environ = environ
        self.preparer = Preparer(config, directory, resolver, environ, self._callbacks)
        self._guardian = Guardian()
        self._starting: set[StartedPlugin] = set()
        self._leaving: set[Plugin] = set()
        self._plugins: dict[str, Plugin] = {}
        self._reserved: dict[str, str] = {}  # name -> id, while loading or loaded
        self._tools: dict[str, str] = {}  # tool id -> plugin id
        self._closed = False
        self._ranks: dict[str, int] = {}
        self._places: dict[str, int] = {}  # of plugins by name; see arrange
        # Called with "loaded", "unloaded", "died" or "restarted", the plugin, and a text.
        self.observers: list[Callable[[str, Plugin, str], None]] = [self.offers.observed]

    def _observe(self, kind: str, plugin: Plugin, text: str = "") -> None:
        if kind in ("changed", "restarted") and plugin.id in self._plugins:
            try:
                self._index_tools(plugin)
            except LoadError as error:
                # It goes on with the tools that it had.
                _log.warning("%s", error)
        for observer in self.observers:
            observer(kind, plugin, text)

    # --- loading

    async def load(self, name: str, options: Mapping[str, Any] | None = None) -> Plugin:
        """Find, start and register a plugin; `name` is what the config calls it.

        Raises PluginAlreadyLoaded, PluginSkipped, PluginNotFound, LoadError, ConfigError or
        ManagerClosed. A failed load leaves nothing behind.
        """
        return await self.load_spec(self.preparer.config.spec_for(name, options))

    def register(self, plugin: BuiltinPlugin, *, rank: int = 0) -> BuiltinPlugin:
        """Add an in-process plugin; its name is then taken. Raises as load does.

        rank: plugins of a lower rank are walked first, those of one rank in load order.
        """
        check_name(plugin.name)
        plugin.id = self._reserve(plugin.name)
        self._ranks[plugin.id] = rank
        try:
            self._register(plugin)
        except BaseException:
            del self._reserved[plugin.name]
            raise
        return plugin

    async def load_spec(self, spec: PluginSpec) -> Plugin:
        """Like load, for a spec that is not, or not only, from the config."""
        return await self._load_reserved(spec, self._reserve(spec.name))

    async def load_all(
        self,
        specs: Iterable[PluginSpec | str] | None = None,
        *,
        on_done: Callable[[Loaded], None] | None = None,
    ) -> list[Loaded]:
        """Load several side by side; None means the config's list. Keeps their order.

        A plugin that fails does not harm the others: its error is in its Loaded. on_done is
        called with each as it is finished, in the order in which they finish.
        """
        wanted = self.preparer.config.specs if specs is None else specs
        todo = [
            self.preparer.config.spec_for(spec) if isinstance(spec, str) else spec
            for spec in wanted
        ]
        results: list[Loaded | None] = [None] * len(todo)
        limit = trio.CapacityLimiter(_STARTS_AT_ONCE)

        async def load_one(index: int, spec: PluginSpec, id: str) -> None:
            try:
                await limit.acquire()
            except BaseException:
                self._release(spec.name, id)
                raise
            began = trio.current_time()
            plugin, error = None, None
            try:
                plugin = await self._load_reserved(spec, id)
            except TinyhostError as failure:
                error = failure
            finally:
                limit.release()
            done(index, Loaded(spec, plugin, error, trio.current_time() - began))

        def done(index: int, result: Loaded) -> None:
            results[index] = result
            if on_done is not None:
                on_done(result)

        async with trio.open_nursery() as nursery:
            for index, spec in enumerate(todo):
                try:
                    id = self._reserve(spec.name)
                except TinyhostError as error:
                    done(index, Loaded(spec, None, error, 0.0))
                else:
                    nursery.start_soon(load_one, index, spec, id)
        return [result for result in results if result is not None]

    def _reserve(self, name: str) -> str:
        if self._closed:
            raise ManagerClosed
        if not name:
            raise LoadError(name, "resolve", "the name of a plugin must not be empty")
        if name in self._reserved:
            held = self._plugins.get(self._reserved[name])
            if isinstance(held, BuiltinPlugin):
                raise PluginSkipped(name)
            raise PluginAlreadyLoaded(name, self._reserved[name])
        id = ids.new_id("plg")
        self._reserved[name] = id
        return id

    async def _load_reserved(self, spec: PluginSpec, id: str) -> Plugin:
        try:
            plugin = self._new_plugin(spec, id)
            self._starting.add(plugin)
            try:
                await self._start(plugin)
            finally:
                self._starting.discard(plugin)
        except BaseException:
            self._release(spec.name, id)
            raise
        return plugin

    def _release(self, name: str, id: str) -> None:
        if self._reserved.get(name) == id:
            del self._reserved[name]

    def _new_plugin(self, spec: PluginSpec, id: str) -> StartedPlugin:
        if self._closed:
            raise ManagerClosed
        if spec.server is not None and spec.server.url:
            return self._new_http(spec, spec.server, id)
        launch = self.preparer.launch(spec)
        return ProcessPlugin(id, spec.name, launch, self._start_task, self._guardian, self._observe)

    def _new_http(self, spec: PluginSpec, server: McpServer, id: str) -> StartedPlugin:
        return mcp.open_http(
            id,
            spec,
            mcp.expanded(server, self._environ),
            environ=self._environ,
            directory=self._directory,
            callbacks=self._callbacks,
            log_path=self.preparer.log_path(spec.name),
            start_task=self._start_task,
            observe=self._observe,
        )

    async def _start(self, plugin: StartedPlugin) -> None:
        try:
            await plugin.start()
            if self._closed:
                raise ManagerClosed
            self._register(plugin)
        except BaseException as error:
            await plugin.stop()
            if self._closed and isinstance(error, LoadError):
                raise ManagerClosed from error
            raise

    def _index_tools(self, plugin: Plugin) -> None:
        """Raises LoadError when another plugin has a tool of the same id."""
        tools = {tool: owner for tool, owner in self._tools.items() if owner != plugin.id}
        for tool in plugin.info.tools:
            if tool.id in tools:
                owner = self._plugins[tools[tool.id]].name
                reason = f"its tool {tool.id} is already offered by plugin {owner}"
                raise LoadError(plugin.name, "register", reason)
            tools[tool.id] = plugin.id
        self._tools = tools

    def _register(self, plugin: Plugin) -> None:
        self._index_tools(plugin)
        # Plugins that start side by side are ready in any order, but are walked in theirs.
        self._plugins = self._in_order([*self._plugins.values(), plugin])
        self._observe("loaded", plugin)

    def _in_order(self, plugins: Iterable[Plugin]) -> dict[str, Plugin]:
        def place(plugin: Plugin) -> tuple[int, int, str]:
            given = self._places.get(plugin.name, len(self._places))
            return self._ranks.get(plugin.id, 0), given, plugin.id

        return {plugin.id: plugin for plugin in sorted(plugins, key=place)}

    # --- looking

    def get(self, id_or_name: str) -> Plugin:
        """The plugin of that id or name. Raises PluginNotFound."""
        plugin = self._plugins.get(id_or_name)
        if plugin is None:
            plugin = self._plugins.get(self._reserved.get(id_or_name, ""))
        if plugin is None:
            loaded = ", ".join(p.name for p in self._plugins.values()) or "none"
            raise PluginNotFound(id_or_name, hint=f"Loaded: {loaded}.")
        return plugin

    def list(self) -> Sequence[PluginInfo]:
        """What is known of each loaded plugin, in load order."""
        return [plugin.info for plugin in self._plugins.values()]

    @property
    def plugins(self) -> Sequence[Plugin]:
        """The loaded plugins, in load order."""
        return list(self._plugins.values())

    def with_hook(self, hook: str) -> Sequence[Plugin]:
        """The plugins that declared the hook, in load order."""
        return [plugin for plugin in self._plugins.values() if plugin.handles(hook)]

    def tools(self) -> Sequence[ToolSpec]:
        """The tools of all plugins, in load order and then in each plugin's own."""
        return [tool for plugin in self._plugins.values() for tool in plugin.info.tools]

    def packages(self) -> Sequence[Found]:
        """The packages that are installed, those that cannot be used too; see zuno.discovery.

        A package's agents, workflows and skills are in its `package`; tinyhost runs none of
        them. The folders are read anew with each call.
        """
        return packages_of(self.preparer.config, self._environ)

    def launch(self, name: str) -> Launch:
        """How a plugin would be started. Raises as load does; nothing is started."""
        return self.preparer.launch(self.preparer.config.spec_for(name))

    def reconfigure(self, config: Config) -> None:
        """Load what comes by another configuration. What is loaded stays as it is."""
        self.preparer.reconfigure(config)

    def arrange(self, names: Sequence[str]) -> None:
        """Walk the plugins of these names in this order from now on, before others of their rank."""
        self._places = {name: place for place, name in enumerate(names)}
        self._plugins = self._in_order(self._plugins.values())

    def registry(self) -> Sequence[RegistryEntry]:
        """The curated list of plugins that are known to exist."""
        return entries()

    # --- using

    async def call_tool(
        self,
        id: str,
        tool: str,
        args: object = None,
        *,
        session_id: str = "",
        directory: str | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> ToolResult:
        """Call a plugin's tool; `id` is the plugin's id or name, `tool` a bare name or id.

        directory: where the session works; the manager's own by default.
        """
        where = self._directory if directory is None else directory
        context = CallContext(session_id=session_id, directory=where)
        return await self.get(id).call_tool(tool, args, context, on_progress=on_progress)

    def owner(self, tool_id: str) -> Plugin:
        """The plugin that offers the tool of that id. Raises ToolNotFound."""
        plugin_id = self._tools.get(tool_id)
        if plugin_id is None:
            raise ToolNotFound(tool_id, list(self._tools))
        return self._plugins[plugin_id]

    # --- unloading

    async def unload(self, id_or_name: str) -> None:
        """Take a plugin's tools and hooks away, then stop it. Raises PluginNotFound."""
        plugin = self.get(id_or_name)
        self._unregister(plugin)
        self._leaving.add(plugin)
        try:
            await plugin.stop()
        finally:
            self._leaving.discard(plugin)
            self._release(plugin.name, plugin.id)

    def _unregister(self, plugin: Plugin) -> None:
        del self._plugins[plugin.id]
        self._observe("unloaded", plugin)
        self._tools = {tool: owner for tool, owner in self._tools.items() if owner != plugin.id}

    async def shutdown(self, *, sweep: bool = False) -> None:
        """Stop all plugins side by side, and load no more. A second shutdown does nothing.

        sweep: then look for what nobody knows of, as an interrupt may come between any two
        instructions.
        """
        self._closed = True
        loaded = self.plugins
        for plugin in loaded:
            self._unregister(plugin)
        async with trio.open_nursery() as nursery:
            for plugin in (*loaded, *self._starting, *self._leaving):
                nursery.start_soon(plugin.stop)
        self._reserved.clear()
        if sweep:
            await self._guardian.sweep_all()
        await self._guardian.close()
