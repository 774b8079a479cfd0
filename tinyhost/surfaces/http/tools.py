"""Tools, hooks and sessions: what goes the guarded path."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import trio
from starlette.responses import Response

from ...asking import Headless
from ...codec import RawJson, dumps
from ...outcomes import Caller
from ...outcomes import Session as HostSession
from ...permissions import Origin
from ...present import hook_value, outcome_value, tool_value
from ...running import RunningHost
from .forms import CallBody, HookAnswer, HookBody, Outcome, Session, SessionBody, Tool
from .routes import Call, Query, require, route


def _caller(running: RunningHost) -> Caller:
    """A program, with nobody there to be asked: what would be asked is denied, saying how
    to allow it."""
    return running.host.caller(Origin.PROGRAM, Headless(running.host.config.file))


# --- tools


@route(
    "GET",
    "/tool",
    answer=list[Tool],
    query=[Query(name="plugin", description="Only tools of this plugin.", many=True)],
)
async def _list(call: Call) -> Any:
    """List the tools of all plugins."""
    wanted = call.query.get("plugin")
    tools = call.running.host.manager.tools()
    return [tool_value(tool) for tool in tools if wanted is None or tool.plugin in wanted]


@route("GET", "/tool/{id}", answer=Tool, errors=(404,))
async def _one(call: Call) -> Any:
    """Show one tool."""
    return tool_value(call.running.host.manager.owner(call.path["id"]).tool(call.path["id"]))


@route(
    "POST",
    "/tool/{id}/call",
    body=CallBody,
    answer=Outcome,
    errors=(403, 404, 502, 504),
    waits=True,
    abandons=True,
)
async def _call(call: Call) -> Any:
    """Call a tool: rules and plugins are asked first, as for every call."""
    tool_id, running = call.path["id"], call.running
    running.host.manager.owner(tool_id)  # before a session is begun for it
    arguments = RawJson(dumps(call.body.get("args") or {}))

    async def run(session: HostSession) -> Any:
        began = time.perf_counter()
        outcome = await running.host.call(tool_id, arguments, session)
        return outcome_value(tool_id, outcome, (time.perf_counter() - began) * 1000)

    return await _in_session(call, run)


async def _in_session(call: Call, run: Callable[[HostSession], Awaitable[Any]]) -> Any:
    """Run in the session that is named, or in one that is begun and ended for it."""
    running, wanted = call.running, call.body.get("sessionID") or ""
    caller, directory = _caller(running), call.body.get("directory") or running.host.directory
    if wanted and running.begun(wanted):
        return await run(HostSession(wanted, running.host.directory_of(wanted), caller=caller))
    session = await running.host.session_start(directory, wanted or None, caller)
    try:
        return await run(session)
    finally:
        with trio.CancelScope(shield=True):  # each plugin's hook has a deadline
            await running.host.session_end(session)


@route(
    "POST",
    "/hook/{name}",
    body=HookBody,
    answer=HookAnswer,
    errors=(404,),
    waits=True,
    abandons=True,
)
async def _hook(call: Call) -> Any:
    """Call a hook of all plugins, or of some, and see what it would mean."""
    running, plugins = call.running, call.body.get("plugins")
    result = await running.invoke_hook(call.path["name"], call.body.get("input"), plugins)
    return hook_value(result, running.missing if plugins is None else ())


# --- sessions


@route("GET", "/session", answer=list[Session])
async def _sessions(call: Call) -> Any:
    """List the sessions that have begun and not ended."""
    return [_session_value(session) for session in call.running.host.sessions]


def _session_value(session: HostSession) -> dict[str, Any]:
    contexts = list(session.contexts)
    return {"id": session.id, "directory": session.directory, "contexts": contexts}


@route("POST", "/session", body=SessionBody, answer=Session, status=201, errors=(409,), waits=True)
async def _begin(call: Call) -> Any:
    """Begin a session; plugins may have something to say to its first prompt."""
    running, wanted = call.running, call.body.get("sessionID") or ""
    require(not running.begun(wanted), 409, f"the session {wanted} has begun already")
    directory = call.body.get("directory") or running.host.directory
    session = await running.session_start(directory, wanted or None, _caller(running))
    return _session_value(session)


@route("DELETE", "/session/{id}", status=204, errors=(404,), waits=True)
async def _end(call: Call) -> Any:
    """End a session."""
    wanted, running = call.path["id"], call.running
    require(running.begun(wanted), 404, f"no session {wanted} has begun")
    directory = running.host.directory_of(wanted)
    await running.host.session_end(HostSession(wanted, directory, caller=_caller(running)))
    return Response(status_code=204)
