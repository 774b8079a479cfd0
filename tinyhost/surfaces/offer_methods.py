"""The methods for what plugins offer beyond tools and hooks: commands and services."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import trio

from ..bingo.forms import write
from ..present import command_value, service_value
from ..running import RunningHost
from .params import Params
from .rpc_connection import RpcConnection


async def _commands(running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    offers = running.host.manager.offers.of("commands").values()
    return {"commands": [command_value(offer) for offer in offers], "failed": running.failed()}


async def _run(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    """name, with or without its slash; args: what was typed behind it."""
    name = params.text("name")
    session = await running.host.session_start(params.text("directory", running.host.directory))
    try:
        outcome = await running.host.manager.offers.run_command(
            name, params.text("args", ""), directory=session.directory, session=session.id
        )
    finally:
        with trio.CancelScope(shield=True):  # each plugin's hook has a deadline
            await running.host.session_end(session)
    return {"command": name.removeprefix("/"), "outcome": write(outcome)}


async def _complete(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    directory = params.text("directory", running.host.directory)
    found = await running.host.manager.offers.complete(params.text("text"), directory=directory)
    return {"completions": [{"value": one.value, "label": one.label} for one in found]}


async def _services(running: RunningHost, _client: RpcConnection, _params: Params) -> Any:
    offers = running.host.manager.offers.of("services").values()
    return {"services": [service_value(offer) for offer in offers], "failed": running.failed()}


async def _call(running: RunningHost, _client: RpcConnection, params: Params) -> Any:
    return {
        "result": await running.host.manager.offers.call_service(
            params.text("key"), params.text("method"), params.value("params")
        )
    }


METHODS: Mapping[str, Callable[[RunningHost, RpcConnection, Params], Awaitable[Any]]] = {
    "command/list": _commands,
    "command/run": _run,
    "command/complete": _complete,
    "service/list": _services,
    "service/call": _call,
}
