"""Plugins: which there are, load, unload, restart, events to them, their logs."""

from __future__ import annotations

from typing import Any

import attrs
import trio
from starlette.responses import Response

from ... import registry
from ...builtins.base import BuiltinPlugin
from ...errors import PluginNotFound, PluginSkipped
from .forms import (
    EventAnswer,
    EventBody,
    LoadAnswer,
    LoadBody,
    Log,
    Plugin,
    RegistryEntry,
    UnloadBody,
)
from .logs import last_lines
from .routes import Call, Query, require, route

_LINES = {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 200}


@route("GET", "/plugin", answer=list[Plugin])
async def _list(call: Call) -> Any:
    """List the loaded plugins, in load order."""
    return call.running.plugins()


@route(
    "GET",
    "/plugin/registry",
    answer=list[RegistryEntry],
    query=[
        Query(name="search", description="A word in name, description or category."),
        Query(name="category", description="The slug of a category."),
    ],
)
async def _registry(call: Call) -> Any:
    """List the plugins that are known to exist."""
    found = registry.search(call.query.get("search", ""))
    category = call.query.get("category")
    return [_entry(one) for one in found if category in (None, one.category)]


def _entry(entry: registry.RegistryEntry) -> dict[str, Any]:
    fields = attrs.asdict(entry)
    optional = ("binary", "package", "repo")
    return {name: value for name, value in fields.items() if value or name not in optional}


@route(
    "POST",
    "/plugin/load",
    body=LoadBody,
    answer=LoadAnswer,
    errors=(404, 409, 422, 502, 504),
    waits=True,
)
async def _load(call: Call) -> Any:
    """Load a plugin."""
    name, running = call.body["name"], call.running
    spec = running.host.config.spec_for(name, call.body.get("options"))
    try:
        plugin = await running.load(spec)
    except PluginSkipped:
        plugin, status = running.plugin(name), "skipped"
    else:
        status = "loaded"
    return {"status": status, "name": name, "id": plugin["id"], "plugin": plugin}


@route("POST", "/plugin/unload", body=UnloadBody, status=204, errors=(404, 409), waits=True)
async def _unload(call: Call) -> Any:
    """Unload a plugin, or give up one that failed to load."""
    return await _unloaded(call, call.body["id"])


@route("POST", "/plugin/event", body=EventBody, answer=EventAnswer, waits=True, abandons=True)
async def _event(call: Call) -> Any:
    """Tell plugins of an event of your own program."""
    session = call.body.get("sessionID") or ""
    result = await call.running.event(call.body["event"], session, call.body.get("data"))
    return {"status": "ok", "plugins": result.to_json()["plugins"]}


@route("GET", "/plugin/{id}", answer=Plugin, errors=(404,))
async def _one(call: Call) -> Any:
    """Show one plugin."""
    return call.running.plugin(call.path["id"])


@route("DELETE", "/plugin/{id}", status=204, errors=(404, 409), waits=True)
async def _delete(call: Call) -> Any:
    """Unload a plugin, or give up one that failed to load."""
    return await _unloaded(call, call.path["id"])


async def _unloaded(call: Call, id: str) -> Response:
    _refuse_builtin(call, id)
    await call.running.unload(id)
    return Response(status_code=204)


def _refuse_builtin(call: Call, id: str) -> None:
    for plugin in call.running.host.manager.plugins:
        builtin = isinstance(plugin, BuiltinPlugin) and id in (plugin.id, plugin.name)
        require(not builtin, 409, f"{plugin.name} is built in, and is there as long as the host")


@route(
    "POST",
    "/plugin/{id}/restart",
    answer=Plugin,
    errors=(404, 409, 422, 502, 504),
    waits=True,
)
async def _restart(call: Call) -> Any:
    """End a plugin and start it anew, or try again to load one that failed."""
    _refuse_builtin(call, call.path["id"])
    return await call.running.restart(call.path["id"])


@route(
    "GET",
    "/plugin/{id}/log",
    answer=Log,
    errors=(404,),
    query=[Query(name="lines", description="How many lines.", schema=_LINES)],
)
async def _log(call: Call) -> Any:
    """Show the last of what a plugin wrote to standard error; secrets are masked."""
    name = _name(call)
    path = call.running.host.manager.preparer.log_path(name)
    lines = await trio.to_thread.run_sync(last_lines, path, call.query.get("lines", 200))
    return {"plugin": name, "path": path, "lines": lines}


def _name(call: Call) -> str:
    """The name of a loaded plugin, or of one that failed to load."""
    wanted = call.path["id"]
    if any(failed["name"] == wanted for failed in call.running.failed()):
        return wanted
    try:
        return call.running.host.manager.get(wanted).name
    except PluginNotFound as error:
        error.add_note("Logs of plugins that are not loaded are in the state folder.")
        raise
