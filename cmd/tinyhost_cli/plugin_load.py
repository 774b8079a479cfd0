"""`tinyhost plugin load`: start plugins, show what they offer, and stop them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import completion, output
from tinyhost_cli.common import Setup, host_options, json_object, read_config

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.manager import Loaded, Manager
    from tinyhost.model import PluginInfo, PluginSpec

    _Seen = tuple[Sequence[Loaded], list[PluginInfo], list[dict[str, Any]]]


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

    A plugin is counted as failed by the program that loaded it, and each run of this command
    is a program of its own: so they are started, shown and stopped, as by load. Exit code 0
    when all came up, else 1.
    """
    config = read_config(setup)
    return _show_loaded(setup, config, [config.spec_for(name) for name in names])


def _show_loaded(setup: Setup, config: Config, specs: Sequence[PluginSpec]) -> int:
    from tinyhost_cli.describe import info_facts, loaded_value
    from tinyhost_cli.hosting import with_plugins

    async def look(_manager: Manager, loaded: Sequence[Loaded]) -> _Seen:
        # Now: once the manager has ended, no plugin has a process any more.
        infos = [result.plugin.info for result in loaded if result.plugin]
        return loaded, infos, [loaded_value(result) for result in loaded]

    loaded, infos, values = with_plugins(setup, config, specs, look)
    if setup.as_json:
        output.emit({"plugins": values})
    else:
        for info in infos:
            output.facts(f"{info.name} loaded", info_facts(info))
        for result in loaded:
            if result.error is not None:
                output.problem(str(result.error))
    return 0 if len(infos) == len(loaded) else 1


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
