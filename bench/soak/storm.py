"""Many calls to a few plugins, which are killed, time out, write junk, and are replaced."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import attrs
import trio

from tinyhost.errors import TinyhostError
from tinyhost.manager import Manager
from tinyhost.model import State
from tinyhost.plugin import Plugin
from tinyhost.process_plugin import ProcessPlugin

from .place import Place
from .tally import Tally
from .watch import Holdings, count_left, peak_rss

_PLUGINS = 8
_CALLERS = 6  # for each plugin
_TIMEOUTS = """\
{"settings": {"*": {"timeouts": {"tool": "300ms", "hook": "300ms", "stop": "200ms"}}}}
"""
# Deed of the plugin -> of how many calls one is of this kind.
_DEEDS = {
    "junk": 50,
    "twice": 100,
    "error": 50,
    "bad": 200,
    "slow": 400,
    "child": 2_000,
    "late": 1_000,
    "hang": 4_000,
    "die": 5_000,
    "exit": 5_000,
}
# Deed of the host, the same.
_MEASURES = {"kill": 5_000, "stop": 20_000, "restart": 5_000, "replace": 5_000}


@attrs.frozen
class Report:
    """What came of a storm; seconds it took, and counts."""

    seconds: float
    tally: Tally
    measures: Counter[str]
    counters: Counter[str]  # of the plugins that were loaded last
    before: Holdings
    after: Holdings
    peak_rss: int  # KiB
    left: int


@attrs.define
class _Storm:
    manager: Manager
    calls: int
    until: float  # on trio's clock
    chance: random.Random
    tally: Tally = attrs.field(factory=Tally)
    measures: Counter[str] = attrs.field(factory=Counter)
    counters: Counter[str] = attrs.field(factory=Counter)

    @property
    def over(self) -> bool:
        return self.tally["calls"] >= self.calls or trio.current_time() >= self.until

    async def caller(self, name: str) -> None:
        """Call one plugin, whatever has become of it, until the storm is over."""
        while not self.over:
            await self.take_measures(name)
            try:
                plugin = self.manager.get(name)
            except TinyhostError:
                await trio.sleep(0.001)  # another caller is replacing it
                continue
            number = self.tally["calls"]
            patience = self.chance.random() * 0.01 if number % 100 == 0 else 1000.0
            kind = await self.tally.call(plugin, f"t{number}", self.deed(), patience=patience)
            if kind == "died":
                await self.revive(plugin)
            if number % 64 == 0:
                await trio.lowlevel.checkpoint()

    def deed(self) -> str:
        return _pick(_DEEDS, self.chance) or ("hook" if self.chance.random() < 0.5 else "")

    async def take_measures(self, name: str) -> None:
        measure = _pick(_MEASURES, self.chance)
        if not measure:
            return
        try:
            await self.take(measure, self.manager.get(name))
        except TinyhostError:
            return  # another caller did the same
        self.measures[measure] += 1

    async def take(self, measure: str, plugin: Plugin) -> None:
        pid = plugin.info.pid
        if measure == "replace":
            self.count(plugin)
            await self.manager.unload(plugin.id)
            await self.manager.load(plugin.name)
        elif measure == "restart" and isinstance(plugin, ProcessPlugin):
            await plugin.restart()
        elif pid is not None:
            os.kill(pid, signal.SIGKILL if measure == "kill" else signal.SIGSTOP)

    async def revive(self, plugin: Plugin) -> None:
        """The person's answer to a plugin that waits: start it now."""
        if plugin.state is State.FAILED or self.chance.random() < 0.1:
            try:
                assert isinstance(plugin, ProcessPlugin)
                await plugin.restart()
                self.measures["revive"] += 1
            except TinyhostError:
                return
        else:
            await trio.sleep(0.01)

    def count(self, plugin: Plugin) -> None:
        """Keep the counters of a plugin that is about to go."""
        counters = plugin.info.counters
        for name in ("deaths", "restarts", "late_replies", "junk_lines"):
            self.counters[name] += getattr(counters, name)


def _pick(rates: dict[str, int], chance: random.Random) -> str:
    """One of the keys, each once in so many draws; mostly ""."""
    draw, edge = chance.random(), 0.0
    for name, rate in rates.items():
        edge += 1 / rate
        if draw < edge:
            return name
    return ""


async def run(
    root: Path,
    *,
    calls: int,
    seconds: float,
    seed: int,
    progress: Callable[[Tally, Counter[str]], None] = lambda *_: None,
) -> Report:
    """Calls with faults until there have been so many, or the time is over."""
    place = Place(root)
    names = [
        place.add(f"p{number}", f"at_once={_CALLERS if number % 2 else 1}")
        for number in range(_PLUGINS)
    ]
    before = Holdings.now(root)
    began = time.monotonic()
    async with place.manager(_TIMEOUTS) as manager:
        for result in await manager.load_all(names):
            if result.error is not None:
                raise result.error
        storm = _Storm(manager, calls, trio.current_time() + seconds, random.Random(seed))
        async with trio.open_nursery() as nursery:
            for name in names:
                for _ in range(_CALLERS):
                    nursery.start_soon(storm.caller, name)
            while not storm.over:
                await trio.sleep(0.5)
                progress(storm.tally, storm.measures)
        for plugin in manager.plugins:
            storm.count(plugin)
    took = time.monotonic() - began
    after = Holdings.now(root)
    left = count_left(place.root)
    return Report(
        took, storm.tally, storm.measures, storm.counters, before, after, peak_rss(), left
    )
