"""A plugin that is an MCP server behind HTTP. No process is started for it.

Its lives are sessions: when the server cannot be reached, forgets the session or stops
answering, the next call begins a new one, within the limits of `supervise`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs
import httpx2
import trio

from .. import codec
from ..dialects.mcp import Mcp
from ..errors import (
    CallTimeout,
    InvalidCall,
    LoadError,
    PluginDied,
    PluginError,
    ProtocolError,
    RemoteError,
)
from ..lives import Lives, Observe
from ..model import (
    CallContext,
    ClientCallbacks,
    Manifest,
    PluginInfo,
    PluginSettings,
    State,
    ToolResult,
)
from ..plugin import StartedPlugin, capability_names
from ..pluginlog import PluginLog
from .endpoint import Endpoint
from .headers import schema_problem
from .http_call import SessionLost
from .http_link import HttpLink

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_CONNECT = 10.0  # seconds for a connection to be made
_MAX_CONNECTIONS = 100


@attrs.frozen(kw_only=True)
class Address:
    """All that is needed to talk to one server. directory: the project's."""

    url: str
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    directory: str
    options: Mapping[str, Any] = attrs.field(factory=dict)
    settings: PluginSettings = attrs.field(factory=PluginSettings)
    callbacks: ClientCallbacks = attrs.field(factory=ClientCallbacks)
    log_path: str | None = None
    secrets: Sequence[str] = ()


