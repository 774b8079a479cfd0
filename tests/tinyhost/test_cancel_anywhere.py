"""Leaving the host's scope at any moment leaves nothing behind.

Each scenario is run again and again, and cancelled just before the n-th step of any task, for
n = 1, 2, 3, ... until it runs to its end uncancelled.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
import trio

import tinyhost
from tinyhost import Manager, PluginAlreadyLoaded, State
from tinyhost.config import parse_config
from tinyhost.hooks import HOOKS
from tinyhost.opening import open_host
from tinyhost.permissions import Origin
from tinyhost.process_plugin import ProcessPlugin

# Python takes ten times as long to start, and there are many starts to be cancelled.
PLUGIN = """\
#!/bin/sh
sleep 1000 >/dev/null 2>&1 &
setsid sleep 1000 >/dev/null 2>&1 &
while read -r line; do
    id=${line#*\\"id\\":}
    case $line in
    *initialize*) result='{"id":"p","tools":[{"name":"t"}],"hooks":[HOOKS]}' ;;
    *tool/call*) result='{"content":"ok"}' ;;
    *) result='{}' ;;
    esac
    echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":${id%%,*},\\"result\\":$result}"
done
"""
MOST_STEPS = 2000  # so that an endless scenario fails the test


def add_plugins(home: Path, *names: str, hooks: str = '"session.start","custom","dispose"') -> None:
    for name in names:
        file = home / "config" / "plugins" / name
        file.write_text(PLUGIN.replace("HOOKS", hooks))
        file.chmod(0o755)


class Axe(trio.abc.Instrument):
    """Cancels a scope just before the n-th step that any task makes; n = 0 is at once."""

    def __init__(self, n: int, scope: trio.CancelScope) -> None:
        self.left = n
        self.scope = scope
        if n == 0:
            scope.cancel()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.left -= 1
        if self.left == 0:
            self.scope.cancel()


async def cancelled_before_step(n: int, scenario: Callable[[], Awaitable[None]]) -> bool:
    """Run it. False when it ended before its n-th step, so that nothing was cancelled."""
    with trio.fail_after(60), trio.CancelScope() as scope:
        axe = Axe(n, scope)
        trio.lowlevel.add_instrument(axe)
        try:
            await scenario()
        finally:
            trio.lowlevel.remove_instrument(axe)
    return n == 0 or axe.left <= 0


def steps() -> range:
    return range(MOST_STEPS)


def plugin_processes(home: Path) -> set[int]:
    """All that plugins of this test started, wherever it has gone."""
    mark = f"HOME={home}".encode()
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                environ = (entry / "environ").read_bytes().split(b"\0")
                if mark in environ and any(e.startswith(b"TINYHOST_PLUGIN_ID=") for e in environ):
                    found.add(int(entry.name))
    return found


async def left_processes(home: Path) -> set[int]:
    """Those that do not go away; what has been killed may take a moment to be gone."""
    for _ in range(200):
        if not (left := plugin_processes(home)):
            break
        await trio.sleep(0.01)
    return left


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@contextlib.asynccontextmanager
async def nothing_is_left(home: Path) -> AsyncIterator[None]:
    before = descriptors()
    yield
    assert await left_processes(home) == set()
    assert descriptors() <= before


async def check_usable(manager: Manager, home: Path) -> None:
    """Whatever was interrupted: what is listed works, and what is not can be loaded."""
    if "a" not in [info.name for info in manager.list()]:
        await manager.load("a")
    for name in [info.name for info in manager.list()]:
        assert (await manager.call_tool(name, "t")).content == "ok"
        await manager.unload(name)
    assert manager.list() == []
    assert manager.tools() == []
    assert await left_processes(home) == set()
    for name in ("b", "c"):  # their names have become free
        assert not isinstance(await first_error(manager, name), PluginAlreadyLoaded)


async def first_error(manager: Manager, name: str) -> Exception | None:
    """What a load says that is given no time to start anything."""
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await manager.load(name)
        except tinyhost.TinyhostError as error:
            return error
    return None


Scenario = Callable[[Manager], Awaitable[None]]


async def load(manager: Manager) -> None:
    await manager.load("a")


async def load_three(manager: Manager) -> None:
    await manager.load_all(["a", "b", "c"])


async def load_a(manager: Manager) -> None:
    await manager.load_all(["a"])


async def call_tools(manager: Manager) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(manager.call_tool, "a", "t")


async def invoke_hooks(manager: Manager) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(manager.get("a").invoke_hook, "custom", {})


async def unload(manager: Manager) -> None:
    await manager.unload("a")


async def restart(manager: Manager) -> None:
    plugin = manager.get("a")
    assert isinstance(plugin, ProcessPlugin)
    await plugin.restart()


async def load_and_kill(manager: Manager) -> None:
    plugin = await manager.load("a")
    assert plugin.info.pid is not None
    os.kill(plugin.info.pid, signal.SIGKILL)
    while plugin.state is not State.RESTARTING:
        await trio.sleep(0.001)


async def nothing(manager: Manager) -> None:
    pass


@pytest.mark.parametrize(
    ("before", "scenario"),
    [
        (nothing, load),
        (nothing, load_three),
        (load_a, call_tools),
        (load_a, invoke_hooks),
        (load_three, unload),
        (load_a, restart),
        (load_and_kill, call_tools),
    ],
)
async def test_what_was_interrupted_leaves_the_manager_as_good_as_new(
    before: Scenario, scenario: Scenario, home: Path
) -> None:
    add_plugins(home, "a", "b", "c")
    for n in steps():
        async with nothing_is_left(home), tinyhost.open_manager() as manager:
            await before(manager)
            cancelled = await cancelled_before_step(n, partial(scenario, manager))
            await check_usable(manager, home)
        if not cancelled:
            break
    assert not cancelled
    assert n > 2


async def test_an_interrupted_shutdown_is_made_good_by_leaving_the_scope(home: Path) -> None:
    add_plugins(home, "a", "b")
    for n in steps():
        async with nothing_is_left(home), tinyhost.open_manager() as manager:
            await manager.load_all(["a", "b"])
            cancelled = await cancelled_before_step(n, manager.shutdown)
        if not cancelled:
            break
    assert not cancelled
    assert n > 2


async def test_a_manager_can_be_interrupted_from_its_opening_to_its_end(home: Path) -> None:
    add_plugins(home, "a", "b")

    async def run() -> None:
        async with tinyhost.open_manager() as manager:
            await manager.load_all(["a", "b"])
            await manager.call_tool("b", "t")
            await manager.unload("a")

    for n in steps():
        async with nothing_is_left(home):
            cancelled = await cancelled_before_step(n, run)
        if not cancelled:
            break
    assert not cancelled
    assert n > 10


async def test_a_whole_session_of_a_host_can_be_interrupted_anywhere(home: Path) -> None:
    add_plugins(home, "a", "b", hooks=json.dumps(list(HOOKS))[1:-1])
    text = json.dumps({"plugins": ["a", "b"]})
    config = parse_config(text, str(home / "config" / "config.json"))

    async def run() -> None:
        async with open_host(config, origin=Origin.PERSON) as host:
            await host.load_all()
            session = await host.session_start("/")
            await host.call("plugin__a__t", {}, session)
            await host.session_end(session)

    for n in steps():
        async with nothing_is_left(home):
            cancelled = await cancelled_before_step(n, run)
        if not cancelled:
            break
    assert not cancelled
    assert n > 20
