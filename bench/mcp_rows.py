"""The same tool call through the reference MCP SDK's client and server."""

from __future__ import annotations

import importlib.util

from tinyhost.model import ToolResult

from .harness import Missing, Row
from .programs import Driver
from .rivals import compare
from .tool_rows import call_tool
from .traffic import SHORT_TEXT, expect
from .workspace import Workspace


async def measure(workspace: Workspace, quick: bool) -> list[Row]:
    """One row for each placement. Raises Missing without the package mcp, 2.0 or later."""
    need_mcp()
    rounds, count, driver_count = (3, 50, 10) if quick else (11, 500, 100)
    workspace.add_plugin("bench-echo", "bench_children.sdk_plugin", "main")
    command = workspace.python("-m", "bench_children.mcp_client", SHORT_TEXT)
    with Driver(workspace, command) as driver:
        async with workspace.open_manager() as manager:
            plugin = await manager.load_spec(workspace.spec("bench-echo"))
            call = call_tool(plugin, SHORT_TEXT)
            expect("the tool", await call(), ToolResult(SHORT_TEXT))
            return await compare(
                "mcp",
                "tool call, times faster",
                "reference MCP SDK, both ends",
                goal=25,
                faster=True,
                plugin=plugin,
                call=call,
                count=count,
                driver=driver,
                driver_count=driver_count,
                rounds=rounds,
            )


def need_mcp(module: str = "mcp.server.mcpserver") -> None:
    """Raises Missing where the reference SDK, or the part of it that is used, is not there."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise Missing('the package mcp, 2.0 or later, is not installed: pip install "mcp>=2"')
