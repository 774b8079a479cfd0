"""The live table of `tinyhost top`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tinyhost_cli import output
from tinyhost_cli.client import Client
from tinyhost_cli.output import cell, memory, number

_HEADERS = (
    *("PLUGIN", "STATE", "PID", "CPU %", "MEMORY", "CALLS/S", "P50 MS", "P99 MS"),
    *("CALLS", "ERRORS", "TIMEOUTS", "RESTARTS"),
)
# What a narrow terminal does without, first to last.
_SPARE = ("P50 MS", "CALLS", "RESTARTS", "TIMEOUTS", "PID", "CALLS/S", "ERRORS", "MEMORY", "P99 MS")
_GAP = 3  # cells between columns


def watch(client: Client, every: float, count: int | None, *, as_json: bool) -> None:
    """Look at the plugins again and again, `count` times or for ever."""
    with _screen(as_json) as show:
        before: Mapping[str, Any] | None = None
        done = 0
        while True:
            value = client.call("host/status", {})
            show(_rates(before, value))
            done += 1
            if done == count:
                return
            before = value
            time.sleep(every)


def _rates(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Mapping[str, Any]:
    """Plugins with callsPerSecond and cpuPercent since the look before, or since the host began."""
    past = {plugin["id"]: plugin for plugin in before["plugins"]} if before else {}
    seconds = now["uptimeSeconds"] - (before["uptimeSeconds"] if before else 0)
    plugins = []
    for plugin in now["plugins"]:
        old = past.get(plugin["id"])
        calls = plugin["counters"]["calls"] - (old["counters"]["calls"] if old else 0)
        cpu, old_cpu = plugin["stats"]["cpuSeconds"], old and old["stats"]["cpuSeconds"]
        used = None if cpu is None else max(0.0, cpu - (old_cpu or 0))
        plugins.append(
            {
                **plugin,
                "callsPerSecond": round(calls / seconds, 2) if seconds > 0 else None,
                "cpuPercent": round(100 * used / seconds, 1) if used and seconds > 0 else used,
            }
        )
    plugins.sort(key=lambda plugin: -(plugin["cpuPercent"] or 0))
    return {"uptimeSeconds": now["uptimeSeconds"], "sessions": now["sessions"], "plugins": plugins}


def _row(plugin: Mapping[str, Any]) -> Sequence[str]:
    counters, stats = plugin["counters"], plugin["stats"]
    return (
        plugin["name"],
        plugin["state"],
        number(plugin["pid"], "d"),
        number(plugin["cpuPercent"], ".1f"),
        memory(stats["memoryBytes"]),
        number(plugin["callsPerSecond"], ".1f"),
        number(stats["p50Ms"], ".1f"),
        number(stats["p99Ms"], ".1f"),
        *(str(counters[name]) for name in ("calls", "errors", "timeouts", "restarts")),
    )


@contextlib.contextmanager
def _screen(as_json: bool) -> Iterator[Any]:
    """Yield what shows one look: JSON, plain rows, or a table that stays in its place."""
    if as_json:
        yield _emit
    elif not sys.stdout.isatty():
        yield lambda value: output.table(_HEADERS, [_row(one) for one in value["plugins"]])
    else:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stdout)
        with Live(console=console, auto_refresh=False, screen=True) as live:
            yield lambda value: live.update(_table(value, console.width), refresh=True)


def _emit(value: Mapping[str, Any]) -> None:
    output.emit(value)
    sys.stdout.flush()


def columns_for(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Which columns fit into so many cells: whole ones, since half a name or state is none."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(_HEADERS, *rows, strict=True)]
    kept = list(range(len(_HEADERS)))
    for spare in map(_HEADERS.index, _SPARE):
        if sum(widths[index] + _GAP for index in kept) <= width:
            break
        kept.remove(spare)
    return kept


def _table(value: Mapping[str, Any], width: int) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = [[cell(text) for text in _row(plugin)] for plugin in value["plugins"]]
    kept = columns_for(rows, width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text("Ctrl+C ends"), expand=False)
    for header in (_HEADERS[index] for index in kept):
        left = header in ("PLUGIN", "STATE")
        table.add_column(header, justify="left" if left else "right", no_wrap=True)
    for plugin, row in zip(value["plugins"], rows, strict=True):
        style = "" if plugin["state"] in ("ready", "starting") else "red"
        table.add_row(*(Text(row[index], style=style) for index in kept))
    return table
