"""`tinyhost doctor`: check everything that plugins need, and say what to do."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tinyhost_cli import output
from tinyhost_cli.common import host_options, plugin_option, resolver
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.manager import Loaded, Manager
    from tinyhost.model import PluginSpec
    from tinyhost_cli.describe import Program

_HOST_PATIENCE = 5.0  # seconds

OK, WARNING, PROBLEM = "ok", "warning", "problem"


class Finding(NamedTuple):
    """One line of the report. Only a problem makes the command fail."""

    level: str
    what: str
    text: str


@click.command()
@plugin_option
@host_options
def doctor(setup: Setup) -> int:
    """Check everything that plugins need, and load each configured one.

    Exit code 1 when there is a problem; warnings do not count.
    """
    findings = list(_examine(setup))
    healthy = all(found.level != PROBLEM for found in findings)
    if setup.as_json:
        checks = [found._asdict() for found in findings]
        output.emit({"healthy": healthy, "checks": checks})
    else:
        output.table(("RESULT", "CHECK", "DETAILS"), findings)
    return 0 if healthy else 1


def _examine(setup: Setup) -> Iterator[Finding]:
    from tinyhost.config import Config
    from tinyhost.errors import ConfigError
    from tinyhost.layers import load_layers
    from tinyhost_cli.version import version

    yield Finding(OK, "tinyhost", version())
    yield Finding(OK, "python", f"{platform.python_version()} ({sys.executable})")
    try:
        config = load_layers(setup.directory or ".", setup.config_file)
    except ConfigError as error:
        yield Finding(PROBLEM, "configuration", str(error))
        config = Config(file="", exists=False)
    else:
        yield from _check_config(config)
    yield from _check_registry()
    yield _check_plugin_folder()
    yield from _check_path(os.environ.get("PATH", ""))
    yield _check_state_folder()
    yield _check_host(setup)
    yield from _check_sandbox(setup, config)
    yield from _check_plugins(setup, config)


def _check_config(config: Config) -> Iterator[Finding]:
    there = config.file if config.exists else f"{config.file} does not exist, which is fine"
    yield Finding(OK, "configuration", there)
    for found in config.problems:
        level = PROBLEM if found.severity == "error" else WARNING
        yield Finding(level, "configuration", str(found))
    for layer in config.layers:
        if layer.kind == "project":
            text = layer.file if layer.in_force else f"{layer.file} is not in force: {layer.why}"
            yield Finding(OK if layer.in_force else WARNING, "project", text)


def _check_registry() -> Iterator[Finding]:
    from tinyhost import registry

    for found in registry.problems():
        yield Finding(PROBLEM, "registry", f"{found.file}: {found.message}")


def _check_plugin_folder() -> Finding:
    from tinyhost import paths
    from tinyhost.ownership import folder_problem

    folder = paths.plugins_dir()
    if not os.path.lexists(folder):
        return Finding(OK, "plugin folder", f"{folder} does not exist, which is fine")
    if not folder.is_dir():
        return Finding(PROBLEM, "plugin folder", f"{folder} is not a folder")
    if reason := folder_problem(str(folder)):
        return Finding(PROBLEM, "plugin folder", f"{folder} {reason}")
    return Finding(OK, "plugin folder", str(folder))


def _check_path(value: str) -> Iterator[Finding]:
    """PATH entries where plugins are not looked for, or could be exchanged by others."""
    from tinyhost.ownership import folder_problem
    from tinyhost.resolve import path_folders

    warnings = []
    for entry in dict.fromkeys(value.split(os.pathsep)):
        if not entry:
            warnings.append("an empty entry, which means the current folder, is skipped")
        elif not os.path.isabs(entry):  # noqa: PTH117
            warnings.append(f"{entry!r} is not absolute and is skipped")
        elif not path_folders(entry):
            warnings.append(f"{entry} is missing or cannot be read, and is skipped")
        elif reason := folder_problem(entry):
            warnings.append(f"plugins in {entry} are refused, as it {reason}")
    for text in warnings:
        yield Finding(WARNING, "PATH", text)
    if not warnings:
        yield Finding(OK, "PATH", f"{len(path_folders(value))} folders")


def _check_state_folder() -> Finding:
    from tinyhost import paths

    folder = paths.state_dir()
    nearest: Path = folder
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir():
        return Finding(PROBLEM, "state folder", f"{folder}: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding(
            PROBLEM, "state folder", f"{folder}: you may not write to {nearest}; logs are lost"
        )
    return Finding(OK, "state folder", str(folder))


def _check_host(setup: Setup) -> Finding:
    """A host that commands would attach to, and whether it answers."""
    from tinyhost_cli.attached import directory_of
    from tinyhost_cli.client import HostError, HostGone, attach

    try:
        client = attach(setup.directory, setup.config_file, timeout=_HOST_PATIENCE)
        if client is None:
            return Finding(OK, "running host", "none, so each command starts plugins of its own")
        with client:
            status = client.call("host/status", {"directory": directory_of(setup)})
    except (HostGone, HostError) as error:
        return Finding(PROBLEM, "running host", f"it does not answer: {error}")
    count = len(status["plugins"])
    text = f"process {status['pid']}, {count} plugins, {status['addresses']['control']}"
    failed = ", ".join(one["name"] for one in status["failed"])
    if failed:
        return Finding(WARNING, "running host", f"{text}; not loaded: {failed}")
    return Finding(OK, "running host", text)


def _check_sandbox(setup: Setup, config: Config) -> Iterator[Finding]:
    """What confines plugins here, where one of them is to be confined."""
    specs = _wanted(setup, config)
    engines = {spec.settings.sandbox.engine for spec in specs if spec.settings.sandbox}
    if not engines:
        return
    from tinyhost import landlock
    from tinyhost.sandbox import find_bubblewrap, landlock_problem

    program, no_bubblewrap = find_bubblewrap(os.environ)
    version = landlock.abi()
    no_landlock = landlock_problem(version, network=False)
    found = [program] if program else []
    found += [] if no_landlock else [f"Landlock, version {version}"]
    missing = {"bubblewrap": no_bubblewrap, "landlock": no_landlock}
    missing["auto"] = no_bubblewrap and no_landlock and f"{no_bubblewrap}; {no_landlock}"
    for engine in sorted(engines):
        if reason := missing[engine]:
            yield Finding(PROBLEM, "sandbox", f"{engine}: {reason}")
    if "auto" in engines and no_bubblewrap and not no_landlock:
        yield Finding(WARNING, "sandbox", f"Landlock is used, as {no_bubblewrap}")
    if found:
        yield Finding(OK, "sandbox", "there is " + " and ".join(found))


def _check_plugins(setup: Setup, config: Config) -> Sequence[Finding]:
    from tinyhost_cli.describe import program_of
    from tinyhost_cli.hosting import with_plugins

    specs = _wanted(setup, config)
    if not specs:
        return [Finding(OK, "plugins", "none are configured")]
    finder = resolver(config)

    async def look(_manager: Manager, loaded: Sequence[Loaded]) -> Sequence[Finding]:
        programs = [program_of(finder, found.spec.name, config) for found in loaded]
        return [_plugin_finding(*each) for each in zip(loaded, programs, strict=True)]

    return with_plugins(setup, config, specs, look)


def _wanted(setup: Setup, config: Config) -> Sequence[PluginSpec]:
    return [config.spec_for(name) for name in dict.fromkeys(setup.plugins)] or config.specs


def _plugin_finding(result: Loaded, program: Program) -> Finding:
    from tinyhost.errors import PluginSkipped

    what = f"plugin {result.spec.name}"
    if isinstance(result.error, PluginSkipped):
        return Finding(OK, what, "built in")
    if result.plugin is None:
        return Finding(PROBLEM, what, str(result.error))
    info = result.plugin.info
    return Finding(
        OK,
        what,
        f"{info.version or 'no version'}, {len(info.tools)} tools, {len(info.hooks)} hooks,"
        f" {info.spawn_ms + info.handshake_ms:.0f} ms, {info.path} ({program.source})",
    )
