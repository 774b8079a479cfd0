"""Stop and quit take no longer than their graces, whatever the plugin is doing."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest
import trio
import trio.testing
from runner import SLACK, STOP, Bench, Watch, alive, until, within

import tinyhost
from tinyhost import State

FOREVER = ["sleep", 600]
TERM_IGNORED = ["ignore", signal.SIGTERM]
# Dispose, end-of-file and SIGTERM have a grace each.
GRACES = 3 * STOP + 1


@attrs.frozen
class Situation:
    """What a plugin is doing: its switches, and how it gets there when it is loaded."""

    switches: dict[str, Any]
    arrive: Callable[[tinyhost.Plugin, trio.Nursery], Awaitable[None]]


async def _call(plugin: tinyhost.Plugin, args: Any = None) -> None:
    with pytest.raises(tinyhost.PluginError):
        await plugin.call_tool("t", args)


async def _call_perhaps(plugin: tinyhost.Plugin) -> None:
    """One that the plugin may have the time to answer."""
    with contextlib.suppress(tinyhost.PluginError):
        await plugin.call_tool("t")


async def _idle(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    pass


async def _in_a_call(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    nursery.start_soon(_call, plugin)
    await trio.testing.wait_all_tasks_blocked()


async def _queued(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    for _ in range(20):
        nursery.start_soon(_call, plugin)
    await trio.testing.wait_all_tasks_blocked()


async def _not_reading(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    nursery.start_soon(_call, plugin, "x" * 500_000)
    await trio.testing.wait_all_tasks_blocked()


async def _stopped(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    assert plugin.info.pid is not None
    os.kill(plugin.info.pid, signal.SIGSTOP)


async def _stopped_in_a_call(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    await _in_a_call(plugin, nursery)
    await _stopped(plugin, nursery)


async def _dead(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    assert plugin.info.pid is not None
    os.kill(plugin.info.pid, signal.SIGKILL)
    await until(lambda: plugin.info.state is State.RESTARTING, "it has died")


async def _dying(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    assert plugin.info.pid is not None
    os.kill(plugin.info.pid, signal.SIGKILL)


async def _starting_again(plugin: tinyhost.Plugin, nursery: trio.Nursery) -> None:
    await _dead(plugin, nursery)
    nursery.start_soon(_call_perhaps, plugin)
    await until(lambda: plugin.info.state is State.STARTING, "it is started again")


DEAF = {"start": [TERM_IGNORED], "call": [FOREVER], "manifest": {"hooks": ["dispose"]}}
SITUATIONS = {
    "idle": Situation({}, _idle),
    "in a call": Situation(DEAF, _in_a_call),
    "queued": Situation(DEAF, _queued),
    "not reading": Situation({**DEAF, "ready": [FOREVER]}, _not_reading),
    "stopped": Situation(DEAF, _stopped),
    "stopped in a call": Situation(DEAF, _stopped_in_a_call),
    "dead": Situation({}, _dead),
    "dying": Situation({}, _dying),
    "starting again": Situation({}, _starting_again),
    "spinning": Situation({**DEAF, "ready": [["spin", 600]]}, _in_a_call),
}


@pytest.mark.parametrize("how", ["unload", "quit", "stop twice"])
@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
async def test_it_ends_within_its_graces(bench: Bench, situation: Situation, how: str) -> None:
    bench.add("rogue", situation.switches)
    async with trio.open_nursery() as callers:
        async with tinyhost.open_manager(bench.config({})) as manager:
            plugin = await manager.load("rogue")
            await situation.arrive(plugin, callers)
            watch = Watch(GRACES)
            if how == "unload":
                await manager.unload("rogue")
            elif how == "stop twice":
                await _stop_twice(plugin)
        watch.check(how)
        assert plugin.info.state is State.STOPPED
        assert bench.marked() == []


@pytest.mark.parametrize("passes", [0, 1, 2, 5, 20])
async def test_quitting_while_it_starts_leaves_nothing(bench: Bench, passes: int) -> None:
    bench.add("rogue", {"start": [TERM_IGNORED, FOREVER]})
    ended: list[Exception] = []

    async def load(manager: tinyhost.Manager) -> None:
        try:
            await manager.load("rogue")
        except (tinyhost.ManagerClosed, tinyhost.LoadError) as error:
            ended.append(error)

    async with trio.open_nursery() as callers:
        async with tinyhost.open_manager(bench.config({})) as manager:
            callers.start_soon(load, manager)
            for _ in range(passes):
                await trio.lowlevel.checkpoint()
            watch = Watch(GRACES)
        watch.check("quitting")
        await until(lambda: bool(ended), "the load has ended")
        assert bench.marked() == []


async def test_quitting_in_the_handshake_leaves_nothing(bench: Bench) -> None:
    bench.add("rogue", {"start": [TERM_IGNORED], "initialize": [FOREVER]})

    async def load(manager: tinyhost.Manager) -> None:
        with pytest.raises((tinyhost.ManagerClosed, tinyhost.LoadError)):
            await manager.load("rogue")

    async with trio.open_nursery() as callers:
        async with tinyhost.open_manager(bench.config({})) as manager:
            callers.start_soon(load, manager)
            await until(lambda: len(bench.marked()) == 1, "it runs")
            watch = Watch(GRACES)
        watch.check("quitting")
        assert bench.marked() == []


async def test_stopping_does_not_wait_for_threads_of_the_program_around_it(bench: Bench) -> None:
    bench.add("rogue", {"start": [["child", "session"]]})
    release = threading.Event()
    limiter = trio.to_thread.current_default_thread_limiter()
    tokens, limiter.total_tokens = limiter.total_tokens, 1
    try:
        async with tinyhost.open_manager(bench.config({})) as manager, trio.open_nursery() as busy:
            await manager.load("rogue")
            # The thread goes on for longer than unloading may take.
            busy.start_soon(trio.to_thread.run_sync, release.wait, GRACES + SLACK)
            await trio.testing.wait_all_tasks_blocked()
            watch = Watch(GRACES)
            await manager.unload("rogue")
            watch.check("unloading")
            release.set()
        assert not any(alive(pid) for pid in bench.children("rogue"))
    finally:
        release.set()
        limiter.total_tokens = tokens


async def test_a_guardian_that_is_stopped_does_no_harm(bench: Bench) -> None:
    bench.add("rogue", {})
    bench.add("second", {})
    async with tinyhost.open_manager(bench.config({})) as manager:
        plugin = await manager.load("rogue")
        pid = plugin.info.pid
        guardian = manager._guardian
        assert guardian._process is not None
        first = guardian._process.pid
        os.kill(first, signal.SIGSTOP)
        for group in range(20_000):  # more than its pipe holds
            guardian.release(2**24 + group)
        assert not alive(first)
        await manager.load("second")
        assert guardian._process is not None
        assert guardian._process.pid != first
        assert (await manager.call_tool("rogue", "t")).content == "ok"
        assert plugin.info.pid == pid


async def _stop_twice(plugin: tinyhost.Plugin) -> None:
    async with within(GRACES, "two stops at once"), trio.open_nursery() as nursery:
        nursery.start_soon(plugin.stop)
        nursery.start_soon(plugin.stop)
    assert plugin.info.state is State.STOPPED
    with trio.fail_after(0):  # has nothing to wait for
        await plugin.stop()
