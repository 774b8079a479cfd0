"""`tinyhost plugin add`, `update` and `remove`: plugins that are files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tinyhost_cli import attached, completion, output
from tinyhost_cli.common import read_config, setup_options
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.installer import Installed, Places
    from tinyhost.zuno.discovery import Found

_KINDS = {"zuno": "package", "bingo": "bingo plugin", "folder": "plugin", "program": "program"}

_source = click.argument("source", metavar="PATH", type=click.Path())
_project = click.option(
    "--project", "in_project", is_flag=True, help="In the project, and not for you everywhere."
)
_directory = click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The project, with --project. Default: the one of the current folder.",
)


@click.command()
@_source
@_project
@_directory
@setup_options
def add(setup: Setup, source: str, in_project: bool) -> None:
    """Install a package, another plugin's folder, or a program. Nothing is replaced or run.

    PATH is a folder with extension.json or plugin.json, a folder with a plugin's program, or
    the program itself.
    """
    from tinyhost import installer

    config = read_config(setup)
    where = _places(setup, in_project)
    done = installer.add(source, where, others=_others(setup, config, in_project))
    _tell(setup, config, done, "added", in_project)


@click.command()
@_source
@_project
@_directory
@setup_options
def update(setup: Setup, source: str, in_project: bool) -> None:
    """Replace an installed plugin by what is at PATH, in one step.

    When that fails, the old one is still in its place. Plugins that run stay as they are until
    they are started again.
    """
    from tinyhost import installer

    config = read_config(setup)
    where = _places(setup, in_project)
    done = installer.update(source, where, others=_others(setup, config, in_project))
    _tell(setup, config, done, "updated", in_project)


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@_project
@_directory
@setup_options
def remove(setup: Setup, name: str, in_project: bool) -> None:
    """Take away what is installed under a name. What runs of it runs on until it is stopped."""
    from tinyhost import installer

    config = read_config(setup)
    done = installer.remove(name, _places(setup, in_project))
    if setup.as_json:
        output.emit({"name": name, "path": done.path, "changed": "removed"})
        return
    output.say(f"removed {name} from {done.path}")
    if any(spec.name == name for spec in config.specs):
        output.say(f"It is still enabled; to change that: tinyhost plugin disable {name}")


def _places(setup: Setup, in_project: bool) -> Places:
    from tinyhost import paths
    from tinyhost.installer import Places

    if in_project:
        folder = f"{_project_root(setup)}/.tinyhost"
        return Places(f"{folder}/extensions", f"{folder}/plugins")
    return Places(str(paths.config_dir() / "extensions"), str(paths.plugins_dir()))


def _project_root(setup: Setup) -> str:
    from tinyhost.trust import find_project

    directory = setup.directory or "."
    found = find_project(directory)
    return found.root if found else os.path.realpath(directory)


def _others(setup: Setup, config: Config, in_project: bool) -> Sequence[Found]:
    """The packages that come before what is installed, or stand beside it."""
    from tinyhost import paths
    from tinyhost.extension_folders import extension_folders
    from tinyhost.zuno.discovery import discover

    root = _project_root(setup) if in_project else None
    return discover(extension_folders(paths.config_dir(), compat=config.compat, project=root))


def _tell(setup: Setup, config: Config, done: Installed, what: str, in_project: bool) -> None:
    found = [each for each in _others(setup, config, in_project) if each.folder == done.path]
    problem = found[0].why_not if found else ""
    if setup.as_json:
        output.emit(
            {
                "name": done.name,
                "kind": done.kind,
                "path": done.path,
                "changed": what,
                "runs": done.runs or None,
                "problem": problem or None,
            }
        )
        return
    output.say(f"{what} {_KINDS[done.kind]} {done.name} in {done.path}")
    if done.runs:
        output.say(f"When it is loaded it runs, with all your rights: {done.runs}")
    if problem:
        output.problem(f"{done.path} {problem}")
    _say_what_next(setup, done, in_project)
    if what == "updated":
        way = f"tinyhost plugin restart {done.name}"
        attached.tell_of_host(way, config_file=setup.config_file)


def _say_what_next(setup: Setup, done: Installed, in_project: bool) -> None:
    if in_project:
        root = _project_root(setup)
        output.say(
            f'It counts when "plugins" in {root}/.tinyhost/config.json names it, and you trust'
            f" the project as it is now: tinyhost trust {root}"
        )
    elif done.package is not None and not done.runs:
        output.say(f"To see what it holds: tinyhost plugin info {done.name}")
    else:
        output.say(f"To have it loaded always: tinyhost plugin enable {done.name}")
