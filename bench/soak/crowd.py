"""Many plugins with many calls in flight each; some are cancelled, and some plugins killed."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path

import attrs
import trio

from tinyhost.plugin import Plugin

from .place import Place
from .tally import Tally
from .watch import count_left

# All callers of a plugin that takes one call at a time wait behind each other.
_PATIENT = '{"settings": {"*": {"timeouts": {"hook": "60s", "tool": "60s", "handshake": "30s"}}}}'
_DEEDS = ("", "", "", "", "", "", "hook", "slow", "junk", "error", "twice")


@attrs.frozen
class Crowd:
    """What came of it. repeated: tokens that a plugin carried out more than once."""

    tally: Tally
    killed: int
    repeated: int
    left: int


async def run(root: Path, *, plugins: int, flight: int, rounds: int, seed: int) -> Crowd:
    """`flight` callers for each plugin make `rounds` calls, one after the other."""
    place = Place(root)
    chance = random.Random(seed)
    tally = Tally()
    record = root / "carried-out"
    names = []
    for number in range(plugins):
        # Every other one takes all calls at once, the rest one at a time.
        at_once = flight if number % 2 else 1
        names.append(place.add(f"p{number}", f"file={record}", f"at_once={at_once}"))
    async with place.manager(_PATIENT) as manager:
        for result in await manager.load_all(names):
            if result.error is not None:
                raise result.error
        crowd = list(manager.plugins)
        async with trio.open_nursery() as nursery:
            for plugin in crowd:
                for number in range(flight):
                    caller = random.Random(chance.random())
                    nursery.start_soon(_caller, plugin, number, rounds, tally, caller)
            killed = await _kill_some(crowd, tally, plugins * flight * rounds, chance)
    return Crowd(tally, killed, _repeated(record), count_left(place.root))


async def _caller(
    plugin: Plugin, caller: int, rounds: int, tally: Tally, chance: random.Random
) -> None:
    for number in range(rounds):
        patience = chance.random() * 0.05 if chance.random() < 0.1 else 1000.0
        token = f"{caller}.{number}"
        await tally.call(plugin, token, chance.choice(_DEEDS), patience=patience)


async def _kill_some(crowd: list[Plugin], tally: Tally, calls: int, chance: random.Random) -> int:
    """Kill a tenth of the plugins, spread over all the calls."""
    victims = chance.sample(crowd, max(1, len(crowd) // 10))
    killed = 0
    for number, plugin in enumerate(victims):
        while tally["calls"] < calls * (number + 1) // (len(victims) + 2):  # noqa: ASYNC110
            await trio.sleep(0.001)
        pid = plugin.info.pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def _repeated(record: Path) -> int:
    """The plugins share the file, so each line names the plugin too."""
    return sum(times - 1 for times in Counter(record.read_bytes().split()).values())