class HttpPlugin(StartedPlugin):
    """See the module. `start_task` runs a coroutine function in the manager's nursery."""

    def __init__(
        self,
        id: str,
        name: str,
        address: Address,
        start_task: Callable[[Callable[[], Awaitable[None]]], None],
        observe: Observe = lambda _kind, _plugin, _text: None,
    ) -> None:
        self.id = id
        self.name = name
        self.secrets = address.secrets
        self._address = address
        self._start_task = start_task
        self._log = PluginLog(address.log_path, address.secrets)
        self._endpoint = _endpoint(name, address)
        self._dialect = Mcp()
        self._manifest = Manifest()
        self._link: HttpLink | None = None
        self._starting: HttpLink | None = None
        self._start_lock = trio.Lock()
        self._lives = Lives(self, observe, died="failed", started="connected")
        self._stopped = False
        self._handshake_s = 0.0

    # --- what is known of it

    @property
    def info(self) -> PluginInfo:
        """A snapshot; counters are of all its sessions since it was loaded."""
        counters = attrs.evolve(self._lives.counters)
        counters.junk_lines += self._link.junk if self._link else 0
        return PluginInfo(
            id=self.id,
            name=self.name,
            dialect=self._dialect.name,
            version=self._manifest.version,
            pid=None,
            state=self.state,
            tools=self._manifest.tools,
            hooks=(),
            counters=counters,
            path=self._endpoint.shown,
            message="" if self._live else self._lives.last_words,
            handshake_ms=self._handshake_s * 1000,
            capabilities=capability_names(self.capabilities),
        )

    @property
    def state(self) -> State:
        """Where the plugin is in its life."""
        if self._stopped:
            return State.STOPPED
        if self._lives.over:
            return State.STOPPING
        if self._starting is not None:
            return State.STARTING
        if self._lives.failed:
            return State.FAILED
        live = self._live
        if live is None:
            return State.RESTARTING
        return State.SLOW if live.timeouts_in_row else State.READY

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """See dialects.mcp.Mcp.capabilities."""
        return self._dialect.capabilities()

    @property
    def _live(self) -> HttpLink | None:
        return self._link if self._link is not None and self._link.broken is None else None

    # --- starting

    async def start(self) -> None:
        """Shake hands. Raises LoadError, and PluginDied once the plugin is being stopped."""
        self._lives.refuse_when_over()
        began = trio.current_time()
        dialect = Mcp(self._address.callbacks, schema_problem)
        link = self._new_link(dialect)
        self._start_task(link.run)
        self._starting = link
        try:
            manifest = await self._shake_hands(dialect, link)
        except BaseException:
            await link.close("was not connected")
            raise
        finally:
            self._starting = None
        self._manifest, self._dialect, self._link = manifest, dialect, link
        self._handshake_s = trio.current_time() - began

    def _new_link(self, dialect: Mcp) -> HttpLink:
        settings = self._address.settings

        def broken(reason: str) -> None:
            if link is self._link and not self._lives.over:
                self._died(PluginDied(self.name, reason))

        link = HttpLink(
            self.name,
            self._endpoint,
            dialect,
            directory=self._address.directory,
            options=self._address.options,
            timeouts=settings.timeouts,
            log=self._log,
            max_message=settings.max_line,
            on_changed=self._manifest_changed,
            on_broken=broken,
        )
        return link

    async def _shake_hands(self, dialect: Mcp, link: HttpLink) -> Manifest:
        try:
            manifest = await dialect.handshake(link)
            if link.broken is not None:
                raise PluginDied(self.name, link.broken)
        except (PluginError, ValueError) as error:
            reason = _explain(error, self._address.settings.timeouts.handshake)
            raise LoadError(
                self.name, "handshake", reason, command=(self._endpoint.shown,)
            ) from error
        await link.handshake_done()
        return manifest

    def _manifest_changed(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._lives.changed()

    def _died(self, death: PluginDied) -> None:
        if self._link is not None:
            self._lives.counters.junk_lines += self._link.junk
            self._link.junk = 0
        self._lives.ended(death)

    async def revive(self) -> None:
        """Connect again if the session ended, as a call does."""
        await self._ready_link()

    async def _ready_link(self) -> HttpLink:
        return self._live or await self._start_again()

    async def _start_again(self) -> HttpLink:
        async with self._start_lock:
            if self._live is not None:
                return self._live
            self._lives.refuse_too_soon()
            try:
                await self.start()
            except LoadError as error:
                self._died(PluginDied(self.name, f"could not be connected again: {error}"))
                raise
            self._lives.began_again()
            assert self._link is not None
            return self._link

    async def restart(self) -> None:
        """End the session if there is one, and begin anew with a clean record."""
        async with self._start_lock:
            self._lives.refuse_when_over()
            link, self._link = self._link, None
            if link is not None:
                await self._end(link)
            self._lives.supervisor.reset()
            await self.start()
            self._lives.began_again()

    # --- calling

    async def invoke_hook(self, name: str, input: Mapping[str, Any] | None = None) -> Any:  # noqa: ARG002
        """MCP servers have no hooks."""
        return None

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
        try:
            text = codec.dumps(args)
        except (TypeError, ValueError) as error:
            raise InvalidCall(f"the arguments of {tool.id} are not JSON: {error}") from error
        where = context or CallContext(directory=self._address.directory)

        async def call() -> ToolResult:
            link = await self._ready_link()
            return await self._dialect.call_tool(link, tool, text, where, on_progress)

        try:
            return await self._counted(tool.name, call)
        except SessionLost:
            # The server did nothing with the request, and wants a new session.
            return await self._counted(tool.name, call)

    async def _counted(self, tool: str, call: Callable[[], Awaitable[_T]]) -> _T:
        self._lives.counters.calls += 1
        try:
            return await call()
        except PluginError as error:
            self._lives.count_failure(error)
            raise
        except ValueError as error:
            self._lives.count_failure(error)
            raise ProtocolError(self.name, f"tool {tool}", str(error)) from error

    # --- stopping

    async def stop(self) -> None:
        """End the session, within the grace of its settings."""
        if self._lives.over:
            return
        self._lives.over = True
        with trio.CancelScope(shield=True):
            for link in (self._starting, self._link):
                if link is not None:
                    await self._end(link)
            await self._endpoint.client.aclose()
        self._log.close()
        self._stopped = True

    async def _end(self, link: HttpLink) -> None:
        with trio.CancelScope(shield=True):
            with trio.move_on_after(self._address.settings.timeouts.stop):
                await link.end_session()
            await link.close("was stopped")


def _endpoint(plugin: str, address: Address) -> Endpoint:
    try:
        url = httpx2.URL(address.url)
    except httpx2.InvalidURL as error:
        raise LoadError(plugin, "resolve", f"its url is none: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        reason = "its url must begin with https:// or http:// and a host, with no password"
        raise LoadError(plugin, "resolve", reason)
    client = httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=_CONNECT),
        limits=httpx2.Limits(max_connections=_MAX_CONNECTIONS),
    )
    return Endpoint(client, url, dict(address.headers))


def _explain(error: Exception, seconds: float) -> str:
    if isinstance(error, CallTimeout):
        return f"no answer to {error.method} within {seconds:g} s"
    if isinstance(error, RemoteError):
        return f"it refused {error.method}: error {error.code}: {error.remote_message}"
    if isinstance(error, PluginDied):
        return f"it {error.status}"
    return error.reason if isinstance(error, ProtocolError) else str(error)
