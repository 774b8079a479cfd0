"""All tools of a running host as an MCP server. docs/mcp-server.md says how they look there.

The official package `mcp` does the protocol; it is imported when a client is to be served.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import trio

from ...errors import ConfigError
from ...running import RunningHost
from ..serving import Surface
from .stdio import claim

if TYPE_CHECKING:
    from .http import McpApp

__all__ = ["is_installed", "mcp_app", "mcp_stdio", "require", "serve_client"]

_EXTRA = (
    "tools as an MCP server need the Python package mcp, which comes with tinyhost's extra mcp:"
    " pip install 'tinyhost-runtime[mcp]'"
)


def mcp_app(running: RunningHost, **options: Any) -> McpApp:
    """The server as an ASGI app, to be mounted; serves while `app.run()` is entered.

    options: see McpApp and ToolServer. Raises ConfigError when the extra is not installed.
    """
    require()
    from .http import McpApp

    return McpApp(running, **options)


def mcp_stdio() -> Callable[[RunningHost], Surface]:
    """A surface that serves one client on standard input and output.

    They are its own from its start until the process ends: whatever is printed goes to
    standard error. The host is told to stop when the client ends its stream. Raises
    ConfigError when the extra is not installed.
    """
    require()

    def make(running: RunningHost) -> Surface:
        async def surface(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            incoming, outgoing = claim()
            async with incoming, outgoing:
                running.addresses["mcp"] = "stdio"
                task_status.started()
                await serve_client(running, incoming, outgoing)
            running.stop()

        return surface

    return make


async def serve_client(
    running: RunningHost, incoming: trio.abc.ReceiveStream, outgoing: trio.abc.SendStream
) -> None:
    """Serve one client in lines over a pair of streams, until it is gone.

    Raises ConfigError when the extra is not installed.
    """
    require()
    # It takes most of a second, in which plugins can be started.
    await trio.to_thread.run_sync(importlib.import_module, f"{__name__}.server")
    from .lines import serve_lines
    from .server import ToolServer

    server = ToolServer(running, one_client=True)
    await serve_lines(server.protocol, incoming, outgoing)


def is_installed() -> bool:
    """Whether the extra is there."""
    return importlib.util.find_spec("mcp") is not None


def require() -> None:
    """Raises ConfigError when the extra is not installed."""
    if not is_installed():
        raise ConfigError(_EXTRA)
