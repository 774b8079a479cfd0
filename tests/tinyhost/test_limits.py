"""Limits of real plugins: that they hold, and that a plugin that dies of one says so."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import LoadError, OutcomeUncertain
from tinyhost.config import parse_config

AddPlugin = Callable[[str, str], Path]

# Runs the Python text of each call and answers with the variable "out".
WORKER = """
def run(params):
    names = {}
    exec(params["args"]["code"], names)
    return {"content": str(names.get("out", "done"))}
handshake(["run"])
serve(on_tool=run)
"""


def config(home: Path, **settings: Any) -> tinyhost.Config:
    text = json.dumps({"settings": {"worker": settings}})
    found = parse_config(text, str(home / "config" / "config.json"))
    assert found.problems == ()
    return found


async def ask(manager: tinyhost.Manager, code: str) -> str:
    with trio.fail_after(10):
        return (await manager.call_tool("worker", "run", {"code": code})).content


RLIMITS = (
    "import resource as r\n"
    "out = [r.getrlimit(x) for x in (r.RLIMIT_DATA, r.RLIMIT_CPU, r.RLIMIT_NOFILE, r.RLIMIT_NPROC)]"
)


async def test_every_limit_is_there_before_the_program_runs(
    add_plugin: AddPlugin, home: Path
) -> None:
    seen = "import resource\nEARLY = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
    add_plugin("worker", seen + WORKER.replace("names = {}", "names = {'EARLY': EARLY}"))
    limits = {"memory": "512MiB", "cpu": "60s", "openFiles": 256, "processes": 64, "nice": 5}
    async with tinyhost.open_manager(config(home, limits=limits)) as manager:
        plugin = await manager.load("worker")
        size = 512 * 2**20
        expected = [(size, size), (60, 65), (256, 256), (64, 64)]
        assert await ask(manager, RLIMITS) == str(expected)
        assert await ask(manager, "out = EARLY") == "(256, 256)"
        assert await ask(manager, "import os; out = os.nice(0)") == str(os.nice(0) + 5)
        assert plugin.info.limits == tinyhost.Limits(
            memory=size, cpu=60.0, open_files=256, processes=64, nice=5
        )
        # The shell has become the program: no process stands between it and the host.
        assert await ask(manager, "import os; out = os.getpid()") == str(plugin.info.pid)
        assert await ask(manager, "import os; out = os.getppid()") == str(os.getpid())


async def test_a_plugin_without_limits_has_those_of_the_host(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home)) as manager:
        await manager.load("worker")
        names: dict[str, Any] = {}
        exec(RLIMITS, names)
        assert await ask(manager, RLIMITS) == str(names["out"])
        assert await ask(manager, "import sys, os; out = os.getpgrp() == os.getpid()") == "True"


async def test_a_memory_hog_dies_and_the_limit_is_named(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home, limits={"memory": "64MiB"})) as manager:
        await manager.load("worker")
        assert await ask(manager, "x = bytearray(2**20)") == "done"
        with pytest.raises(OutcomeUncertain) as caught:
            await ask(manager, "x = bytearray(2**27)")
        assert "exited with status 1 (limits: memory 64MiB)" in str(caught.value)
        assert "MemoryError" in caught.value.stderr


async def test_processor_time_ends_a_plugin_with_a_signal_that_says_why(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home, limits={"cpu": "1s"})) as manager:
        await manager.load("worker")
        with pytest.raises(OutcomeUncertain, match=r"killed by SIGXCPU \(limits: cpu 1 s\)"):
            await ask(manager, "while True: pass")


async def test_a_plugin_cannot_have_more_open_files_than_its_limit(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home, limits={"openFiles": 32})) as manager:
        await manager.load("worker")
        code = (
            "import os\nout = 0\n"
            "try:\n  while out < 99: os.dup(0); out += 1\n"
            "except OSError as error: out = (out, error.errno)"
        )
        assert await ask(manager, code) == "(29, 24)"


async def test_a_plugin_cannot_raise_its_limits_again(add_plugin: AddPlugin, home: Path) -> None:
    """Root could; so the plugin first gives up being root, where it is."""
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home, limits={"openFiles": 32})) as manager:
        await manager.load("worker")
        code = (
            "import os, resource\n"
            "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
            "try: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); out = 'raised'\n"
            "except (ValueError, OSError): out = 'refused'"
        )
        assert await ask(manager, code) == "refused"


async def test_a_plugin_cannot_start_more_processes_than_its_limit(
    add_plugin: AddPlugin, home: Path
) -> None:
    """The kernel does not count root's processes, so the plugin becomes a user without any."""
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home, limits={"processes": 4})) as manager:
        await manager.load("worker")
        become = "import os\nif os.geteuid() == 0: os.setgid(54321); os.setuid(54321)\n"
        code = become + (
            "started = []\n"
            "try:\n"
            "  while len(started) < 9:\n"
            "    pid = os.fork()\n"
            "    if pid == 0:\n"
            "      import time; time.sleep(60); os._exit(0)\n"
            "    started.append(pid)\n"
            "except OSError as error: out = (len(started), error.errno)\n"
            "for pid in started: os.kill(pid, 9); os.waitpid(pid, 0)"
        )
        assert await ask(manager, code) in ("(3, 11)", "(0, 11)")


