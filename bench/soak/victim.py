"""A host that is going to be killed: `python -m bench.soak.victim FOLDER END`.

Loads plugins that are well-behaved, wedged, or have children everywhere, then calls them for ever. END "crash"
and "exit" are how it ends itself after a word on its standard input; else somebody else does.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

import trio

from tinyhost.errors import TinyhostError
from tinyhost.plugin import Plugin

from .place import Place

# An orderly end gives each plugin this grace twice.
SETTINGS = '{"settings": {"*": {"timeouts": {"handshake": "20s", "stop": "200ms"}}}}'
WEDGED = """\
#!/bin/sh
trap '' TERM HUP INT PIPE
echo '{"jsonrpc":"2.0","id":1,"result":{"id":"p","tools":[{"name":"do"}]}}'
kill -STOP $$
"""
DEAF = """\
#!/bin/sh
trap '' TERM HUP INT PIPE
echo '{"jsonrpc":"2.0","id":1,"result":{"id":"p","tools":[{"name":"do"}]}}'
while :; do sleep 1000; done
"""
PARENT = """\
#!/bin/sh
sleep 1000 &
setsid sleep 1000 &
(setsid sh -c 'sleep 1000 & sleep 1000 &' &)
nohup sleep 1000 >/dev/null 2>&1 &
sleep 1000 | sleep 1000 &
echo '{"jsonrpc":"2.0","id":1,"result":{"id":"p","tools":[{"name":"do"}]}}'
while read -r line; do :; done
"""
SLOW_START = """\
#!/bin/sh
setsid sleep 1000 &
exec sleep 1000
"""


def fill(place: Place) -> list[str]:
    """Put the plugins into the place; gives their names."""
    texts = {"wedged": WEDGED, "deaf": DEAF, "parent": PARENT, "slow-start": SLOW_START}
    return [place.add("well"), *(place.add_text(name, text) for name, text in texts.items())]


async def main(folder: Path, end: str) -> None:
    """Say "begin" before the first plugin is loaded, and "loaded" after all but one have been."""
    place = Place(folder)
    names = fill(place)
    async with place.manager(SETTINGS) as manager, trio.open_nursery() as nursery:
        print("begin", flush=True)
        nursery.start_soon(_obey, end)
        await manager.load_all(names[:-1])
        print("loaded", flush=True)
        nursery.start_soon(manager.load_all, names[-1:])
        for plugin in manager.plugins:
            nursery.start_soon(_call_for_ever, plugin)


async def _call_for_ever(plugin: Plugin) -> None:
    while True:
        try:
            await plugin.call_tool("do", {"token": "t"})
        except TinyhostError:
            await trio.sleep(0.01)


async def _obey(end: str) -> None:
    await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    if end == "exit":
        os._exit(1)
    if end == "crash":
        ctypes.string_at(0)
    if end == "raise":
        raise RuntimeError("a fault of the program that embeds the host")


if __name__ == "__main__":
    # Whoever started this may have had them ignored (nohup, a shell's background).
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    trio.run(main, Path(sys.argv[1]), sys.argv[2])
