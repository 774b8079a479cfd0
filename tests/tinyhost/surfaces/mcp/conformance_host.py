"""Serves the conformance suite: prints the address of a host with the tools it calls.

Ends when its standard input does.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import trio
from mcphost import Tools, http

from tinyhost.config import Config, parse_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.serving import Service, Surface, serve

HERE = Path(__file__).parent
CONFIG = {
    "mcpServers": {
        name: {"command": sys.executable, "args": [str(HERE / f"conformance_{script}.py")]}
        for name, script in (("suite", "server"), ("curious", "asking"))
    },
    "permissions": {
        "allow": ["plugin__*", "sampling__*"],
        "ask": ["plugin__suite__test_streaming_elicitation"],
    },
}


def read() -> Config:
    return parse_config(json.dumps(CONFIG), str(Path(os.environ["HOME"]) / "config.json"))


def talking(running: RunningHost) -> Surface:
    """Add tools that say something to the person, and that add a tool."""

    async def talk(_args: Mapping[str, Any], _context: Any) -> str:
        for text in ("started", "processing", "completed"):
            running.host.manager.offers.notice("talker", "info", text)
            await trio.sleep(0.05)
        return "done"

    numbers = itertools.count()

    async def change(_args: Mapping[str, Any], _context: Any) -> str:
        running.host.register(Tools(f"added{next(numbers)}", {"added": talk}))
        return "done"

    tools = {
        "test_tool_with_logging": talk,
        "test_logging_tool": talk,
        "test_trigger_tool_change": change,
    }
    running.host.register(Tools("talker", tools))

    async def surface(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
        running.stop()

    return surface


async def main() -> None:
    def ready(address: str) -> None:
        print(address, flush=True)

    service = Service(
        read_config=read,
        directory=os.environ["HOME"],
        environ=dict(os.environ),
        surfaces=(talking, http(ready, name_of=lambda tool: tool.name)),
    )
    await serve(service)


trio.run(main)
