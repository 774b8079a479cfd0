"""`tinyhost plugin enable`, `disable` and `new`: the commands that write files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tinyhost_cli import attached, completion, output
from tinyhost_cli.common import (
    config_path,
    json_object,
    json_option,
    read_config,
    resolver,
    setup_options,
)
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost_cli.scaffold import Created

# As tinyhost_cli.scaffold.LANGUAGES, which is not imported for a help text.
LANGUAGES = ("py", "node", "go", "sh")


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@click.option("--options", metavar="JSON", help="Options for the plugin; '-' reads them.")
@click.option("--pin", "pinned", is_flag=True, help="Start it only while its files are as now.")
@setup_options
def enable(setup: Setup, name: str, options: str | None, pinned: bool) -> None:
    """Add a plugin to the configuration, so that it is loaded always.

    Comments and everything else in the file stay as they are. Without --options the plugin
    keeps the options it has, or gets back those it had before it was disabled.
    """
    from tinyhost.config import enable_plugin
    from tinyhost_cli.describe import program_of
    from tinyhost_cli.pin_commands import pin_now

    given = json_object(options, "--options")
    file = config_path(setup)
    _refuse_server(setup, name)
    # First: what cannot be pinned is not to be enabled without.
    pin = pin_now(setup, name) if pinned else None
    changed = enable_plugin(file, name, given[0] if given else None)
    if setup.as_json:
        value = {"name": name, "enabled": True, "changed": changed, "file": str(file)}
        output.emit({**value, **({"pin": pin.value} if pin else {})})
    else:
        word = "enabled now" if changed else "enabled already"
        output.say(f"{name} {'is' if changed else 'was'} {word} in {file}")
        if pin:
            output.say(str(pin))
    config = read_config(setup)
    program = program_of(resolver(config), name, config)
    if program.error:
        output.problem(f"it cannot be loaded yet: {program.error}")
    elif changed:
        attached.tell_of_host("tinyhost reload", config_file=setup.config_file)


def _refuse_server(setup: Setup, name: str) -> None:
    """An MCP server is an entry of its own; one in the plugin list would hide it."""
    from tinyhost.config import load_config
    from tinyhost.errors import InvalidCall

    config = load_config(setup.config_file) if config_path(setup).exists() else None
    if config is not None and name in config.servers:
        raise InvalidCall(
            f'{name} is an MCP server: set or take away its "disabled" in mcpServers, and take'
            f" it off disabledPlugins, in {config.file}"
        )


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@setup_options
def disable(setup: Setup, name: str) -> None:
    """Take a plugin off the configuration. Its options are kept for when it is enabled.

    Its pin, if it has one, is removed.
    """
    from tinyhost.config import disable_plugin
    from tinyhost.pins import unpin_plugin

    file = config_path(setup)
    changed = disable_plugin(file, name)
    unpin_plugin(file, name)
    if setup.as_json:
        output.emit({"name": name, "enabled": False, "changed": changed, "file": str(file)})
    elif changed:
        output.say(f"{name} is disabled now in {file}")
    else:
        output.say(f"{name} was not enabled in {file}; nothing is changed")
    if changed:
        attached.tell_of_host("tinyhost reload", config_file=setup.config_file)


@click.command()
@click.argument("name")
@click.option("--lang", type=click.Choice(LANGUAGES), default="py", show_default=True)
@click.option(
    "--dir",
    "parent",
    type=click.Path(exists=True, file_okay=False),
    default=".",
    help="Where to make the plugin's folder. Default: the current folder.",
)
@json_option
def new(name: str, lang: str, parent: str, as_json: bool) -> None:
    """Write the folder of a new plugin, with a tool, a hook, and a test that passes."""
    from tinyhost.names import check_name
    from tinyhost_cli import scaffold

    created = scaffold.create(check_name(name), lang, Path(parent))
    if as_json:
        output.emit(
            {
                "name": name,
                "lang": lang,
                "folder": str(created.folder),
                "files": list(created.files),
                "buildCommand": list(created.build_command),
                "testCommand": list(created.test_command),
                "tryCommand": created.try_command,
            }
        )
        return
    output.say(f"written to {created.folder}: {', '.join(created.files)}")
    output.say(f"\n  cd {shlex.quote(str(created.folder))}")
    if created.build_command:
        output.say(f"  {shlex.join(created.build_command)}")
    output.say(f"  {shlex.join(created.test_command)}")
    _say_how_to_try(created)


def _say_how_to_try(created: Created) -> None:
    from tinyhost import paths

    folder = paths.plugins_dir()
    output.say("\nTo try it, put a link to it in the plugin folder, and call its tool:\n")
    output.say(f"  mkdir -p {shlex.quote(str(folder))}")
    output.say(f"  ln -s {shlex.quote(str(created.folder))} {shlex.quote(str(folder))}/")
    output.say(f"  {created.try_command}")
