"""What a client of the control socket can call: method name -> handler.

Names and shapes are in docs/control.md. Each handler checks what it is given, lets the
running host do it, and returns JSON.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from ..codec import RawJson, dumps
from ..errors import CallDenied, InvalidCall, LoadError, NotLoaded
from ..host import COMMAND_TOOL, Command
from ..model import PluginSpec, ToolResult
from ..outcomes import Session
from ..present import hook_value, outcome_value, run_value, tool_value
from ..process import describe_status
from ..running import RunningHost
from .callers import caller_of
from .offer_methods import METHODS as OFFERS
from .params import Params
from .rpc_connection import ClientRefused, Handler, RpcConnection

if TYPE_CHECKING:
    from ..outcomes import Verdict

_Method = Callable[[RunningHost, RpcConnection, Params], Awaitable[Any]]
_METHODS: dict[str, _Method] = {}
_ALWAYS = (  # also while plugins load
    *("host/ping", "host/status", "host/stop"),
    *("events/follow", "plugin/list"),
)


def methods_of(running: RunningHost) -> Mapping[str, Handler]:
    """All methods, bound to a host."""

    def bound(name: str, method: _Method) -> Handler:
        async def handler(client: RpcConnection, params: Mapping[str, Any]) -> Any:
            if name not in _ALWAYS:
                await running.steady()
                _loaded(running, Params(params))
            return await method(running, client, Params(params))

        return handler

    return {name: bound(name, method) for name, method in {**_METHODS, **OFFERS}.items()}


def _loaded(running: RunningHost, params: Params) -> None:
    """Check that the plugins that are named are there, as --plugin has it. Raises NotLoaded.

    In the guarded path all have their say, whoever is named.
    """
    there = {plugin.name for plugin in running.host.manager.plugins}
    if missing := [name for name in params.texts("plugins") or () if name not in there]:
        raise NotLoaded(missing)


def _method(name: str) -> Callable[[_Method], _Method]:
    def register(method: _Method) -> _Method:
        _METHODS[name] = method
        return method

    return register


# --- the host


@_method("host/ping")
async def _ping(_running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    """For a client that waits for something long: there is somebody."""
    return {}


@_method("host/status")
async def _status(running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    return running.status()


@_method("host/reload")
async def _reload(running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    return await running.reload()


@_method("host/stop")
async def _stop(running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    running.stop()
    return {}


@_method("events/follow")
async def _follow(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    if client.following:
        raise InvalidCall("this connection follows the events already")
    last = running.events.last
    since = min(params.number("since", last), last)
    client.following = True

    async def send() -> None:
        async with aclosing(running.events.batches(since)) as batches:
            async for batch in batches:
                await client.send_notes("event", [event.text for event in batch])

    client.start_soon(send)
    return {"last": last}


@_method("mcp/open")
async def _mcp(running: RunningHost, client: RpcConnection, _params: Params) -> Any:
    """MCP is spoken on this connection from the answer on, a message a line."""
    from .mcp import require, serve_client

    require()
    client.hand_over(partial(serve_client, running))
    return {}


# --- plugins


@_method("plugin/list")
async def _plugins(running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    return {"plugins": running.plugins(), "failed": running.failed()}


@_method("plugin/load")
async def _load(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    """names; options, for one; or mcp, a command or an address, and its name."""
    names, mcp = params.texts("names") or [], params.text("mcp", "")
    if bool(names) == bool(mcp):
        raise InvalidCall("give names, or mcp")
    options = params.mapping("options")
    if options is not None and len(names) > 1:
        raise InvalidCall("options is for one plugin")
    specs = _specs(running, names, options) if names else [_server(running, mcp, params)]

    def done(result: Any) -> None:
        error = None if result.error is None else str(result.error)
        said = {"name": result.spec.name, "seconds": result.seconds, "error": error}
        client.notify("loaded", dumps(said))

    return {"plugins": await running.load_all(specs, on_done=done)}


def _specs(
    running: RunningHost, names: list[str], options: dict[str, Any] | None
) -> list[PluginSpec]:
    return [running.host.config.spec_for(name, options) for name in dict.fromkeys(names)]


def _server(running: RunningHost, mcp: str, params: Params) -> PluginSpec:
    from ..mcp.servers import from_words

    return running.host.config.server_spec(*from_words(mcp, params.text("name", "") or None))


@_method("plugin/unload")
async def _unload(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    await running.unload(params.text("plugin"))
    return {}


@_method("plugin/restart")
async def _restart(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    return await running.restart(params.text("plugin"))


# --- tools and hooks


@_method("tool/list")
async def _tools(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    wanted = params.texts("plugins")
    tools = running.host.manager.tools()
    return {
        "tools": [tool_value(tool) for tool in tools if wanted is None or tool.plugin in wanted],
        "failed": running.failed(),
    }


@_method("tool/call")
async def _call(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    tool_id, args = params.text("tool"), params.mapping("args")
    running.host.manager.owner(tool_id)  # before a session is begun for it
    _tell_of_missing(running, client)
    arguments = RawJson(dumps(args or {}))

    async def call(session: Session) -> Any:
        began = time.perf_counter()
        outcome = await running.host.call(tool_id, arguments, session, on_progress=progress)
        return outcome_value(tool_id, outcome, (time.perf_counter() - began) * 1000)

    def progress(text: str) -> None:
        client.notify("progress", dumps({"text": text}))

    return await _in_session(running, client, params, call)


@_method("hook/invoke")
async def _invoke(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    plugins = params.texts("plugins")
    result = await running.invoke_hook(params.text("hook"), params.mapping("input"), plugins)
    return hook_value(result, running.missing if plugins is None else ())


async def _in_session(
    running: RunningHost,
    client: RpcConnection,
    params: Params,
    body: Callable[[Session], Awaitable[Any]],
) -> Any:
    """Run the body in the session that is named, or in one that is begun and ended for it."""
    caller = caller_of(running, client, params)
    wanted, directory = params.text("session", ""), _directory(running, params)
    if running.begun(wanted):
        return await body(Session(wanted, directory, caller=caller))
    session = await running.host.session_start(directory, wanted or None, caller)
    try:
        return await body(session)
    finally:
        with trio.CancelScope(shield=True):  # each plugin's hook has a deadline
            await running.host.session_end(session)


def _tell_of_missing(running: RunningHost, client: RpcConnection) -> None:
    """Nobody knows what a plugin that did not load would have said to the call."""
    for result in running.missing:
        client.notify("problem", dumps({"text": str(result.error)}))


def _directory(running: RunningHost, params: Params) -> str:
    """Where the call works: as it says, else where its session does, else where the host does."""
    directory = params.text("directory", running.host.directory_of(params.text("session", "")))
    if not directory.startswith("/"):
        raise InvalidCall("directory must be an absolute path")
    return directory


# --- for programs that run tools themselves


@_method("session/start")
async def _start(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    session = await running.session_start(
        _directory(running, params),
        params.text("session", "") or None,
        caller_of(running, client, params),
    )
    status = running.status()
    problems = [*status["notices"], *(failed["error"]["message"] for failed in status["failed"])]
    return {"session": session.id, "contexts": list(session.contexts), "problems": problems}


@_method("session/end")
async def _end(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    await running.host.session_end(_session(running, client, params))
    return {}


def _session(running: RunningHost, client: RpcConnection, params: Params) -> Session:
    caller = caller_of(running, client, params)
    return Session(params.text("session"), _directory(running, params), caller=caller)


@_method("call/judge")
async def _judge(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    tool = params.text("tool")
    verdict = await running.host.judge(
        tool,
        params.mapping("args") or {},
        _session(running, client, params),
        permission=COMMAND_TOOL if tool == COMMAND_TOOL else "",
    )
    return _verdict_value(verdict)


def _verdict_value(verdict: Verdict) -> dict[str, Any]:
    return {
        "action": None if verdict.no_objection else verdict.action.value,
        "args": verdict.args,
        "rewritten": verdict.rewritten,
        "reason": verdict.reason,
        "contexts": list(verdict.contexts),
    }


@_method("call/review")
async def _review(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    after = await running.host.review(
        params.text("tool"),
        dumps(params.mapping("args") or {}),
        params.text("output", ""),
        params.flag("isError"),
        _session(running, client, params),
    )
    return {
        "text": after.text,
        "isError": after.is_error,
        "changed": after.changed,
        "contexts": list(after.contexts),
    }


@_method("shell/env")
async def _env(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    session = _session(running, client, params)
    return {"changes": _changes(running, session, await running.host.shell_env(session))}


def _changes(
    running: RunningHost, session: Session, env: Mapping[str, str]
) -> dict[str, str | None]:
    before = running.host.environ_of(session)
    return {k: env.get(k) for k in before.keys() | env.keys() if env.get(k) != before.get(k)}


@_method("shell/run")
async def _run(running: RunningHost, client: RpcConnection, params: Params) -> Any:
    """Guard a command that the client runs, when it gets the request `exec`."""
    argv, text = params.texts("command"), params.text("shell", "")
    if bool(argv) == bool(text):
        raise InvalidCall("give command, or shell")
    _tell_of_missing(running, client)

    async def guarded(session: Session) -> Any:
        async def execute(command: Command) -> ToolResult:
            changes = _changes(running, session, command.env)
            wanted = {"argv": list(command.argv), "env": changes, "directory": command.directory}
            try:
                answer = await client.ask("exec", wanted)
            except ClientRefused as error:
                raise LoadError(COMMAND_TOOL, "start", str(error)) from None
            code = answer.get("returncode") if isinstance(answer, dict) else None
            if type(code) is not int:
                raise LoadError(COMMAND_TOOL, "run", "the client did not say how it ended")
            return ToolResult(f"the command {describe_status(code)}", is_error=code != 0)

        try:
            done = await running.host.run_command(argv or text, session, execute)
        except CallDenied as error:
            return run_value(session, error)
        return run_value(session, done)

    return await _in_session(running, client, params, guarded)
