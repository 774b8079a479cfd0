"""What the tests of MCP share."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable

import trio

import tinyhost
from tinyhost.config import parse_config

AddServer = Callable[[str], tinyhost.McpServer]
StartHttp = Callable[..., str]

_STARTING = 20.0  # seconds for a server to listen


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + _STARTING
    while time.monotonic() < give_up:
        assert process.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("the server does not listen")


def settings(**timeouts: str) -> tinyhost.Config:
    """A configuration with those timeouts for all."""
    text = tinyhost.dumps({"settings": {"*": {"timeouts": timeouts}}})
    return parse_config(text, "/none/config.json")


async def load(
    manager: tinyhost.Manager,
    server: tinyhost.McpServer,
    name: str = "srv",
    config: tinyhost.Config | None = None,
) -> tinyhost.Plugin:
    """Load a server that is not configured, as the configuration says of all plugins."""
    config = config or tinyhost.Config(file="/none/config.json", exists=False)
    return await manager.load_spec(config.server_spec(name, server))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so, for 5 seconds at most."""
    with trio.fail_after(5):
        while not condition():
            await trio.sleep(0.005)
