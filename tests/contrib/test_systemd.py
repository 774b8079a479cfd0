"""The unit under a systemd that runs: ready, reload, restarts, the watchdog and the end."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from .user_manager import UserManager, user_manager

ROOT = Path(__file__).parents[2]
UNIT = "tinyhost.service"
# What a person would wait for, made short.
SHORT = "[Service]\nRestartSec=50ms\n"
PLUGIN = """\
    #!{python}
    import signal, sys, time
    from tinyhost_sdk import Plugin, run

    def note(text):
        with open({log!r}, "a") as file:
            print(text, file=file)

    def terminated(*_):
        note("terminated")
        sys.exit(1)

    signal.signal(signal.SIGTERM, terminated)
    plugin = Plugin({name!r})
    plugin.hook("dispose")(lambda: note("disposed"))
    time.sleep({seconds})
    run(plugin)
"""


class Host:
    """The unit of a person."""

    def __init__(self, manager: UserManager) -> None:
        self.manager = manager
        self.log = manager.home / "plugins.log"
        self._config = manager.home / ".config" / "tinyhost" / "config.json"
        program = manager.home / ".local" / "bin" / "tinyhost"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tinyhost_cli.entry "$@"\n')
        program.chmod(0o755)
        shutil.copy(ROOT / "contrib" / "systemd" / UNIT, manager.units)
        self.change(SHORT)

    def change(self, text: str) -> None:
        """As `systemctl edit` does it."""
        folder = self.manager.units / f"{UNIT}.d"
        folder.mkdir(exist_ok=True)
        (folder / "override.conf").write_text(text)
        self.manager("daemon-reload")

    def configure(self, *names: str, seconds: float = 0) -> None:
        """Have these plugins, each of which takes some seconds to start."""
        plugins = self._config.parent / "plugins"
        plugins.mkdir(parents=True, exist_ok=True)
        for name in names:
            text = textwrap.dedent(PLUGIN).format(
                python=sys.executable, log=str(self.log), name=name, seconds=seconds
            )
            (plugins / name).write_text(text)
            (plugins / name).chmod(0o755)
        self.write(json.dumps({"plugins": names}))

    def write(self, text: str) -> None:
        """Have this configuration."""
        self._config.parent.mkdir(parents=True, exist_ok=True)
        self._config.write_text(text)

    def running(self) -> list[str]:
        """The plugins that have a process, by name."""
        words = [line.split()[-1] for line in self.manager.processes(UNIT)]
        folder = str(self._config.parent / "plugins")
        return sorted(Path(word).name for word in words if word.startswith(folder))


@pytest.fixture
def host() -> Iterator[Host]:
    with user_manager() as manager:
        yield Host(manager)


def test_it_counts_as_started_when_plugins_are_loaded_and_a_stop_disposes_them(host: Host) -> None:
    host.configure("mine", seconds=0.5)
    host.manager("start", UNIT)
    assert host.running() == ["mine"]
    assert host.manager.show(UNIT, "StatusText").endswith(" plugins loaded")
    host.manager("stop", UNIT)
    assert host.log.read_text() == "disposed\n"
    assert host.manager.show(UNIT, "Result") == "success"
    assert host.manager.processes(UNIT) == []


def test_a_reload_is_over_when_it_is_done_and_fails_where_nothing_was_changed(host: Host) -> None:
    host.configure("mine")
    host.manager("start", UNIT)
    host.configure("mine", "other", seconds=0.5)
    before = host.manager.show(UNIT, "StatusText")
    host.manager("reload", UNIT)
    assert host.running() == ["mine", "other"]
    assert host.manager.show(UNIT, "StatusText") != before
    host.write('{"plugins": [}')
    assert host.manager("reload", UNIT, check=False).returncode != 0
    assert "config.json:1:14" in host.manager.said
    assert host.manager.show(UNIT, "ActiveState") == "active"
    assert host.running() == ["mine", "other"]


def test_one_that_is_killed_is_started_again_and_its_plugins_have_ended(host: Host) -> None:
    host.configure("mine")
    host.manager("start", UNIT)
    host.manager.signal("KILL", UNIT)
    host.manager.until(UNIT, NRestarts="1", ActiveState="active")
    assert host.running() == ["mine"]


def test_one_that_hangs_is_ended_by_the_watchdog_and_started_again(host: Host) -> None:
    host.change(f"{SHORT}WatchdogSec=2\n")
    host.configure("mine")
    host.manager("start", UNIT)
    host.manager.signal("STOP", UNIT)
    host.manager.until(UNIT, NRestarts="1", ActiveState="active")
    assert host.running() == ["mine"]


def test_one_that_cannot_use_its_configuration_is_left_to_the_person(host: Host) -> None:
    host.write("{")
    assert host.manager("start", UNIT, check=False).returncode != 0
    host.manager.until(UNIT, ActiveState="failed", NRestarts="0", ExecMainStatus="3")
