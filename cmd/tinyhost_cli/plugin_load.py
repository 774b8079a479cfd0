"""`tinyhost plugin load`: start plugins, show what they offer, and stop them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, completion, output
from tinyhost_cli.client import HostError
from tinyhost_cli.common import attach_options, host_options, json_object, read_config
from tinyhost_cli.host_commands import running_host
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.manager import Loaded, Manager
    from tinyhost.model import PluginInfo, PluginSpec

_Values = list[dict[str, Any]]


@click.command()
@click.argument("names", metavar="NAME...", nargs=-1, shell_complete=completion.plugin_names)
@click.option("--options", metavar="JSON", help="Options for the plugin; '-' reads them.")
@click.option("--mcp", metavar="COMMAND|URL", help="Load an MCP server, started or at an address.")
@click.option("--name", metavar="NAME", help="What the MCP server is called here.")
@host_options
def load(
    setup: Setup, names: Sequence[str], options: str | None, mcp: str | None, name: str | None
) -> int:
    """Start plugins side by side, show what each offers, and stop them again.

    Where a host is running, it loads them, and they stay.

    Options and settings come from the configuration, for disabled plugins too; --options
    is used in place of the configured ones. With --mcp, the plugin is an MCP server that need
    not be configured. Exit code 0 when all plugins loaded, else 1.
    """
    if bool(names) == (mcp is not None):
        raise click.UsageError("Give the names of plugins, or an MCP server with --mcp.")
    if name is not None and mcp is None:
        raise click.UsageError("--name is for the server of --mcp.")
    if options is not None and len(names) > 1:
        raise click.UsageError("--options is for one plugin; load the others by themselves.")
    given = json_object(options, "--options")
    answer = _load_in_host(setup, names, given and given[1], mcp, name)
    if answer is not None:
        return _show(setup, answer)
    config = read_config(setup)
    if mcp is not None:
        specs = [_server_spec(config, mcp, name)]
    else:
        specs = [config.spec_for(each, given[0] if given else None) for each in names]

    return _show_loaded(setup, config, specs)


@click.command()
@click.argument(
    "names", metavar="NAME...", nargs=-1, required=True, shell_complete=completion.plugin_names
)
@host_options
def restart(setup: Setup, names: Sequence[str]) -> int:
    """Try plugins that have failed once more, with a clean record.

    Where a host is running, its plugins are ended and started anew, those that are well, too.
    Else they are started, shown and stopped, as by load: a plugin is counted as failed by the
    program that loaded it, and each run of this command is then a program of its own. Exit
    code 0 when all came up, else 1.
    """
    answer = _restart_in_host(setup, names)
    if answer is not None:
        return _show(setup, answer)
    config = read_config(setup)
    return _show_loaded(setup, config, [config.spec_for(name) for name in names])


def _show_loaded(setup: Setup, config: Config, specs: Sequence[PluginSpec]) -> int:
    from tinyhost.present import loaded_value
    from tinyhost_cli.hosting import with_plugins

    async def look(_manager: Manager, loaded: Sequence[Loaded]) -> _Values:
        # Now: once the manager has ended, no plugin has a process any more.
        return [loaded_value(result) for result in loaded]

    return _show(setup, with_plugins(setup, config, specs, look))


def _show(setup: Setup, values: _Values) -> int:
    from tinyhost_cli.describe import info_facts

    failed = [value for value in values if not value["loaded"]]
    if setup.as_json:
        output.emit({"plugins": values})
    else:
        for value in values:
            if value["loaded"]:
                output.facts(f"{value['name']} loaded", info_facts(value))
        attached.report_failed(failed)
    return 1 if failed else 0


# --- in a running host


def _load_in_host(
    setup: Setup, names: Sequence[str], options: str | None, mcp: str | None, name: str | None
) -> _Values | None:
    params = {"names": list(names), "mcp": mcp, "name": name}
    raw = {} if options is None else {"options": options}
    answer = attached.ask_host(setup, "plugin/load", params, raw, {"loaded": _progress(setup)})
    return None if answer is None else answer[0]["plugins"]


def _progress(setup: Setup) -> Callable[[Mapping[str, Any]], None]:
    def show(done: Mapping[str, Any]) -> None:
        if setup.verbose or sys.stderr.isatty():
            word = "failed" if done["error"] else "loaded"
            output.problem(f"plugin {done['name']} {word} after {done['seconds'] * 1000:.0f} ms")

    return show


def _restart_in_host(setup: Setup, names: Sequence[str]) -> _Values | None:
    values = []
    for name in names:
        try:
            answer = attached.ask_host(setup, "plugin/restart", {"plugin": name})
        except HostError as error:
            values.append({"name": name, "loaded": False, "error": error.data})
            continue
        if answer is None:
            return None
        values.append({**answer[0], "loaded": True})
    return values


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@attach_options
def unload(setup: Setup, name: str) -> int:
    """Take a plugin away from the running host: its tools and hooks at once, then its process.

    With the next start of the host, or the next reload that finds it changed, a configured
    plugin is loaded again; `tinyhost plugin disable` takes it off the configuration.
    """
    with running_host(setup) as client:
        client.call("plugin/unload", {"plugin": name})
    if setup.as_json:
        output.emit({"unloaded": name})
    else:
        output.say(f"unloaded {name}")
    return 0


def _server_spec(config: Config, text: str, name: str | None) -> PluginSpec:
    from tinyhost.mcp.servers import from_words

    return config.server_spec(*from_words(text, name))


def load_one(setup: Setup, config: Config, name: str) -> PluginInfo:
    """Start one plugin, take a look at it, and stop it. Raises why it did not load."""
    from tinyhost_cli.hosting import with_plugins

    async def look(_manager: Manager, loaded: Sequence[Loaded]) -> PluginInfo:
        [result] = loaded
        if result.plugin is None:
            assert result.error is not None
            raise result.error
        return result.plugin.info

    return with_plugins(setup, config, [config.spec_for(name)], look)
