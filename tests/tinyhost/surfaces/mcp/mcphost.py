"""A running host that serves MCP over HTTP, with plugins of the tests' own."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.routing import Route

import tinyhost
from tinyhost.builtins.base import BuiltinPlugin, BuiltinTool
from tinyhost.config import parse_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.http.server import HttpServer
from tinyhost.surfaces.mcp import mcp_app
from tinyhost.surfaces.serving import Service, Surface, serve

LOOPBACK = ("127.0.0.1:*", "localhost:*")


def http(ready: Callable[[str], None], **options: Any) -> Callable[[RunningHost], Surface]:
    """MCP at /mcp on a free port of loopback; `ready` is told the address."""

    def make(running: RunningHost) -> Surface:
        async def surface(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            app = mcp_app(running, hosts=LOOPBACK, **options)
            around = Starlette(routes=[Route("/mcp", app)])
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            port = listener.socket.getsockname()[1]
            async with app.run(), trio.open_nursery() as nursery:
                await nursery.start(HttpServer(listener, around).run)
                running.addresses["mcp"] = f"http://127.0.0.1:{port}/mcp"
                ready(running.addresses["mcp"])
                task_status.started()

        return surface

    return make


Execute = Callable[[Mapping[str, Any], Any], Awaitable[str | tinyhost.ToolResult]]


class Tools(BuiltinPlugin):
    """A plugin of the process's own, with these tools."""

    def __init__(self, name: str, tools: Mapping[str, Execute]) -> None:
        super().__init__()
        self.name = name
        self._tools = tools

    def tools(self) -> Sequence[BuiltinTool]:
        return [
            BuiltinTool(
                name=name,
                description=f"Runs {name}.",
                parameters={"type": "object"},
                execute=execute,
            )
            for name, execute in self._tools.items()
        ]


@asynccontextmanager
async def hosting(
    home: Path,
    config: Mapping[str, Any],
    *plugins: BuiltinPlugin,
    on_address: Callable[[str], Any] = lambda _address: None,
    **options: Any,
) -> AsyncIterator[tuple[RunningHost, str]]:
    """A running host with that configuration, and the address of its MCP server.

    on_address: called with it before plugins are loaded.
    """
    addresses: list[str] = []
    ready_host, loaded = trio.open_memory_channel[RunningHost](1)

    def ready(address: str) -> None:
        addresses.append(address)
        on_address(address)

    def with_plugins(running: RunningHost) -> Surface:
        for plugin in plugins:
            running.host.register(plugin)
        return http(ready, **options)(running)

    service = Service(
        read_config=lambda: parse_config(json.dumps(config), str(home / "config" / "config.json")),
        directory=str(home),
        environ=dict(os.environ),
        surfaces=(with_plugins,),
        on_ready=ready_host.send_nowait,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, service)
        running = await loaded.receive()
        yield running, addresses[0]
        running.stop()
