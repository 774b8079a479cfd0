"""Floods, and plugins that do not read, cost the host a bounded amount of memory."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from runner import Bench, within

import tinyhost
from tinyhost.dialects.base import Conduct
from tinyhost.errors import PluginDied
from tinyhost.peer import Peer
from tinyhost_sdk import wire

MIB = 1024 * 1024
# A generous cap: the longest line alone may take 10 MiB, several times over for a moment.
CAP = 64 * MIB
PAGE = os.sysconf("SC_PAGE_SIZE")
PROGRESS = {"protocol": {"progress": True}}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@asynccontextmanager
async def bounded_memory() -> AsyncIterator[None]:
    """Look at this process's memory all the while."""
    before = peak = _resident()

    async def look() -> None:
        nonlocal peak
        while True:
            peak = max(peak, _resident())
            await trio.sleep(0.005)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        yield
        nursery.cancel_scope.cancel()
    assert peak - before < CAP, f"{(peak - before) / MIB:.0f} MiB more at the peak"


FLOODS: dict[str, tuple[list[list[Any]], str, int]] = {
    "stderr without newlines": ([["flood stderr", 150 * MIB, 0]], "stderr_dropped", 100 * MIB),
    "stderr in lines": ([["flood stderr", 150 * MIB, 1000]], "stderr_dropped", MIB),
    "stdout without newlines": ([["write", "endless line", 30 * MIB]] * 5, "junk_lines", 1),
    "stdout in junk lines": ([["write", "long line", 2000]] * 50_000, "junk_lines", 50_000),
    "progress": ([["write", "notifications", 100_000]] * 3, "notifications", 300_000),
}


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_is_dropped_and_counted(bench: Bench, name: str) -> None:
    deeds, counter, least = FLOODS[name]
    bench.add("rogue", {"manifest": PROGRESS, "first": deeds})
    heard: list[str] = []
    async with tinyhost.open_manager(bench.config({})) as manager:
        plugin = await manager.load("rogue")
        async with bounded_memory(), within(5, "the flood"):
            try:
                await plugin.call_tool("t", on_progress=lambda text: heard.append(text[:1]))
            except tinyhost.FrameTooLarge:
                assert name == "stdout without newlines"
        assert getattr(plugin.info.counters, counter) >= least
        assert len(heard) == (300_000 if name == "progress" else 0)


async def test_requests_to_a_plugin_that_does_not_read_are_forgotten_at_their_deadlines(
    bench: Bench,
) -> None:
    bench.add("rogue", {"ready": [["sleep", 600]]})
    settings = {"rogue": {"timeouts": {"tool": "300ms"}}}
    ended: list[str] = []
    async with tinyhost.open_manager(bench.config(settings)) as manager:
        plugin = await manager.load("rogue")

        async def call() -> None:
            try:
                await plugin.call_tool("t", "x" * 100_000)
            except tinyhost.CallTimeout as error:
                ended.append("busy" if error.busy else "sent")

        async with bounded_memory(), within(0.3, "the calls"), trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(call)
        assert len(ended) == 100
        assert plugin.info.counters.busy == ended.count("busy") >= 90
        # One deadline has passed, whatever the number of those who waited for it.
        assert plugin.info.state is tinyhost.State.SLOW


async def test_answers_to_a_plugin_that_asks_and_does_not_read_are_dropped_and_counted() -> None:
    far_in, to_plugin = os.pipe()
    from_plugin, far_out = os.pipe()
    for fd in (to_plugin, from_plugin):
        os.set_blocking(fd, False)
    peer = Peer(
        "demo",
        to_plugin,
        from_plugin,
        Conduct(rules=wire.Rules()),
        on_notification=lambda message: None,
        on_request=lambda message: True,
        on_abandoned=lambda call: None,
        on_broken=lambda reason: None,
    )
    answer = b"x" * 1000 + b"\n"
    async with bounded_memory():
        for _ in range(200):
            for _ in range(1000):
                peer.respond(answer)
            await trio.lowlevel.checkpoint()
    assert peer.unsent > 190_000
    peer.notify("m", "{}")
    peer.fail(lambda call: PluginDied("demo", "is gone"))
    for fd in (far_in, far_out):
        os.close(fd)
