"""The server as it is mounted into the host's own HTTP API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import trio
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcphost import Tools

from tinyhost.config import parse_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.http import http_surface
from tinyhost.surfaces.mcp import mcp_app
from tinyhost.surfaces.serving import Service, Surface, serve


async def say(_args: Mapping[str, Any], _context: Any) -> str:
    return "said"


async def test_it_is_reached_with_the_token_alone_and_does_not_keep_the_host(home: Path) -> None:
    ready, loaded = trio.open_memory_channel[RunningHost](1)
    rules = '{"permissions": {"allow": ["plugin__*"]}}'

    def surface(running: RunningHost) -> Surface:
        running.host.register(Tools("mine", {"say": say}))
        return http_surface("127.0.0.1:0", mounts={"/mcp": mcp_app})(running)

    service = Service(
        read_config=lambda: parse_config(rules, str(home / "config" / "config.json")),
        directory=str(home),
        environ=dict(os.environ),
        surfaces=(surface,),
        on_ready=ready.send_nowait,
    )
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, service)
            running = await loaded.receive()
            url = f"{running.addresses['http']}/mcp"
            token = Path(running.addresses["httpToken"]).read_text().strip()
            async with httpx2.AsyncClient() as client:
                assert (await client.post(url, json={})).status_code == 401
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=20) as client:
                for mode in ("legacy", "auto"):
                    transport = streamable_http_client(url, http_client=client)
                    async with Client(transport, mode=mode) as mcp:
                        result = await mcp.call_tool("plugin__mine__say", {})
                        assert result.content[0].text == "said"
            running.stop()