async def test_a_limit_above_the_hosts_own_is_lowered_to_it(
    add_plugin: AddPlugin, home: Path
) -> None:
    import resource

    add_plugin("worker", WORKER)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    async with tinyhost.open_manager(config(home, limits={"openFiles": 2**31 - 1})) as manager:
        await manager.load("worker")
        assert f"({hard}, {hard})" in await ask(manager, RLIMITS)


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("#!/nowhere/python\n", 0o755, "asks in its first line for /nowhere/python"),
        ("echo no first line\n", 0o755, "neither a program nor a script"),
        ("MZ", 0o755, "is a Windows program"),
        ("", 0o755, "is empty"),
    ],
)
async def test_a_program_that_cannot_run_is_explained_as_without_limits(
    home: Path, text: str, mode: int, reason: str
) -> None:
    file = home / "config" / "plugins" / "worker"
    file.write_text(text)
    file.chmod(mode)
    for limits in ({}, {"openFiles": 64}):
        async with tinyhost.open_manager(config(home, limits=limits)) as manager:
            with pytest.raises(LoadError, match=reason) as caught:
                await manager.load("worker")
            assert caught.value.stage == "spawn"


async def test_a_restarted_plugin_has_the_same_limits(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("worker", WORKER)
    async with tinyhost.open_manager(config(home, limits={"openFiles": 77})) as manager:
        plugin = await manager.load("worker")
        os.kill(plugin.info.pid or 0, signal.SIGKILL)
        with trio.fail_after(5):
            while plugin.info.pid is not None:
                await trio.sleep(0.005)
        assert "(77, 77)" in await ask(manager, RLIMITS)


async def test_a_working_directory_may_refer_to_variables(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    add_plugin("worker", WORKER)
    (tmp_path / "work").mkdir()
    environ = {**os.environ, "BASE": str(tmp_path)}
    for written in ("${BASE}/work", "${NOWHERE:-" + str(tmp_path) + "}/x/../work"):
        found = config(home, directory=written)
        async with tinyhost.open_manager(found, environ=environ) as manager:
            await manager.load("worker")
            assert await ask(manager, "import os; out = os.getcwd()") == str(tmp_path / "work")


@pytest.mark.parametrize(
    ("written", "reason"),
    [("${NOT_THERE}/x", "NOT_THERE is not set"), ("${RELATIVE}", "must lead to an absolute path")],
)
async def test_a_working_directory_that_leads_nowhere_is_refused(
    add_plugin: AddPlugin, home: Path, written: str, reason: str
) -> None:
    add_plugin("worker", WORKER)
    environ = {**os.environ, "RELATIVE": "here"}
    found = config(home, directory=written)
    async with tinyhost.open_manager(found, environ=environ) as manager:
        with pytest.raises(tinyhost.ConfigError, match=reason) as caught:
            await manager.load("worker")
        assert caught.value.key == "directory"
