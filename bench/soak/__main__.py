"""`python -m bench.soak`: run all parts at full size, print what came of them.

Exit status 1 when a call was lost or crossed, or anything was left behind.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import trio

from . import crowd, cycles, hostkill, interrupts, served, storm, takeover
from .tally import Tally
from .traffic import Load
from .watch import peak_rss

_GROWTH_MOST = 8 * 1024  # KiB of memory, for any number of cycles
Figures = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts one after the other."""
    options = _parse(arguments)
    logging.disable(logging.CRITICAL)  # each death would be a line
    result: Figures = {
        "started": datetime.now(UTC).isoformat("T", "seconds"),
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} processors, {platform.system()} {platform.release()}",
        "seed": options.seed,
    }
    for name, part in PARTS.items():
        if options.only and name not in options.only:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="tinyhost-soak-") as folder:
            result[name] = part(Path(folder), options)
        if not options.json:
            print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in result[name].items()))
    if options.json:
        print(json.dumps(result, indent=2))
    parts = [result[name] for name in PARTS if name in result]
    return 0 if all(part["ok"] for part in parts) else 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    add = parser.add_argument
    add("--calls", type=int, default=1_000_000, help="calls of the storm (default 1000000)")
    add("--minutes", type=float, default=60.0, help="end the storm after so long (default 60)")
    add("--seed", type=int, default=1, help="of all that is left to chance (default 1)")
    add("--scale", type=float, default=1.0, help="size of the other parts (default 1)")
    add("--only", action="append", choices=PARTS, help="run this part; may be repeated")
    add("--json", action="store_true", help="print JSON at the end")
    return parser.parse_args(arguments)


def _storm(folder: Path, options: argparse.Namespace) -> Figures:
    shown = time.monotonic()

    def progress(tally: Tally, measures: Counter[str]) -> None:
        nonlocal shown
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"  {dict(tally)} {dict(measures)}", file=sys.stderr, flush=True)

    report = trio.run(
        lambda: storm.run(
            folder,
            calls=options.calls,
            seconds=options.minutes * 60,
            seed=options.seed,
            progress=progress,
        )
    )
    tally, before, after = report.tally, report.before, report.after
    lost, crossed = tally.lost, tally["crossed"]
    return {
        "ok": not (lost or crossed or report.left) and after.descriptors <= before.descriptors,
        "seconds": round(report.seconds),
        **tally,
        "lost": lost,
        "crossed": crossed,
        **{f"host: {key}": value for key, value in report.measures.items()},
        **{key.replace("_", " "): value for key, value in report.counters.items()},
        "peak RSS KiB": report.peak_rss,
        "descriptors": f"{before.descriptors} -> {after.descriptors}",
        "children": f"{before.children} -> {after.children}",
        "processes left": report.left,
    }


def _crowd(folder: Path, options: argparse.Namespace) -> Figures:
    plugins = max(2, int(200 * options.scale))
    done = trio.run(
        lambda: crowd.run(folder, plugins=plugins, flight=64, rounds=4, seed=options.seed)
    )
    lost, crossed = done.tally.lost, done.tally["crossed"]
    return {
        "ok": not (lost or crossed or done.repeated or done.left),
        "plugins": plugins,
        **done.tally,
        "lost": lost,
        "crossed": crossed,
        "plugins killed": done.killed,
        "calls carried out twice": done.repeated,
        "processes left": done.left,
        "peak RSS KiB": peak_rss(),
    }


def _cycles(run: Callable[..., Any], count: int) -> Callable[..., Figures]:
    def part(folder: Path, options: argparse.Namespace) -> Figures:
        done = trio.run(run, folder, max(1, int(count * options.scale)))
        before, after = attrs.asdict(done.before), attrs.asdict(done.after)
        grown = {key: after[key] - before[key] for key in before}
        rss = grown.pop("rss")
        ok = not any(value > 0 for value in grown.values()) and rss < _GROWTH_MOST
        shown = {key: f"{before[key]} -> {after[key]}" for key in before}
        shown["RSS KiB"] = shown.pop("rss")
        return {
            "ok": ok and not done.left,
            "cycles": done.cycles,
            **shown,
            "processes left": done.left,
        }

    return part


def _host_killed(folder: Path, options: argparse.Namespace) -> Figures:
    kills = hostkill.trials(folder, max(1, int(200 * options.scale)), seed=options.seed)
    survived = hostkill.survived(kills)
    times = [kill.gone for kill in kills if kill.gone is not None]
    return {
        "ok": not survived,
        "trials": len(kills),
        **Counter(kill.end for kill in kills),
        "left something": dict(survived),
        "slowest s": round(max(times, default=0.0), 2),
    }


def _interrupts(folder: Path, options: argparse.Namespace) -> Figures:
    done = interrupts.run(folder, trials=max(1, int(500 * options.scale)), seed=options.seed)
    return {"ok": not done["left"], **done}


def _served(folder: Path, options: argparse.Namespace) -> Figures:
    shown = time.monotonic()

    def progress(load: Load) -> None:
        nonlocal shown
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"  {dict(load.tally)} {dict(load.measures)}", file=sys.stderr, flush=True)

    seconds = min(options.minutes * 60, 90 * options.scale)
    report = trio.run(
        lambda: served.run(folder, seconds=seconds, clients=6, seed=options.seed, progress=progress)
    )
    return {"ok": not report.problems, **report.figures, "problems": report.problems}


def _taken_over(folder: Path, options: argparse.Namespace) -> Figures:
    kills = max(2, int(30 * options.scale))
    chain = trio.run(lambda: takeover.run(folder, kills, seed=options.seed))
    return {"ok": chain.ok, **attrs.asdict(chain)}


PARTS: dict[str, Callable[[Path, argparse.Namespace], Figures]] = {
    "storm": _storm,
    "crowd": _crowd,
    "cycles": _cycles(cycles.load_and_unload, 10_000),
    "managers": _cycles(cycles.managers, 1_000),
    "failed-starts": _cycles(cycles.failed_starts, 500),
    "host-killed": _host_killed,
    "interrupts": _interrupts,
    "served": _served,
    "taken-over": _taken_over,
}


if __name__ == "__main__":
    sys.exit(main())
