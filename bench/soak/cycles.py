"""Loading and unloading, and starts that fail, many times over: what is held must not grow."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs

from tinyhost.errors import LoadError
from tinyhost.manager import Manager

from .place import Place
from .watch import Holdings, count_left

_WARM_UP = 30  # the first cycles fill caches, and start the threads that are kept

_PLUGIN = """\
#!/bin/sh
sleep 1000 &
while read -r line; do
    id=${line#*\\"id\\":}
    echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":${id%%,*},\\"result\\":{\\"id\\":\\"p\\"}}"
done
"""
_FAILING = {
    "exits": "#!/bin/sh\nexit 7\n",
    "killed": "#!/bin/sh\nsleep 1000 &\nkill -9 $$\n",
    "no-interpreter": "#!/nonexistent/interpreter\n",
    "no-program": "neither a program nor a script\n",
    "empty": "",
    "refuses": '#!/bin/sh\nread -r line\necho \'{"id":1,"error":{"code":-1,"message":"no"}}\'\nread -r l\n',
    "bad-manifest": '#!/bin/sh\nread -r line\necho \'{"id":1,"result":{"tools":7}}\'\nread -r l\n',
    "silent": "#!/bin/sh\nsetsid sleep 1000 &\nexec sleep 1000\n",
}
_SETTINGS = """\
{"settings": {"*": {"timeouts": {"handshake": "10s"}},
              "silent": {"timeouts": {"handshake": "50ms"}}}}
"""


@attrs.frozen
class Growth:
    """What this process held after the warm-up and at the end, and processes left over."""

    cycles: int
    before: Holdings
    after: Holdings
    left: int


async def load_and_unload(root: Path, cycles: int) -> Growth:
    """One plugin, again and again, in one manager."""
    place = Place(root)
    name = place.add_text("cycle", _PLUGIN)

    async def cycle(manager: Manager) -> None:
        await manager.load(name)
        await manager.unload(name)

    return await _repeat(place, cycle, cycles)


async def failed_starts(root: Path, starts: int) -> Growth:
    """Plugins that fail to start, each in its own way, in turns."""
    place = Place(root)
    names = itertools.cycle([place.add_text(name, text) for name, text in _FAILING.items()])

    async def cycle(manager: Manager) -> None:
        try:
            await manager.load(next(names))
        except LoadError:
            return
        raise AssertionError("a plugin that cannot start was loaded")

    return await _repeat(place, cycle, starts)


async def managers(root: Path, cycles: int) -> Growth:
    """A manager of its own for each cycle."""
    place = Place(root)
    name = place.add_text("cycle", _PLUGIN)

    async def cycle(_: Manager) -> None:
        async with place.manager() as manager:
            await manager.load(name)

    return await _repeat(place, cycle, cycles)


async def _repeat(place: Place, cycle: Callable[[Manager], Awaitable[None]], cycles: int) -> Growth:
    async with place.manager(_SETTINGS) as manager:
        for _ in range(_WARM_UP):
            await cycle(manager)
        before = Holdings.now(place.root)
        for _ in range(cycles):
            await cycle(manager)
        after = Holdings.now(place.root)
        return Growth(cycles, before, after, count_left(place.root))
