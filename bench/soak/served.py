"""A real `tinyhost serve` with all its clients at once, and everything that goes wrong; then its end under load."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import trio

from . import trouble
from .clients import SocketClient
from .place import Place
from .service import Service, configuration
from .tally import Tally
from .traffic import (
    Load,
    Watched,
    by_http,
    by_socket,
    call_by_http,
    call_by_socket,
    follow,
    sessions_by_http,
    sessions_by_socket,
)
from .victim import DEAF, PARENT, WEDGED
from .watch import Holdings, count_left

_STEADY = 8
_AT_ONCE = 6
_AWKWARD = {"wedged": WEDGED, "deaf": DEAF, "parent": PARENT}
# KiB. Events are kept up to 8 MiB of text, and a line may be as long as 16 MiB.
_GROWTH_MOST = 64 * 1024
_OPTIONS = ("--http", "127.0.0.1:0", "--grace", "20s")


@attrs.define(kw_only=True)
class Report:
    """What came of it.

    before, after: what the host held when it was warm, and when all clients were gone. most: the
    most of each that was seen meanwhile. at_stop: calls that were open when it was told to end.
    unanswered: calls that plugins carried out and nobody heard of. repeated: those carried out twice.
    """

    tally: Tally
    measures: Counter[str]
    strays: int
    followers: dict[str, Watched]
    before: Holdings
    after: Holdings
    most: Holdings
    seconds: float
    at_stop: int
    exit_code: int | None
    stop_seconds: float
    unanswered: int
    repeated: int
    faults: list[str]
    left: list[str]
    processes_left: int

    @property
    def problems(self) -> dict[str, Any]:
        """What must not be; empty when all is well."""
        tally, quick = self.tally, [w for name, w in self.followers.items() if "quick" in name]
        found = {
            "lost": tally.lost,
            "crossed": tally["crossed"],
            "cut off": tally["cut off"],
            "strays": self.strays,
            "faults": tally["fault"] + sum(n for k, n in self.measures.items() if "fault" in k),
            "nonsense answered badly": {k: n for k, n in self.measures.items() if "nonsense:" in k},
            "gaps for the quick": sum(watched.gaps for watched in quick),
            "events out of order": sum(watched.disorder for watched in self.followers.values()),
            "descriptors left open": max(0, self.after.descriptors - self.before.descriptors),
            "children left": max(0, self.after.children - self.before.children),
            "memory kept": rss if (rss := self.after.rss - self.before.rss) > _GROWTH_MOST else 0,
            "exit code": self.exit_code,
            "unanswered": self.unanswered,
            "repeated": self.repeated,
            "log": self.faults,
            "left": self.left,
            "processes left": self.processes_left,
        }
        return {key: value for key, value in found.items() if value or value is None}

    @property
    def figures(self) -> dict[str, Any]:
        """For people."""
        held = {
            field: f"{before} -> {after}, at most {most}"
            for field, before, after, most in zip(
                attrs.asdict(self.before),
                attrs.astuple(self.before),
                attrs.astuple(self.after),
                attrs.astuple(self.most),
                strict=True,
            )
        }
        followers = {
            f"{name}: events": f"{watched.seen}, {watched.gaps} gaps"
            for name, watched in self.followers.items()
        }
        return {
            "seconds": round(self.seconds),
            **self.tally,
            **self.measures,
            **followers,
            **held,
            "calls open at SIGTERM": self.at_stop,
            "seconds to its end": round(self.stop_seconds, 2),
        }


async def run(
    root: Path,
    *,
    seconds: float,
    clients: int,
    seed: int,
    progress: Callable[[Load], None] = lambda _: None,
) -> Report:
    """`clients` of each kind for so long; then as many while it is told to end."""
    place = Place(root)
    record = place.root / "carried-out"
    steady = [
        place.add(f"p{number}", f"file={record}", f"at_once={_AT_ONCE if number % 2 else 1}")
        for number in range(_STEADY)
    ]
    for name in trouble.PASSING:
        place.add(name)
    for name, text in _AWKWARD.items():
        place.add_text(name, text)
    plugins = [*steady, *_AWKWARD]
    place.write_config(configuration(plugins))
    with Service(place, *_OPTIONS) as service:
        load = Load(service, await service.ready(), plugins, steady, random.Random(seed))
        await _settle(load)
        seen = [service.hold()]
        began = time.monotonic()
        followers = await _under_load(load, seconds, clients, seen, progress)
        took = time.monotonic() - began
        await _settle(load)
        after = service.hold()
        at_stop, code, stop_seconds = await _stop_under_load(load, clients)
        left = service.left()
    carried = record.read_text().split()
    tokens = {line.partition("/")[2] for line in carried}
    return Report(
        tally=load.tally,
        measures=load.measures,
        strays=load.strays,
        followers=followers,
        before=seen[0],
        after=after,
        most=Holdings(*map(max, zip(*map(attrs.astuple, seen), strict=True))),
        seconds=took,
        at_stop=at_stop,
        exit_code=code,
        stop_seconds=stop_seconds,
        unanswered=len(load.open & tokens),
        repeated=len(carried) - len(set(carried)),
        faults=service.faults(),
        left=left,
        processes_left=count_left(place.root),
    )


async def _under_load(
    load: Load,
    seconds: float,
    clients: int,
    seen: list[Holdings],
    progress: Callable[[Load], None],
) -> dict[str, Watched]:
    followers = {
        f"{pace} {surface}": Watched()
        for pace in ("quick", "slow")
        for surface in ("socket", "HTTP")
    }
    async with trio.open_nursery() as nursery:
        for name, watched in followers.items():
            pace, surface = name.split()
            nursery.start_soon(follow, load, watched, surface, 0.0 if pace == "quick" else 1.0)
        _start_calls(nursery, load, clients)
        for what, pause in _TROUBLE.items():
            nursery.start_soon(trouble.repeat, load, pause, what)
        until = trio.current_time() + seconds
        while trio.current_time() < until:
            await trio.sleep(0.5)
            seen.append(load.service.hold())
            progress(load)
        load.over = True
        await _settle(load)  # which is told to followers, and so ends them
    return followers


_TROUBLE = {
    trouble.die_on_socket: 0.4,
    trouble.die_on_http: 0.2,
    trouble.talk_nonsense: 0.2,
    trouble.talk_nonsense_by_http: 0.2,
    trouble.run_command: 0.5,
    trouble.change_plugin: 0.1,
    trouble.change_configuration: 1.0,
    trouble.kill_plugin: 1.0,
    trouble.revive_plugins: 1.0,
}
_TO_THE_END = (
    trouble.die_on_socket,
    trouble.die_on_http,
    trouble.change_plugin,
    trouble.change_configuration,
)


def _start_calls(nursery: trio.Nursery, load: Load, clients: int) -> None:
    for _ in range(clients):
        nursery.start_soon(by_socket, load, 4)
        nursery.start_soon(by_http, load)
        nursery.start_soon(sessions_by_socket, load)
        nursery.start_soon(sessions_by_http, load)


async def _settle(load: Load) -> None:
    """Bring the host to one and the same state, with nothing of any client left."""
    load.service.place.write_config(configuration(load.plugins))
    async with SocketClient.opened(load.service.path) as client:
        await client.request("host/reload", {})
        for name in trouble.PASSING:
            await client.request("plugin/unload", {"plugin": name})
        for name in load.plugins:
            await client.request("plugin/restart", {"plugin": name})
        name, token = load.steady[0], load.token()
        assert (await call_by_socket(client, name, token, ""))[0] == "answered"
    async with load.service.http(load.status) as http:
        answer = await http.request("GET", "/session")
        assert answer is not None
        for session in answer[1]:
            await http.request("DELETE", f"/session/{session['id']}")
        assert (await call_by_http(http, name, load.token(), ""))[0] == "answered"
    await trio.sleep(0.2)  # for the host to see that they are gone


async def _stop_under_load(load: Load, clients: int) -> tuple[int, int | None, float]:
    """SIGTERM while calls are on their way. How many were; exit code and seconds."""
    load.over, load.stopping = False, True
    async with trio.open_nursery() as nursery:
        for surface in ("socket", "HTTP"):
            nursery.start_soon(follow, load, Watched(), surface, 0.0)
        _start_calls(nursery, load, clients)
        for what in _TO_THE_END:
            nursery.start_soon(trouble.repeat, load, _TROUBLE[what], what)
        await trio.sleep(1.0 + load.chance.random())
        at_stop = len(load.open)
        load.service.signal(signal.SIGTERM)
        code, took = await load.service.ended()
        load.over = True
    return at_stop, code, took
