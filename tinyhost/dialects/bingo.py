"""The bingo wire, protocols 5 and 6. Its types and capabilities are in tinyhost.bingo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from tinyhost_sdk import names, wire

from ..bingo.commands import Command
from ..bingo.compaction import Compactor
from ..bingo.context import Contributor
from ..bingo.forms import kind_of, read
from ..bingo.hooks import Hooks
from ..bingo.matching import hooks_of
from ..bingo.messages import HostFolders, InitializeParams, InitializeResult
from ..bingo.providers import DELTA, STREAM, Provider, Streams
from ..bingo.services import Service, Serving
from ..bingo.talk import NEWEST, PROTOCOLS, Deadlines, Talk
from ..bingo.tools import CALL, PROGRESS, Tools, host_tools
from ..model import CallContext, ClientCallbacks, Manifest, ToolResult, ToolSpec
from .base import Conduct, Dialect, Link

INITIALIZE = "initialize"
# The wire has no limits; a plugin never says that it takes one call at a time.
CONCURRENCY = 256
_LINE_OUT = 16 * names.MIB


@attrs.frozen(kw_only=True)
class Home:
    """What the handshake tells a plugin, and what it is compared with.

    root: the plugin's folder, where it runs. project: the project's. version: of plugin.json.
    """

    root: str
    project: str
    version: str
    folders: HostFolders


class Bingo(Dialect):
    """See the module and docs/protocol.md."""

    name = "bingo"

    def __init__(
        self,
        home: Home,
        callbacks: ClientCallbacks | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._home = home
        self._callbacks = callbacks or ClientCallbacks()
        self._deadlines = deadlines or Deadlines()
        self._tools: Tools | None = None
        self._streams: Streams | None = None
        self._hooks: Hooks | None = None
        self._serving: Serving | None = None
        self._capabilities: Mapping[str, Any] = {}

    def conduct(self, max_line: int) -> Conduct:
        """Plugins may use strings as ids of their own requests."""
        rules = wire.Rules(max_line=max_line, string_ids=True)
        return Conduct(rules=rules, max_line_out=_LINE_OUT)

    # --- the handshake

    async def handshake(self, link: Link) -> Manifest:
        """One request, answered by all that the plugin offers."""
        talk = Talk(link, self._home.project, self._deadlines, self._callbacks)
        tools, streams = Tools(talk), Streams(talk)
        # In place first: the plugin may ask for something before it answers.
        self._tools, self._streams, self._serving = tools, streams, Serving(talk, tools)
        params = InitializeParams(
            protocol=NEWEST,
            plugin_root=self._home.root,
            config=dict(link.options) or None,
            env=self._home.folders,
        )
        raw = await talk.raw(INITIALIZE, params, timeout=link.timeouts.handshake)
        talk.protocol = _protocol(raw)
        said = read(InitializeResult, raw)
        sources = {spec.id: Contributor(spec, talk) for spec in said.contributors}
        self._hooks = Hooks(talk, hooks_of(said.hooks), list(sources.values()))
        self._capabilities = _capabilities(talk, said, streams, sources)
        self._compare(link, said)
        return Manifest(
            reported_id=said.name,
            version=said.version,
            tools=host_tools(link.plugin, said.tools),
            hooks=self._hooks.declared(),
            concurrency=CONCURRENCY,
            cancel=True,
            progress=True,
            max_line=_LINE_OUT,
        )

    def _compare(self, link: Link, said: InitializeResult) -> None:
        if said.name != link.plugin:
            link.log(f"warning: it calls itself {said.name[:80]!r}")
        if said.version != self._home.version:
            link.log(
                f"warning: it says that its version is {said.version[:80]!r}, and its plugin.json"
                f" that it is {self._home.version[:80]!r}"
            )

    # --- calls

    async def invoke_hook(self, link: Link, name: str, input: Mapping[str, Any] | None) -> Any:
        """hook/decide, hook/observe and context/contribute"""
        del link
        return None if self._hooks is None else await self._hooks.invoke(name, input)

    async def call_tool(
        self,
        link: Link,
        tool: ToolSpec,
        args: str,
        context: CallContext,
        on_progress: Callable[[str], None] | None,
    ) -> ToolResult:
        """tool/call"""
        assert self._tools is not None
        del link
        # The folder where the process runs stands for a context that was not given.
        given = context.directory if context.directory != self._home.root else ""
        directory = given or self._home.project
        return await self._tools.call(tool, args, context, directory, on_progress)

    def notified(self, link: Link, message: wire.Notification) -> None:
        """tool/progress and provider/delta; others are dropped, as the wire has it."""
        try:
            if message.method == PROGRESS and self._tools is not None:
                self._tools.progress(message.params)
            elif message.method == DELTA and self._streams is not None:
                self._streams.delta(message.params)
        except ValueError as error:
            link.log(f"warning: {message.method} is dropped: {error}")

    def requested(self, link: Link, message: wire.Request) -> bool:
        """service/call; others are answered that there is no such method."""
        del link
        if self._serving is None:
            return False
        self._serving.request(message)
        return True

    def cancelled(self, link: Link, id: int, method: str) -> None:
        """tool/cancel and provider/cancel"""
        del link
        if method == CALL and self._tools is not None:
            self._tools.cancelled(id)
        elif method == STREAM and self._streams is not None:
            self._streams.cancelled(id)

    def capabilities(self) -> Mapping[str, Any]:
        """By kind and name: commands, contributors, compactors, providers and services."""
        return self._capabilities


def _protocol(raw: Any) -> int:
    """The protocol that the plugin speaks. Raises ValueError."""
    if type(raw) is not dict:
        raise ValueError(f"its answer to initialize is {kind_of(raw)}, not an object")
    protocol = raw.get("protocol")
    if type(protocol) is not int or protocol not in PROTOCOLS:
        spoken = " and ".join(map(str, PROTOCOLS))
        raise ValueError(
            f"it speaks protocol {protocol!r:.40}, and tinyhost speaks {spoken}; get a version of"
            " the plugin for one of these"
        )
    return protocol


def _capabilities(
    talk: Talk, said: InitializeResult, streams: Streams, sources: Mapping[str, Contributor]
) -> Mapping[str, Any]:
    commands: dict[str, Command] = {}
    for command in said.commands:
        commands.setdefault(command.name, Command(command, talk))
    found: dict[str, Mapping[str, Any]] = {
        "commands": commands,
        "contributors": sources,
        "compactors": {spec.id: Compactor(spec, talk) for spec in said.compactors},
        "providers": {spec.id: Provider(spec, streams) for spec in said.providers},
        "services": {key: Service(key, spec, talk) for key, spec in said.services.items()},
    }
    return {kind: offered for kind, offered in found.items() if offered}
