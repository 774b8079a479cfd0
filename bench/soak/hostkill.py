"""However a host ends, and whenever: none of its plugins, nor what they started, lives on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import attrs

from .watch import gone_within, plugin_processes

SIGNALS = {
    "SIGKILL": signal.SIGKILL,
    "SIGTERM": signal.SIGTERM,
    "SIGINT": signal.SIGINT,
    "SIGHUP": signal.SIGHUP,
    "SIGABRT": signal.SIGABRT,
}
ENDS = (*SIGNALS, "crash", "exit", "raise")
WITHIN = 10.0  # seconds: a busy machine needs patience; `gone` says what it took
_ROOT = Path(__file__).resolve().parents[2]


@attrs.frozen
class Kill:
    """One trial. after: seconds from the host's first word. gone: seconds, None if not in time."""

    end: str
    after: float
    gone: float | None


def trial(root: Path, end: str, *, after: float, seen: set[int] | None = None) -> Kill:
    """Start a host in an empty folder, end it, and look for what it left.

    seen: gets the processes that its plugins are and have started, just before the end.
    """
    host = subprocess.Popen(
        [sys.executable, "-m", "bench.soak.victim", str(root), end],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert host.stdin is not None
    assert host.stdout is not None
    with host:
        assert host.stdout.readline() == b"begin\n"
        time.sleep(after)
        if seen is not None:
            seen |= plugin_processes(root.resolve())
        if end in SIGNALS:
            host.send_signal(SIGNALS[end])
        else:
            host.stdin.write(b"end\n")
            host.stdin.flush()
        began = time.monotonic()
        try:
            host.wait(WITHIN)
        except subprocess.TimeoutExpired:
            host.kill()
            return Kill(end, after, None)
        # As long as the host lives, more may come.
        gone = gone_within(WITHIN - (time.monotonic() - began), root.resolve())
        took = time.monotonic() - began
    return Kill(end, after, None if gone is None else took)


def trials(root: Path, count: int, *, seed: int) -> Sequence[Kill]:
    """One after the other; half of them while plugins are still being loaded."""
    chance = random.Random(seed)
    kills = []
    for number in range(count):
        longest = 0.06 if number % 2 else 0.5
        folder = root / str(number)
        folder.mkdir(parents=True)
        kills.append(trial(folder, ENDS[number % len(ENDS)], after=chance.random() * longest))
    return kills


def survived(kills: Sequence[Kill]) -> Counter[str]:
    """How many trials of each end left something behind."""
    return Counter(kill.end for kill in kills if kill.gone is None)
