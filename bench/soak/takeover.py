"""Hosts that are ended at random moments, mostly by SIGKILL, each followed at once by the next in its place."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Set
from pathlib import Path

import attrs
import trio

from .clients import LOST, SocketClient
from .place import Place
from .service import Service, configuration
from .traffic import call_by_socket
from .victim import DEAF, PARENT, WEDGED
from .watch import count_left, is_plugin_process, plugin_processes

WITHIN = 10.0  # seconds for plugins to be gone
_WELL = [f"p{number}" for number in range(4)]
_OPTIONS = ("--http", "127.0.0.1:0")


@attrs.define
class Chain:
    """What came of it.

    loading: hosts that were ended at any moment of their start. answered: others, whose plugins all
    answered, with the one that ended in an orderly way. stale: sockets that were left to the next one. hung: hosts that did not end. outlived: processes of plugins that did not go. slowest: seconds
    until they had gone. taken_over: seconds until the slowest next host was ready.
    """

    kills: int = 0
    loading: int = 0
    answered: int = 0
    stale: int = 0
    hung: int = 0
    outlived: int = 0
    slowest: float = 0.0
    taken_over: float = 0.0
    calls: Counter[str] = attrs.field(factory=Counter)
    exit_code: int | None = None
    left: list[str] = attrs.field(factory=list)
    faults: list[str] = attrs.field(factory=list)
    processes_left: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing was left, and every host that had the time took over."""
        left = self.hung or self.outlived or self.left or self.faults or self.processes_left
        ends = self.answered == self.kills - self.loading + 1 and self.exit_code == 0
        return ends and not left


async def run(root: Path, kills: int, *, seed: int) -> Chain:
    """So many hosts, one after the other, and a last one that ends in an orderly way."""
    place, chance, chain = Place(root), random.Random(seed), Chain()
    for name in _WELL:
        place.add(name)
    for name, text in {"wedged": WEDGED, "deaf": DEAF, "parent": PARENT}.items():
        place.add_text(name, text)
    place.write_config(configuration([*_WELL, "wedged", "deaf", "parent"]))
    theirs: Set[int] = frozenset()
    for number in range(kills):
        with Service(place, *_OPTIONS) as service:
            # It starts while those of the one before are still being ended.
            await _gone(theirs, place, chain)
            if number % 2:
                # Anywhere from its first import to its being ready.
                await trio.sleep(chance.random() * max(1.0, chain.taken_over))
                chain.loading += 1
            else:
                await _work(service, chance.random() * 0.5, chain)
            theirs = plugin_processes(place.root)
            # One that is told to end while it loads plugins does so; before that, it just ends.
            service.signal(signal.SIGTERM if number % 4 == 3 else signal.SIGKILL)
            code, _ = await service.ended()
        chain.hung += code is None
        chain.stale += bool(service.left()) and code != 0
        chain.left += service.left() if code == 0 else []
        chain.kills += 1
    with Service(place, *_OPTIONS) as service:
        await _gone(theirs, place, chain)
        await _work(service, 0.0, chain)
        service.signal(signal.SIGTERM)
        chain.exit_code, _ = await service.ended()
    chain.left += service.left()
    chain.faults = service.faults()
    chain.processes_left = count_left(place.root)
    return chain


async def _gone(theirs: Set[int], place: Place, chain: Chain) -> None:
    began = time.monotonic()
    with trio.move_on_after(WITHIN):
        while any(is_plugin_process(pid, place.root) for pid in theirs):  # noqa: ASYNC110
            await trio.sleep(0.01)
    chain.outlived += sum(is_plugin_process(pid, place.root) for pid in theirs)
    chain.slowest = max(chain.slowest, time.monotonic() - began)


async def _work(service: Service, seconds: float, chain: Chain) -> None:
    """Once it is ready, each plugin answers; then they are called for so long."""
    began = time.monotonic()
    await service.ready()
    chain.taken_over = max(chain.taken_over, time.monotonic() - began)
    async with SocketClient.opened(service.path) as client:
        for name in _WELL:
            kind, text = await call_by_socket(client, name, "first", "")
            assert (kind, f"{name} first" in text) == ("answered", True), (kind, text)
    chain.answered += 1
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(_call_for_ever, service, chain)
        await trio.sleep(seconds)
        nursery.cancel_scope.cancel()


async def _call_for_ever(service: Service, chain: Chain) -> None:
    try:
        async with SocketClient.opened(service.path) as client:
            while not client.closed:
                kind, _ = await call_by_socket(client, _WELL[0], "t", "")
                chain.calls[kind] += 1
    except LOST:
        chain.calls["cut off"] += 1
