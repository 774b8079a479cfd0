"""Runs rows of the fault matrix against the real host, several at a time."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from fault import ENDS, LIVES, LOADS, RESTARTS, Answers, Fails, Row, Stops

import tinyhost
from tinyhost.config import parse_config

PEERS = Path(__file__).parent.parent / "peers"
AT_ONCE = 8
# On top of each bound, for a machine that is busy with other things.
SLACK = 30.0
HEALTHY = "healthy"
STOP = 0.2
MARK = "TINYHOST_TEST_MARK"
_GUARDS = "known-guards.json"  # meant to stay


class Bench:
    """A home for rogue plugins, each with its switches in a file beside it."""

    def __init__(self, home: Path, tmp: Path) -> None:
        self.plugins = home / "config" / "plugins"
        self.state = home / "state"
        self.config_file = home / "config" / "config.json"
        self.tmp = tmp
        self.mark = os.urandom(8).hex()
        self.bad_signals: list[str] = []
        self._killpg = os.killpg

    def killpg(self, group: int, number: int) -> None:
        """Stands for os.killpg, and notes signals to groups whose leader is no child of ours.

        A child that has been reaped is none, and its number may be another's.
        """
        if parent(group) != os.getpid():
            self.bad_signals.append(f"signal {number} to group {group}, which is not a child's")
        self._killpg(group, number)

    def add(self, name: str, switches: Mapping[str, Any]) -> Path:
        """Put a rogue with these switches into the plugin folder."""
        program = self.plugins / name
        lines = [f"#!{sys.executable} -IS", "import sys", f"sys.path.insert(0, {str(PEERS)!r})"]
        lines += ["import rogue", "rogue.main(__file__)"]
        program.write_text("\n".join(lines) + "\n")
        program.chmod(0o700)
        self.switch(name, switches)
        return program

    def switch(self, name: str, switches: Mapping[str, Any]) -> None:
        """Change what the plugin does in its next life."""
        (self.plugins / f"{name}.json").write_text(json.dumps(switches))

    def children(self, name: str) -> list[int]:
        """The processes that the plugin said it had started."""
        file = self.plugins / f"{name}.pids"
        return [int(pid) for pid in file.read_text().split()] if file.exists() else []

    def config(self, settings: Mapping[str, Mapping[str, Any]], **keys: Any) -> tinyhost.Config:
        """A configuration with long deadlines, a short stop, and what the plugins need."""
        environment = {MARK: self.mark, "TMPDIR": str(self.tmp)}
        timeouts = {"handshake": "60s", "hook": "60s", "tool": "60s", "stop": f"{STOP}s"}
        everyone = {"timeouts": timeouts, "env": environment}
        merged = {name: _merge(everyone, own) for name, own in settings.items()}
        text = json.dumps({"settings": {"*": everyone, **merged}, **keys})
        config = parse_config(text, str(self.config_file))
        assert not config.problems, config.problems
        return config

    def marked(self) -> list[int]:
        """Processes that carry this bench's mark: plugins, and what they have started."""
        wanted = f"{MARK}={self.mark}".encode()
        return [pid for pid in all_pids() if wanted in _environment(pid)]


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        merged[key] = {**merged[key], **value} if isinstance(merged.get(key), dict) else value
    return merged


def all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """State, parent and so on; empty when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def alive(pid: int) -> bool:
    return _stat(pid)[:1] not in ([], ["Z"])


def parent(pid: int) -> int:
    """Its parent, or 0; a process that has ended and not been reaped has one still."""
    return int([*_stat(pid), "0", "0"][1])


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition; AssertionError when it does not come true."""
    with trio.move_on_after(SLACK):
        while not condition():
            await trio.sleep(0.01)
        return
    raise AssertionError(f"not so after {SLACK:g} s: {what}")


async def run_rows(bench: Bench, rows: Sequence[Row]) -> list[str]:
    """Run rows with one manager, `AT_ONCE` at a time; gives back what failed, in words."""
    names = {f"rogue-{index}": row for index, row in enumerate(rows)}
    for name, row in names.items():
        bench.add(name, row.switches)
    bench.add(HEALTHY, {})
    failures: list[str] = []
    limit = trio.CapacityLimiter(AT_ONCE)
    config = bench.config({name: row.settings for name, row in names.items()})
    async with tinyhost.open_manager(config) as manager:
        await manager.load(HEALTHY)

        async def run(name: str, row: Row) -> None:
            async with limit:
                try:
                    await Trial(bench, manager, name, row).run()
                except Exception as error:
                    failures.append(describe(row, error))

        async with trio.open_nursery() as nursery:
            for name, row in names.items():
                nursery.start_soon(run, name, row)
    return failures


