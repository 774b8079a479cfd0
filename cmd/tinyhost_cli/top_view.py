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
    """Plugins with callsPerSecond and cpuPercent since the look before, or since they started."""
    past = {plugin["id"]: plugin for plugin in before["plugins"]} if before else {}
    plugins = []
    for plugin in now["plugins"]:
        old = past.get(plugin["id"])
        seconds = now["uptimeSeconds"] - (before["uptimeSeconds"] if before and old else 0)
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

        with Live(console=Console(file=sys.stdout), auto_refresh=False, screen=True) as live:
            yield lambda value: live.update(_table(value), refresh=True)


def _emit(value: Mapping[str, Any]) -> None:
    output.emit(value)
    sys.stdout.flush()


def _table(value: Mapping[str, Any]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text("Ctrl+C ends"), expand=False)
    for header in _HEADERS:
        table.add_column(header, justify="left" if header in ("PLUGIN", "STATE") else "right")
    for plugin in value["plugins"]:
        style = "" if plugin["state"] in ("ready", "starting") else "red"
        table.add_row(*(Text(cell(text), style=style) for text in _row(plugin)))
    return table
