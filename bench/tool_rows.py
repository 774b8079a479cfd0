"""Tool calls: many in flight, and large ones, against a blocking ping-pong."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

from tinyhost.model import CallContext, ToolResult
from tinyhost.plugin import Plugin
from tinyhost_sdk import names

from . import placement
from .harness import Row, all_at_once, one_by_one, one_by_one_blocking, take_turns
from .programs import PingPong
from .traffic import SHORT_TEXT, TOOL, expect, tool_params
from .workspace import Workspace

IN_FLIGHT = 64
_KIB = 1024
# Name, what it is, module, function.
_CHILDREN = (
    ("sdk", "SDK plugin with threads", "sdk_plugin", "main_concurrent"),
    ("raw", "bare child", "raw_plugin", "main"),
)
# Name, bytes, calls per round, calls per quick round.
_SIZES = (
    ("1KiB", _KIB, 300, 30),
    ("64KiB", 64 * _KIB, 100, 10),
    ("1MiB", 1024 * _KIB, 10, 3),
)
_CONTEXT = CallContext()


def call_tool(plugin: Plugin, text: str) -> Callable[[], Awaitable[ToolResult]]:
    """A function that sends the text to the echo tool."""
    args = {"text": text}
    return lambda: plugin.call_tool(TOOL, args, _CONTEXT)


async def measure_in_flight(workspace: Workspace, quick: bool) -> list[Row]:
    """64 calls at a time, to a plugin with threads and to a bare one."""
    rows = []
    for name, what, module, function in _CHILDREN:
        program = workspace.add_plugin(f"bench-{name}", f"bench_children.{module}", function)
        with PingPong(workspace, [program]) as floor:
            async with workspace.open_manager() as manager:
                plugin = await manager.load_spec(workspace.spec(f"bench-{name}"))
                rows += await _in_flight(plugin, floor, quick, name, what)
    return rows


async def _in_flight(
    plugin: Plugin, floor: PingPong, quick: bool, name: str, what: str
) -> list[Row]:
    rounds, each = (3, 2) if quick else (11, 20)
    params = tool_params(SHORT_TEXT)
    call = call_tool(plugin, SHORT_TEXT)
    expect("the tool", await call(), ToolResult(SHORT_TEXT))
    cases = {
        "floor": one_by_one_blocking(lambda: floor.ask(names.TOOL_CALL, params), 20 * each),
        "host": all_at_once(call, in_flight=IN_FLIGHT, each=each),
    }
    children = [floor.pid, plugin.info.pid or 0]
    rows = []
    for where in placement.pinned():
        with placement.placed(where, callers=[os.getpid()], children=children):
            times = await take_turns(cases, rounds=rounds)
        rows.append(
            Row(
                name=f"flight.{name}.{where}",
                what=f"tool call, {IN_FLIGHT} in flight, {what}",
                against="blocking ping-pong, serial",
                seconds=times["host"],
                floor_seconds=times["floor"],
            )
        )
    return rows


async def measure_payloads(workspace: Workspace, quick: bool) -> list[Row]:
    """Texts of several sizes to a tool and back."""
    program = workspace.add_plugin("bench-payload", "bench_children.sdk_plugin", "main")
    rows = []
    with PingPong(workspace, [program]) as floor:
        async with workspace.open_manager() as manager:
            plugin = await manager.load_spec(workspace.spec("bench-payload"))
            for name, size, count, quick_count in _SIZES:
                number = quick_count if quick else count
                rows += await _payload(plugin, floor, quick, name, size, number)
    return rows


async def _payload(
    plugin: Plugin, floor: PingPong, quick: bool, name: str, size: int, count: int
) -> list[Row]:
    text = "x" * size
    params = tool_params(text)
    call = call_tool(plugin, text)
    expect("the tool", await call(), ToolResult(text))
    cases = {
        "floor": one_by_one_blocking(lambda: floor.ask(names.TOOL_CALL, params), count),
        "host": one_by_one(call, count),
    }
    children = [floor.pid, plugin.info.pid or 0]
    rows = []
    for where in placement.pinned():
        with placement.placed(where, callers=[os.getpid()], children=children):
            times = await take_turns(cases, rounds=3 if quick else 11)
        rows.append(
            Row(
                name=f"payload.{name}.{where}",
                what=f"tool call, {name} there and back",
                against="blocking ping-pong",
                seconds=times["host"],
                floor_seconds=times["floor"],
            )
        )
    return rows