def describe(row: Row, error: Exception) -> str:
    """A failed row, with the place where it failed."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}: {last.line}"
    return f"{row.fault}\n  expected: {row.outcome}\n  got: {error!r:.600}\n  at {place}"


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """Fail, saying what took so long, when it takes longer than that and the slack."""
    with trio.move_on_after(seconds + SLACK) as scope:
        yield
    if scope.cancelled_caught:
        raise AssertionError(f"{what} took longer than {seconds:g} s and {SLACK:g} s of slack")


class Watch:
    """Sees to it that what shields itself from cancellation is not too long about it."""

    def __init__(self, seconds: float) -> None:
        self._deadline = trio.current_time() + seconds + SLACK

    def check(self, what: str) -> None:
        """Raises AssertionError when the time has passed."""
        assert trio.current_time() < self._deadline, f"{what} took too long"


class Trial:
    """One row with one manager, which has a healthy plugin beside the rogue."""

    def __init__(self, bench: Bench, manager: tinyhost.Manager, name: str, row: Row) -> None:
        self.bench, self.manager, self.name, self.row = bench, manager, name, row

    async def run(self) -> None:
        """Raises AssertionError, or whatever else went wrong."""
        async with self._others_are_well():
            if self.row.act == "load":
                await self._fails_to_load()
            else:
                await self._call_and_look()
        await self._unload()
        await self._leaves_no_children_behind()

    @asynccontextmanager
    async def _others_are_well(self) -> AsyncIterator[None]:
        """Another plugin answers all the while, and once more afterwards."""

        async def ping() -> None:
            async with within(0, "an answer of a healthy plugin"):
                result = await self.manager.call_tool(HEALTHY, "t")
            assert result.content == "ok"

        async def ping_on() -> None:
            while True:
                await ping()
                await trio.sleep(0.05)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ping_on)
            yield
            await ping()
            nursery.cancel_scope.cancel()

    async def _load(self) -> tinyhost.Plugin:
        async with within(0, "loading"):
            return await self.manager.load(self.name)

    async def _fails_to_load(self) -> None:
        await self._expect(self._load)
        assert self.name not in [info.name for info in self.manager.list()]
        self.bench.switch(self.name, {})
        await self._load()
        await self._answers()

    async def _call_and_look(self) -> None:
        plugin = await self._load()
        if self.row.act == "stop":
            return
        first = plugin.info.pid
        for _ in range(self.row.calls):
            await self._expect(lambda: self._act(plugin))
        self.bench.switch(self.name, {})
        if self.row.then == LIVES:
            await self._answers()
            assert plugin.info.pid == first, plugin.info.message
        else:
            assert self.row.then == RESTARTS
            await until(lambda: plugin.info.pid is None, "its process has ended")
            await self._starts_again(plugin)
            assert plugin.info.pid != first
        await self._is_counted(plugin)

    async def _act(self, plugin: tinyhost.Plugin) -> Any:
        async with within(self.row.bound.seconds, "the call"):
            if self.row.act == "hook":
                return await plugin.invoke_hook("custom", {"x": 1})
            return (await self.manager.call_tool(self.name, "t", self.row.args)).content

    async def _expect(self, act: Callable[[], Awaitable[Any]]) -> None:
        expect = self.row.expect
        if isinstance(expect, Answers):
            answer = await act()
            assert answer == expect.content, answer
            return
        assert isinstance(expect, Fails)
        try:
            answer = await act()
        except expect.error as error:
            expect.check(error)
        else:
            raise AssertionError(f"it answered {answer!r:.200}")

    async def _answers(self) -> None:
        async with within(0, "the next answer"):
            try:
                result = await self.manager.call_tool(self.name, "t")
            except tinyhost.CallTimeout:  # a row's short deadline, on a busy machine
                result = await self.manager.call_tool(self.name, "t")
        assert result.content == "ok", result

    async def _starts_again(self, plugin: tinyhost.Plugin) -> None:
        """Also when its program has gone, and comes back."""
        if not (self.bench.plugins / self.name).exists():
            with pytest.raises(tinyhost.LoadError, match="does not exist"):
                await self.manager.call_tool(self.name, "t")
            self.bench.add(self.name, {})
            await plugin.restart()
        await self._answers()

    async def _is_counted(self, plugin: tinyhost.Plugin) -> None:
        def short_of() -> list[str]:
            counters = plugin.info.counters
            return [
                f"{name} is {getattr(counters, name)}, not {least}"
                for name, least in self.row.counts.items()
                if getattr(counters, name) < least
            ]

        try:
            await until(lambda: not short_of(), "counted")
        except AssertionError:
            raise AssertionError(f"counted too little: {short_of()}") from None

    async def _unload(self) -> None:
        # Dispose, end-of-file and SIGTERM have a grace each.
        seconds = self.row.bound.seconds if isinstance(self.row.expect, Stops) else 3 * STOP + 1
        async with within(seconds, "unloading"):
            await self.manager.unload(self.name)

    async def _leaves_no_children_behind(self) -> None:
        assert self.row.then in (LIVES, RESTARTS, LOADS, ENDS)

        def none_lives() -> bool:
            return not any(alive(pid) for pid in self.bench.children(self.name))

        # One that has been killed takes a moment to be gone on a busy machine.
        await until(none_lives, "its children are gone")
        started = "child" in str(self.row.switches) or "hand over" in str(self.row.switches)
        assert not started or self.bench.children(self.name), "it started no child"


def leftovers(bench: Bench) -> Iterable[str]:
    """What must not be there when a manager has been closed."""
    for pid in bench.marked():
        yield f"process {pid}"
    for file in bench.tmp.iterdir():
        yield f"temporary file {file.name}"
    for file in bench.state.rglob("*"):
        if file.is_file() and not file.match("logs/plugin-*.log*") and file.name != _GUARDS:
            yield f"file {file.relative_to(bench.state)}"
    yield from bench.bad_signals
