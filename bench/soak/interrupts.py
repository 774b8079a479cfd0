"""Ctrl+C between any two lines: `python -m bench.soak.interrupts FOLDER SEED TRIALS`.

Loads, calls and unloads plugins that end for no other reason than being killed, and interrupts
the host before the n-th line of its own code, for random n. Prints JSON: `trials`, how many
were `interrupted`, and the numbers n after which a plugin's process lived on: `left` when it
did so again in one of a few more trials of the same number, else `once`.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import trio

import tinyhost

from .place import Place
from .victim import DEAF, PARENT
from .watch import count_left, plugin_processes

_AGAIN = 10  # trials of a number that left something

_CODE = str(Path(tinyhost.__file__).parent)
_SETTINGS = '{"settings": {"*": {"timeouts": {"handshake": "20s", "stop": "30ms"}}}}'
_ROOT = Path(__file__).resolve().parents[2]


class Tripwire:
    """A trace function (sys.settrace) that interrupts before the n-th line of the host's code."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        """Follow the frames of the host."""
        if not frame.f_code.co_filename.startswith(_CODE):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return self


def trial(place: Place, tripwire: Tripwire) -> bool:
    """Whether the run was interrupted; it ends by itself when the wire is too far away."""

    async def run() -> None:
        async with place.manager(_SETTINGS) as manager:
            await manager.load_all(["deaf", "parent", "well"])
            await manager.call_tool("well", "do", {"token": "t"})
            await manager.unload("parent")

    sys.settrace(tripwire)
    try:
        trio.run(run)
    except BaseException as error:
        if not _is_interrupt(error):
            raise
        return True
    finally:
        sys.settrace(None)
    return False


def _is_interrupt(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_interrupt, error.exceptions))
    return isinstance(error, KeyboardInterrupt)


def main(folder: str, seed: str, trials: str) -> None:
    """All trials in this process, each with a manager of its own."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.disable(logging.CRITICAL)
    place = Place(Path(folder))
    place.add("well")
    place.add_text("deaf", DEAF)
    place.add_text("parent", PARENT)
    far = Tripwire(sys.maxsize)
    trial(place, far)
    lines = sys.maxsize - far.left
    chance = random.Random(int(seed))
    interrupted = 0
    left: list[int] = []
    once: list[int] = []
    for _ in range(int(trials)):
        n = chance.randrange(1, lines)
        interrupted += trial(place, Tripwire(n))
        if _clear(place):
            # The same number is not the same moment in the life of the processes.
            again = any(trial(place, Tripwire(n)) and _clear(place) for _ in range(_AGAIN))
            (left if again else once).append(n)
        gc.collect()
    told = {"trials": int(trials), "interrupted": interrupted, "left": left, "once": once}
    print(json.dumps(told))


def _clear(place: Place) -> bool:
    """Whether there was a process left; it is gone now, and is not counted again."""
    left = count_left(place.root)
    for pid in plugin_processes(place.root):
        os.kill(pid, signal.SIGKILL)
    return bool(left)


def run(root: Path, *, trials: int, seed: int) -> dict[str, Any]:
    """Run the trials in a process of their own, where signals and traces disturb nobody."""
    words = ["-m", "bench.soak.interrupts", str(root), str(seed), str(trials)]
    done = subprocess.run(
        [sys.executable, *words], cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
