"""Commands for the running host itself: status, top, events, reload and stop."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

from tinyhost_cli import output
from tinyhost_cli.attached import directory_of
from tinyhost_cli.client import PATIENCE, Client, HostGone, HostSilent, attach, is_stopped
from tinyhost_cli.common import attach_options
from tinyhost_cli.output import memory, number
from tinyhost_cli.setup import Setup

_NO_HOST = "no host is running with this configuration; start one with: tinyhost serve"
_LOOK = 0.02  # seconds between looks at a host that is ending


def running_host(setup: Setup) -> Client:
    """A connection to the running host. Raises HostGone when there is none."""
    client = attach(setup.directory, setup.config_file)
    if client is None:
        raise HostGone(_NO_HOST)
    return client


def _ask(setup: Setup, method: str) -> Any:
    with running_host(setup) as client:
        return client.call(method, {"directory": directory_of(setup)})


# --- status


@click.command()
@attach_options
def status(setup: Setup) -> int:
    """Show the running host: since when, with what configuration, and each plugin's state.

    Exit code 1 when no host is running, when a plugin failed to load, or has failed for good.
    """
    value = _ask(setup, "host/status")
    if setup.as_json:
        output.emit(value)
    else:
        output.facts("host", _facts(value))
        output.table(_HEADERS, [_row(plugin) for plugin in value["plugins"]])
        for text in (*value["problems"], *value["notices"]):
            output.problem(text)
        for failed in value["failed"]:
            output.problem(failed["error"]["message"])
        for plugin in value["plugins"]:
            if plugin["message"]:
                output.problem(f"plugin {plugin['name']}: {plugin['message']}")
    bad = [plugin for plugin in value["plugins"] if plugin["state"] in _BAD]
    return 1 if value["failed"] or bad else 0


_BAD = ("wedged", "failed")


def _facts(value: Mapping[str, Any]) -> dict[str, str | Sequence[str]]:
    return {
        "process": str(value["pid"]),
        "up": span(value["uptimeSeconds"]) + ("" if value["ready"] else ", still loading plugins"),
        "configuration": value["config"],
        "project": value["project"] or "-",
        "directory": value["directory"],
        **{f"{name} at": address for name, address in value["addresses"].items()},
        "sessions": str(value["sessions"]),
    }


def span(seconds: float) -> str:
    """A span of time, coarsely: 42 s, 3 min, 5 h, 2 d."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


_HEADERS = (
    *("PLUGIN", "STATE", "PID", "CALLS", "P50 MS", "P99 MS"),
    *("ERRORS", "TIMEOUTS", "RESTARTS", "MEMORY", "CPU S"),
)


def _row(plugin: Mapping[str, Any]) -> Sequence[str]:
    counters, stats = plugin["counters"], plugin["stats"]
    return (
        plugin["name"],
        plugin["state"],
        number(plugin["pid"]),
        str(counters["calls"]),
        number(stats["p50Ms"], ".1f"),
        number(stats["p99Ms"], ".1f"),
        str(counters["errors"]),
        str(counters["timeouts"]),
        str(counters["restarts"]),
        memory(stats["memoryBytes"]),
        number(stats["cpuSeconds"], ".1f"),
    )


# --- top


@click.command()
@click.option(
    "--every",
    metavar="SECONDS",
    type=click.FloatRange(min=0.2),
    default=1.0,
    show_default=True,
    help="Time between looks.",
)
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many looks.")
@attach_options
def top(setup: Setup, every: float, count: int | None) -> int:
    """Watch the plugins of the running host, the busiest in processor time first.

    CALLS/S and CPU % (of one processor) are since the last look; in the first, since the host was
    started. Ends with Ctrl+C. With --json, one object a look, one look where --count does not say otherwise.
    """
    from tinyhost_cli.top_view import watch

    if count is None and (setup.as_json or not sys.stdout.isatty()):
        count = 1
    with running_host(setup) as client:
        watch(client, every, count, as_json=setup.as_json)
    return 0


# --- events


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Go on with new events until Ctrl+C.")
@click.option(
    "-n",
    "--lines",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the last events to begin with.",
)
@attach_options
def events(setup: Setup, follow: bool, lines: int) -> int:
    """Show what happened last in the running host: hooks, decisions, calls, plugins.

    With -f, go on with new events as they come. With --json, one event a line.
    """
    with running_host(setup) as client:
        last = client.call("host/status", {})["events"]
        if last == 0 and not follow:
            return 0
        client.call("events/follow", {"since": max(0, last - lines)})
        if follow or lines:
            _print_events(client, None if follow else last, as_json=setup.as_json)
    return 0


def _print_events(client: Client, last: int | None, *, as_json: bool) -> None:
    from tinyhost_cli.journal_text import line_of

    expected: int | None = None
    try:
        for _method, event in client.notes():
            if expected is not None and event["seq"] > expected:
                output.problem(f"{event['seq'] - expected} events were missed")
            expected = event["seq"] + 1
            if as_json:
                output.emit(event)
            else:
                clock = time.strftime("%H:%M:%S", time.localtime(event["t"]))
                output.say(line_of({**event, "t": clock}))
            sys.stdout.flush()
            if last is not None and event["seq"] >= last:
                return
    except HostGone:
        if last is None:
            output.problem("the host has stopped")
            return
        raise


# --- reload and stop


@click.command()
@attach_options
def reload(setup: Setup) -> int:
    """Have the running host read its configuration anew, and swap only what has changed.

    Plugins that were loaded by hand stay. Exit code 1 when a plugin failed to load, and 3,
    with nothing changed, when the configuration cannot be used.
    """
    value = _ask(setup, "host/reload")
    if setup.as_json:
        output.emit(value)
    else:
        for what in ("loaded", "restarted", "unloaded", "unchanged"):
            if value[what]:
                output.say(f"{what}: {', '.join(value[what])}")
        for text in (*value["problems"], *value["notices"]):
            output.problem(text)
        for failed in value["failed"]:
            output.problem(failed["error"]["message"])
    return 1 if value["failed"] else 0


@click.command()
@attach_options
def stop(setup: Setup) -> int:
    """Stop the running host, once calls in progress have ended or its grace is over.

    Returns when it has stopped. Exit code 1 when no host is running.
    """
    with running_host(setup) as client:
        status = client.call("host/status", {})
        client.call("host/stop", {})
        try:
            for _ in client.notes():
                pass
        except HostSilent:
            raise
        except HostGone:
            pass  # as it has to be
    pid = status["pid"]
    _wait_ended(status["addresses"]["control"], pid)
    if setup.as_json:
        output.emit({"stopped": pid})
    else:
        output.say(f"stopped the host, process {pid}")
    return 0


def _wait_ended(socket: str, pid: int) -> None:
    """Return once the host that listened there has ended its plugins, too, and given up its place.

    It gives up its clients before that. How long plugins may take is for their settings to say,
    so what it is waiting for is told to the person. Raises HostSilent.
    """
    told = time.monotonic()
    try:
        lock = os.open(f"{socket}.lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > told + PATIENCE:
                    if is_stopped(pid):
                        raise HostSilent(pid) from None
                    output.note(f"process {pid} is still ending its plugins")
                    told = time.monotonic()
                time.sleep(_LOOK)
            else:
                return
    finally:
        os.close(lock)
