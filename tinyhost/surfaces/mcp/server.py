"""The MCP server: what clients call, done by the running host."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from typing import Any, TypeGuard

import mcp_types as types
import trio
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from ...codec import RawJson, dumps
from ...dialects.mcp_callers import client_here
from ...dialects.mcp_revisions import client_info
from ...errors import RemoteError, TinyhostError
from ...model import ToolSpec
from ...running import RunningHost
from .asking import elicit_here
from .conversation import Conversation
from .exchange import Context, Exchange, connection_of, is_modern
from .notices import LogMessage, follow, logs_during
from .passing import CallingClient, Gate
from .requests import Put, can_be_asked, offered_by
from .results import call_result, error_result
from .rounds import Rounds
from .tools import BadCursor, NameOf, by_id, named, page, schema_of, tool_entry

_log = logging.getLogger(__name__)

PAGE = 100  # tools in one answer
_STATE = "tinyhost.conversation"
_TO_WRITE = 0.05  # seconds in which the package's tasks write an answer that it has been given


class _Server(Server[None]):
    """Says that it tells of changes, however a connection to it is made."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class ToolServer:
    """Serves the tools of a running host.

    one_client: all requests come from one client, so that those which stand for themselves
    share a session; else each has one of its own. name_of: what tools are called.
    """

    def __init__(
        self,
        running: RunningHost,
        *,
        one_client: bool = False,
        name_of: NameOf = by_id,
        page_size: int = PAGE,
    ) -> None:
        self._running = running
        self._name_of = name_of
        self._page_size = page_size
        self._shared = Conversation(running) if one_client else None
        self._changes = InMemorySubscriptionBus()
        self._calls = 0  # under way
        self._quiet = trio.Event()
        self.protocol = self._protocol()

    def _protocol(self) -> Server[None]:
        server = _Server(
            "tinyhost",
            version=client_info()["version"],
            cache_hints={"tools/list": CacheHint()},
            lifespan=self._lifespan,
            get_tool_input_schema=lambda name: schema_of(self._named(), name),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=ListenHandler(self._changes),
        )
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        server.middleware.append(self._opening)
        return server

    @asynccontextmanager
    async def _lifespan(self, _server: Server[None]) -> AsyncIterator[None]:
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._rounds = Rounds(nursery)
                nursery.start_soon(self._publish_changes)
                self._running.drains.append(self._drain)
                try:
                    yield
                finally:
                    self._running.drains.remove(self._drain)
                    nursery.cancel_scope.cancel()
        finally:
            if self._shared is not None:
                await self._shared.aclose()

    async def _publish_changes(self) -> None:
        async def changed() -> None:
            await self._changes.publish(ToolsListChanged())

        await follow(self._running, changed=changed)

    # --- clients that begin with a handshake

    async def _opening(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "initialize":
            self._opened(ctx)
        return result

    def _opened(self, context: Context) -> None:
        connection = connection_of(context)
        if _STATE in connection.state:
            return
        conversation = connection.state[_STATE] = Conversation(self._running)
        connection.exit_stack.push_async_callback(conversation.aclose)
        self._nursery.start_soon(self._accompany, conversation, context)

    async def _accompany(self, conversation: Conversation, context: Context) -> None:
        """Begin the session, and tell the client what happens."""
        connection = connection_of(context)

        async def say(line: LogMessage) -> None:
            if line.reaches(conversation.level):
                await connection.notify("notifications/message", line.params())

        with conversation.scope:
            try:
                await conversation.session()
                await connection.initialized.wait()
                await follow(self._running, changed=connection.send_tool_list_changed, say=say)
            except Exception:
                _log.exception("a client is not told what happens any more")

    async def _set_level(
        self, context: Context, params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        conversation = connection_of(context).state.get(_STATE)
        if isinstance(conversation, Conversation):
            conversation.level = params.level
        return types.EmptyResult()

    # --- tools

    def _named(self) -> Mapping[str, ToolSpec]:
        return named(self._running.host.manager.tools(), self._name_of)

    async def _list_tools(
        self, _context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        await self._running.steady()
        tools = self._named()
        try:
            shown, more = page(list(tools), params.cursor if params else None, self._page_size)
        except BadCursor as error:
            raise MCPError(types.INVALID_PARAMS, f"bad cursor: {error}") from None
        entries = [tool_entry(name, tools[name]) for name in shown]
        return types.ListToolsResult(tools=entries, next_cursor=more)

    async def _drain(self) -> None:
        """Return when no call is under way. Those that come later are refused."""
        while self._calls:
            self._quiet = trio.Event()
            await self._quiet.wait()
            await trio.sleep(_TO_WRITE)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> Any:
        if self._running.stopping:
            raise MCPError(types.INTERNAL_ERROR, "the host is stopping")
        self._calls += 1
        try:
            return await self._answer_call(context, params)
        finally:
            self._calls -= 1
            if not self._calls:
                self._quiet.set()

    async def _answer_call(self, context: Context, params: types.CallToolRequestParams) -> Any:
        await self._running.steady()
        if params.request_state is not None:
            return await self._rounds.go_on(context, params)
        tool = self._named().get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:200]}")
        try:
            args = RawJson(dumps(params.arguments or {}))
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, f"bad arguments: {error}") from None
        exchange = Exchange(context, params)

        async def run(put: Put) -> dict[str, Any]:
            return await self._run(exchange, tool, args, put)

        if is_modern(context) and offered_by(context.session.client_capabilities):
            return await self._rounds.begin(exchange, run)
        return await run(exchange.put)

    async def _run(
        self, exchange: Exchange, tool: ToolSpec, args: RawJson, put: Put
    ) -> dict[str, Any]:
        """Call a tool the guarded way. What goes wrong is a result that says so."""
        host, context = self._running.host, exchange.context
        capabilities, version = context.session.client_capabilities, context.protocol_version
        may_elicit, modern = can_be_asked(capabilities), is_modern(context)
        async with self._conversation(context) as conversation:
            session = await conversation.session()
            gate = Gate(host, session)
            client = CallingClient(
                conversation,
                offered_by(capabilities),
                put,
                gate,
                may_elicit=may_elicit,
                modern=modern,
            )
            elicit_here.set(put if may_elicit else None)
            client_here.set(client)

            async def call(report: Callable[[str], None]) -> dict[str, Any] | MCPError:
                try:
                    outcome = await host.call(tool.id, args, session, on_progress=report)
                except TinyhostError as error:
                    if modern and _lacks_capability(error):
                        return MCPError(error.code, error.remote_message, error.data)
                    return error_result(str(error), gate.denials)
                finally:
                    client.close()
                return call_result(outcome, version, conversation.take_contexts(), gate.denials)

            async with logs_during(exchange, self._running):
                done = await exchange.with_progress(call)
        if isinstance(done, MCPError):  # raised in a nursery, it would come out in a group
            raise done
        return done

    def _conversation(self, context: Context) -> AbstractAsyncContextManager[Conversation]:
        """The client's session; one that lasts for the call where no other is known."""
        known = connection_of(context).state.get(_STATE) or self._shared
        return nullcontext(known) if known is not None else aclosing(Conversation(self._running))


def _lacks_capability(error: TinyhostError) -> TypeGuard[RemoteError]:
    """Whether a plugin says that it cannot do with what the client offers."""
    return (
        isinstance(error, RemoteError)
        and error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
        and isinstance(error.data, dict)
    )
