"""Starting: plugins into a host, a plugin on its own, and the command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from time import perf_counter

import trio

from tinyhost.process import spawn

from .harness import Round, Row, take_turns
from .programs import run_to_end
from .workspace import Workspace

# As many as the manager starts at a time.
_STARTS_AT_ONCE = 8
_INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize",'
    b'"params":{"version":"1.0","directory":"/","options":{"level":"strict"}}}\n'
)


async def measure_load(workspace: Workspace, quick: bool) -> list[Row]:
    """Loading 1, 10 and 50 plugins against starting as many interpreters that do nothing."""
    rows = []
    for count, rounds in ((1, 21), (10, 11), (50, 7)):
        cases = {"floor": _bare_interpreters(workspace, count), "host": _load(workspace, count)}
        times = await take_turns(cases, rounds=3 if quick else rounds)
        rows.append(
            Row(
                name=f"load.{count}",
                what=f"load {count} SDK plugin{'s' * (count > 1)}, per plugin",
                against=f"{count} x python -c pass",
                goal=1.3,
                seconds=times["host"],
                floor_seconds=times["floor"],
            )
        )
    return rows


def _load(workspace: Workspace, count: int) -> Round:
    names = [f"bench-load-{number}" for number in range(count)]
    for name in names:
        workspace.add_plugin(name, "bench_children.sdk_plugin", "main")
    specs = [workspace.spec(name) for name in names]

    async def round() -> float:
        async with workspace.open_manager() as manager:
            began = perf_counter()
            loaded = await manager.load_all(specs)
            seconds = perf_counter() - began
        for one in loaded:
            if one.error is not None:
                raise one.error
        return seconds / count

    return round


def _bare_interpreters(workspace: Workspace, count: int) -> Round:
    """Started with the host's own spawn, as many side by side as it does, waited for alike."""
    command = workspace.python("-c", "pass")

    async def one(limit: trio.CapacityLimiter) -> None:
        async with limit:
            process = spawn(
                "bare", command, env=workspace.environment, directory=str(workspace.root)
            )
            await process.wait()
            process.reap()
            for fd in (process.to_plugin, process.from_plugin, process.stderr):
                os.close(fd)

    async def round() -> float:
        began = perf_counter()
        limit = trio.CapacityLimiter(_STARTS_AT_ONCE)
        async with trio.open_nursery() as nursery:
            for _ in range(count):
                nursery.start_soon(one, limit)
        return (perf_counter() - began) / count

    return round


async def measure_sdk(workspace: Workspace, quick: bool) -> list[Row]:
    """A plugin's whole life: it answers initialize and sees end-of-file."""
    script = workspace.console_script("tinyhost-plugin-bench", "bench_children.sdk_plugin", "main")
    if b'"result"' not in run_to_end(workspace, [script], _INITIALIZE):
        raise RuntimeError("the plugin did not answer initialize")
    row = await whole_processes(
        workspace, quick, [script], workspace.python("-c", "import json"), _INITIALIZE
    )
    return [
        Row(
            name="start.sdk",
            what="SDK plugin: start, answer initialize, end",
            against='python -c "import json"',
            goal=1.25,
            seconds=row[0],
            floor_seconds=row[1],
        )
    ]


async def measure_help(workspace: Workspace, quick: bool) -> list[Row]:
    """`tinyhost --help` from start to end."""
    script = workspace.console_script("tinyhost", "tinyhost_cli.entry", "main")
    command = [script, "--help"]
    if b"Usage" not in run_to_end(workspace, command):
        raise RuntimeError("tinyhost --help printed no usage")
    row = await whole_processes(
        workspace, quick, command, workspace.python("-c", "import click"), b""
    )
    return [
        Row(
            name="start.help",
            what="tinyhost --help",
            against='python -c "import click"',
            seconds=row[0],
            floor_seconds=row[1],
        )
    ]


async def measure_run(workspace: Workspace, quick: bool) -> list[Row]:
    """`tinyhost run` with nothing configured: what it adds to a command."""
    script = workspace.console_script("tinyhost", "tinyhost_cli.entry", "main")
    rows = []
    for name, command, floor in (
        ("run.true", ["/bin/true"], workspace.python("-c", "pass")),
        ("run.python", workspace.python("-c", "import json"), None),
    ):
        own = [script, "run", "--", *command]
        row = await whole_processes(workspace, quick, own, floor or command, b"")
        rows.append(
            Row(
                name=name,
                what=f"tinyhost run -- {'true' if floor else 'python -c import json'}",
                against="python -c pass" if floor else "the command alone",
                seconds=row[0],
                floor_seconds=row[1],
            )
        )
    return rows


async def whole_processes(
    workspace: Workspace, quick: bool, own: Sequence[str], floor: Sequence[str], request: bytes
) -> tuple[Sequence[float], Sequence[float]]:
    """Times of two commands from start to end, and of nothing else; they take turns."""

    def whole(command: Sequence[str]) -> Round:
        async def round() -> float:
            began = perf_counter()
            run_to_end(workspace, command, request)
            return perf_counter() - began

        return round

    cases = {"own": whole(own), "floor": whole(floor)}
    times = await take_turns(cases, rounds=5 if quick else 41, warm_up=2)
    return times["own"], times["floor"]
