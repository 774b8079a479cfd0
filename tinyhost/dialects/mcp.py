"""MCP, the Model Context Protocol: a server's tools as a plugin's.

The wire is JSON-RPC in lines, here as over standard input and output; tinyhost.mcp.http
carries the same messages over HTTP. docs/protocol.md says what is made of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import trio

from tinyhost_sdk import names, wire

from .. import codec
from ..errors import InvalidCall, PluginError, ToolNotFound, cut
from ..model import CallContext, ClientCallbacks, Manifest, ToolResult, ToolSpec
from .base import Conduct, Dialect, Link
from .mcp_answers import (
    ELICITATION,
    PING,
    SAMPLING,
    Answers,
    offered,
    offered_in_handshake,
)
from .mcp_callers import Question, Refused, client_here
from .mcp_content import tool_result
from .mcp_offers import Prompts, Resources
from .mcp_revisions import DISCOVER, INITIALIZE, Spoken, negotiate
from .mcp_talk import Talk
from .mcp_tools import Tools, read_tools

_log = logging.getLogger(__name__)

CONCURRENCY = 64
LISTEN = "subscriptions/listen"
_TOOLS_CHANGED = "notifications/tools/list_changed"
_LINE_OUT = names.MAX_LINE_FROM_PLUGIN  # the wire has no limit; this one is as for plugins
_ASKED_AT_ONCE = 16  # requests of the server's that are being answered
_REREAD_EVERY = 1.0  # seconds at least between two readings of a list that keeps changing
_LISTEN_AGAIN = (1.0, 30.0)  # seconds, the first pause and the longest
_WAITING = 10.0  # seconds between signs of life to calls that wait for the host itself


class Mcp(Dialect):
    """See the module.

    callbacks: what the host does for a server that asks. schema_problem: what else makes a
    tool's schema unusable, as the transport sees it. roots: the project's folder, by default
    the one that the link names.
    """

    name = "mcp"

    def __init__(
        self,
        callbacks: ClientCallbacks | None = None,
        schema_problem: Callable[[Mapping[str, Any]], str | None] = lambda _schema: None,
        roots: str = "",
    ) -> None:
        self._callbacks = callbacks or ClientCallbacks()
        self._schema_problem = schema_problem
        self._roots = roots
        self._talk: Talk | None = None
        self._tools = Tools((), {}, ())
        self._manifest = Manifest()
        self._asked: dict[int | str, trio.CancelScope] = {}
        self._stale = False  # the list of tools has changed
        self._rereading = False

    def conduct(self, max_line: int) -> Conduct:
        """Servers may use strings as ids of their own requests."""
        rules = wire.Rules(max_line=max_line, require_jsonrpc=True, string_ids=True)
        return Conduct(rules=rules, max_line_out=_LINE_OUT)

    @property
    def spoken(self) -> Spoken | None:
        """What was agreed on in the handshake, or None before it."""
        return self._talk.spoken if self._talk else None

    def schema_of(self, original: str) -> Mapping[str, Any] | None:
        """The schema of a tool, by the server's name for it."""
        originals = self._tools.originals
        found = [spec for spec in self._tools.specs if originals[spec.name] == original]
        return found[0].input_schema if found else None

    # --- the handshake, and tools that change

    async def handshake(self, link: Link) -> Manifest:
        """Agree on a revision, and read the list of tools."""
        spoken = await negotiate(
            link, offered(self._callbacks), offered_in_handshake(self._callbacks)
        )
        talk = self._talk = Talk(link, spoken, self._answers(link))
        if not spoken.modern and spoken.offers("logging"):
            link.spawn(lambda: self._set_level(talk))
        self._tools = await self._read_tools(talk)
        self._manifest = Manifest(
            reported_id=spoken.name,
            version=spoken.server_version,
            tools=self._tools.specs,
            concurrency=CONCURRENCY,
            cancel=True,
            progress=True,
            max_line=_LINE_OUT,
        )
        if spoken.modern and spoken.tells_changes("tools"):
            link.spawn(lambda: self._listen(talk))
        self._reread_soon(link)
        return self._manifest

    def _answers(self, link: Link) -> Answers:
        return Answers(link.plugin, self._roots or link.directory, self._callbacks)

    async def _set_level(self, talk: Talk) -> None:
        try:
            await talk.request("logging/setLevel", {"level": '"info"'})
        except (PluginError, ValueError) as error:
            talk.link.log(f"warning: the level of its log could not be set: {cut(str(error), 300)}")

    async def _read_tools(self, talk: Talk) -> Tools:
        if not talk.spoken.offers("tools"):
            return Tools((), {}, ())
        entries = await talk.entries("tools/list", "tools")
        tools = read_tools(talk.link.plugin, entries, self._schema_problem)
        for reason in tools.refused:
            talk.link.log(f"warning: a tool is left out: {reason}")
            _log.warning("plugin %s: a tool is left out: %s", talk.link.plugin, reason)
        return tools

    def _reread_soon(self, link: Link) -> None:
        """Read the list of tools anew if it changed, but never twice at a time."""
        if self._stale and self._talk is not None and not self._rereading:
            self._rereading = True
            talk = self._talk
            link.spawn(lambda: self._reread(talk))

    async def _reread(self, talk: Talk) -> None:
        try:
            while self._stale:
                self._stale = False
                tools = await self._read_tools(talk)
                manifest = attrs.evolve(self._manifest, tools=tools.specs)
                if manifest != self._manifest:
                    self._tools, self._manifest = tools, manifest
                    talk.link.changed(manifest)
                await trio.sleep(_REREAD_EVERY)
        except (PluginError, ValueError) as error:
            reason = cut(str(error), 300)
            talk.link.log(f"warning: its changed list of tools could not be read: {reason}")
        finally:
            self._rereading = False

    async def _listen(self, talk: Talk) -> None:
        """Be told of changes, again whenever the server ends that."""
        pause, longest = _LISTEN_AGAIN
        while True:
            began = trio.current_time()
            try:
                await talk.request(
                    LISTEN, {"notifications": '{"toolsListChanged":true}'}, timeout=float("inf")
                )
            except (PluginError, ValueError) as error:
                talk.link.log(f"warning: changes of its tools are not told: {cut(str(error), 300)}")
            pause = _LISTEN_AGAIN[0] if trio.current_time() - began > longest else pause
            await trio.sleep(pause)
            pause = min(pause * 2, longest)
            self._stale = True  # what changed meanwhile was not told
            self._reread_soon(talk.link)

    # --- calls

    async def invoke_hook(
        self,
        link: Link,  # noqa: ARG002
        name: str,  # noqa: ARG002
        input: Mapping[str, Any] | None,  # noqa: ARG002
    ) -> Any:
        """MCP servers have no hooks."""
        return None

    async def call_tool(
        self,
        link: Link,
        tool: ToolSpec,
        args: str,
        context: CallContext,  # noqa: ARG002
        on_progress: Callable[[str], None] | None,
    ) -> ToolResult:
        """tools/call"""
        assert self._talk is not None
        original = self._tools.originals.get(tool.name)
        if original is None:
            raise ToolNotFound(tool.id, [spec.id for spec in self._tools.specs])
        if not args.startswith("{") and args != "null":
            raise InvalidCall(f"the arguments of {tool.id} are not an object")
        params = {"name": codec.dumps(original)}
        if args != "null":
            params["arguments"] = args
        timeouts = link.timeouts
        result = await self._talk.request(
            "tools/call",
            params,
            timeout=timeouts.tool,
            cap=timeouts.tool_cap,
            on_progress=on_progress,
            client=client_here.get(),
        )
        return tool_result(result)

    def cancelled(self, link: Link, id: int, method: str) -> None:  # noqa: ARG002
        """notifications/cancelled, which must never name the handshake's own requests."""
        if self._talk is not None and method not in (INITIALIZE, DISCOVER):
            self._talk.cancel(id, "nobody waits for it any more")

    # --- what the server says unasked

    def notified(self, link: Link, message: wire.Notification) -> None:
        """Progress, log lines, changes, and requests that it takes back."""
        params = message.params if type(message.params) is dict else {}
        if message.method == "notifications/progress" and self._talk is not None:
            self._talk.progress(params)
        elif message.method == "notifications/message":
            link.log(_log_line(params))
        elif message.method == _TOOLS_CHANGED:
            self._stale = True
            self._reread_soon(link)
        elif message.method == "notifications/cancelled":
            id = params.get("requestId")
            if type(id) in (int, str) and id in self._asked:
                self._asked[id].cancel()

    def requested(self, link: Link, message: wire.Request, during: int | None = None) -> bool:
        """What a server may ask; modern ones never do it this way.

        during: the request that it belongs to, where the transport says so.
        """
        if self._talk is not None and self._talk.spoken.modern:
            return False
        if message.method == PING:
            link.respond(wire.success(message.id, {}))
        elif len(self._asked) >= _ASKED_AT_ONCE or message.id in self._asked:
            reason = "too many requests at a time"
            link.respond(wire.failure(message.id, names.INTERNAL_ERROR, reason))
        else:
            scope = self._asked[message.id] = trio.CancelScope()
            link.spawn(lambda: self._respond(link, message, during, scope))
        return True

    async def _respond(
        self, link: Link, message: wire.Request, during: int | None, scope: trio.CancelScope
    ) -> None:
        frame = None
        async with trio.open_nursery() as nursery:
            if message.method in (SAMPLING, ELICITATION):
                nursery.start_soon(self._keep_waiting)
            with scope:
                frame = await self._answer(link, message, during)
            nursery.cancel_scope.cancel()
        # Before it is answered: the server may use the id again at once.
        self._asked.pop(message.id, None)
        if frame is not None:
            link.respond(frame)

    async def _answer(self, link: Link, message: wire.Request, during: int | None) -> bytes:
        params = message.params if type(message.params) is dict else {}
        question = Question(message.method, params)
        asks = self._talk is not None and message.method in (SAMPLING, ELICITATION)
        try:
            client = self._talk.callers.behind(during) if asks and self._talk else None
            return wire.success(message.id, await self._answers(link).answer(question, client))
        except Refused as refused:
            return wire.failure(message.id, refused.code, refused.reason)
        except (TypeError, ValueError):
            _log.exception("an answer to %s of plugin %s is not JSON", message.method, link.plugin)
            return wire.failure(message.id, names.INTERNAL_ERROR, "the host could not answer")

    async def _keep_waiting(self) -> None:
        """A call that waits for the person must not be taken for one that hangs."""
        while self._talk is not None:
            self._talk.keep_waiting("it waits for an answer to its question")
            await trio.sleep(min(_WAITING, self._talk.link.timeouts.tool / 2))

    # --- what else there is

    def capabilities(self) -> Mapping[str, Any]:
        """resources: Resources, and prompts: Prompts, of those that have them; ping."""
        talk = self._talk
        if talk is None:
            return {}
        found: dict[str, Any] = {"ping": lambda: _ping(talk)}
        if talk.spoken.offers("resources"):
            found["resources"] = Resources(talk)
        if talk.spoken.offers("prompts"):
            found["prompts"] = Prompts(talk)
        return found


async def _ping(talk: Talk) -> None:
    """Raises an error of the TinyhostError tree when the server does not answer."""
    await talk.link.request(
        DISCOVER if talk.spoken.modern else PING,
        codec.dumps({"_meta": talk.spoken.meta()}) if talk.spoken.modern else "{}",
        timeout=talk.link.timeouts.hook,
    )


def _log_line(params: Mapping[str, Any]) -> str:
    level, logger, data = params.get("level"), params.get("logger"), params.get("data")
    text = data if type(data) is str else codec.dumps(data)
    where = f"{level} {logger}" if type(logger) is str else f"{level}"
    return f"[{cut(where, 100)}] " + " ".join(cut(text).splitlines())
