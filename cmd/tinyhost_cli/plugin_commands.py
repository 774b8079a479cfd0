"""`tinyhost plugin`: the group, and what looks at plugins without starting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, completion, output
from tinyhost_cli.common import host_options, read_config, resolver, setup_options
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.registry import RegistryEntry
    from tinyhost.resolve import Candidate
    from tinyhost_cli.describe import Program

plugin = LazyGroup(
    "plugin",
    help="Load, find and set up plugins.",
    lazy={
        "load": ("tinyhost_cli.plugin_load:load", "Start plugins, show what they offer, stop them"),
        "unload": ("tinyhost_cli.plugin_load:unload", "Take a plugin away from the running host"),
        "restart": ("tinyhost_cli.plugin_load:restart", "Start plugins anew, failed ones too"),
        "logs": ("tinyhost_cli.plugin_logs:logs", "Show what a plugin wrote to standard error"),
        "list": (f"{__name__}:list_plugins", "List the configured plugins"),
        "info": (f"{__name__}:info", "Show all that is known of a plugin"),
        "registry": (f"{__name__}:registry", "List the plugins that are known to exist"),
        "path": (f"{__name__}:path", "Show which programs a plugin's name leads to"),
        "enable": ("tinyhost_cli.plugin_edit:enable", "Add a plugin to the configuration"),
        "disable": ("tinyhost_cli.plugin_edit:disable", "Take a plugin off the configuration"),
        "add": ("tinyhost_cli.install_commands:add", "Install a plugin's folder or program"),
        "update": ("tinyhost_cli.install_commands:update", "Replace an installed plugin"),
        "remove": ("tinyhost_cli.install_commands:remove", "Take an installed plugin away"),
        "doctor": ("tinyhost_cli.plugin_doctor:doctor", "Run a plugin's own check of itself"),
        "pin": ("tinyhost_cli.pin_commands:pin", "Start a plugin only while its files are as now"),
        "unpin": ("tinyhost_cli.pin_commands:unpin", "Start a plugin whatever its files are"),
        "check": ("tinyhost_cli.check_command:check", "Check that a plugin keeps to its wire"),
        "new": ("tinyhost_cli.plugin_edit:new", "Write the folder of a new plugin"),
    },
)


# --- list


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Installed plugins as well.")
@setup_options
def list_plugins(setup: Setup, everything: bool) -> None:
    """List the configured plugins, in the order in which they are loaded, and the packages.

    No plugin is started. Of options, only the names are shown. Where a host is running, what it
    has loaded is shown as well.
    """
    config = read_config(setup)
    rows = _with_running(setup, _listed(config, everything))
    if setup.as_json:
        output.emit({"plugins": rows})
        return
    if not rows:
        output.problem("no plugins are configured; to add one: tinyhost plugin enable NAME")
        return
    output.table(
        ("NAME", "STATE", "RUNNING", "SOURCE", "PROGRAM", "OPTIONS"),
        [
            (
                row["name"],
                row["state"],
                row["running"]["state"] if row["running"] else "-",
                row["source"] or "-",
                row["path"] or row["problem"] or "-",
                ", ".join(row["options"]) or "-",
            )
            for row in rows
        ],
    )


def _with_running(setup: Setup, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with what a running host has of each plugin, and those that it alone has."""
    answer = attached.ask_host(setup, "plugin/list", {})
    loaded = {plugin["name"]: plugin for plugin in answer[0]["plugins"]} if answer else {}
    listed = {row["name"] for row in rows}
    by_hand = [
        {"name": name, "state": "loaded", "path": plugin["path"] or None, "source": None}
        | {"problem": None, "options": []}
        for name, plugin in loaded.items()
        if name not in listed and plugin["dialect"] != "builtin"
    ]
    return [{**row, "running": _running(loaded.get(row["name"]))} for row in [*rows, *by_hand]]


def _running(plugin: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return {key: plugin[key] for key in ("id", "state", "pid", "version")} if plugin else None


def _listed(config: Config, everything: bool) -> list[dict[str, Any]]:
    from tinyhost.zuno.discovery import packages_of
    from tinyhost_cli.describe import program_of
    from tinyhost_cli.packages import package_row

    finder = resolver(config)
    entries = [(spec.name, "enabled", spec.options) for spec in config.specs]
    entries += [(name, "disabled", options) for name, options in config.disabled.items()]
    listed = {name for name, _, _ in entries}
    entries += [(name, "disabled", {}) for name in config.servers if name not in listed]
    known = {name for name, _, _ in entries}
    packages = [found for found in packages_of(config) if found.name not in known]
    if everything:
        known.update(found.name for found in packages)
        entries += [(name, "installed", {}) for name in completion.installed() if name not in known]
    rows = [
        {
            "name": name,
            "state": state,
            **program_of(finder, name, config).value(),
            "options": list(options),
        }
        for name, state, options in entries
    ]
    return [*rows, *(package_row(found) for found in packages)]


# --- info


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@click.option("--load", "start", is_flag=True, help="Start the plugin, to see what it offers.")
@host_options
def info(setup: Setup, name: str, start: bool) -> int:
    """Show what the registry, the disk and the configuration say of a plugin.

    Values of variables are never shown, and options that look like secrets are masked.
    """
    from tinyhost import registry
    from tinyhost.names import check_name
    from tinyhost.present import plugin_value
    from tinyhost_cli.describe import info_facts, program_of
    from tinyhost_cli.packages import find_package, package_facts, package_value
    from tinyhost_cli.plugin_load import load_one

    check_name(name)
    config = read_config(setup)
    entry = registry.lookup(name)
    program = program_of(resolver(config), name, config)
    state, package = _state(config, name), find_package(config, name, program.path)
    if program.error and not entry and not package and state == "not configured":
        raise program.error
    loaded = _loaded_in_host(setup, name)
    if start and loaded is None:
        loaded = plugin_value(load_one(setup, config, name))
    if setup.as_json:
        value = _info_value(config, name, entry, program)
        value["package"] = package_value(package) if package else None
        output.emit({**value, **({"loaded": loaded} if loaded else {})})
        return 0
    output.facts(name, _info_facts(config, name, entry, program))
    if package:
        output.facts("package", package_facts(package))
    if loaded:
        output.facts("as loaded", info_facts(loaded))
    if program.error and not start:
        output.problem(str(program.error))
    return 0


def _loaded_in_host(setup: Setup, name: str) -> dict[str, Any] | None:
    """The plugin as a running host has it loaded."""
    answer = attached.ask_host(setup, "plugin/list", {})
    found = [plugin for plugin in answer[0]["plugins"] if plugin["name"] == name] if answer else []
    return found[0] if found else None


def _state(config: Config, name: str) -> str:
    if any(spec.name == name for spec in config.specs):
        return "enabled"
    known = name in config.disabled or name in config.servers
    return "disabled" if known else "not configured"


def _info_value(
    config: Config, name: str, entry: RegistryEntry | None, program: Program
) -> dict[str, Any]:
    import attrs

    from tinyhost_cli.describe import masked_options, settings_value
    from tinyhost_cli.pin_commands import pin_value

    spec = config.spec_for(name)
    return {
        "name": name,
        "state": _state(config, name),
        "registry": attrs.asdict(entry) if entry else None,
        "program": program.value(),
        "options": masked_options(spec.options),
        "settings": settings_value(spec.settings),
        "pin": pin_value(config, name),
        "log": _log_file(name),
    }


def _info_facts(
    config: Config, name: str, entry: RegistryEntry | None, program: Program
) -> dict[str, str | Sequence[str]]:
    from tinyhost import codec, registry
    from tinyhost_cli.describe import masked_options, settings_facts
    from tinyhost_cli.pin_commands import pin_words

    spec = config.spec_for(name)
    known: dict[str, str | Sequence[str]] = {}
    if entry:
        category = registry.categories().get(entry.category, entry.category)
        known = {"description": entry.description, "category": category, "source": entry.repo}
        known = {key: value for key, value in known.items() if value}
    return {
        **known,
        "state": _state(config, name),
        "program": program.path or program.problem or program.source,
        "found in": program.source or "-",
        "options": codec.dumps(masked_options(spec.options)),
        **settings_facts(spec.settings),
        "pinned": pin_words(config, name),
        "log": _log_file(name),
    }


def _log_file(name: str) -> str:
    from tinyhost import paths

    return str(paths.logs_dir() / f"plugin-{name}.log")


# --- registry


@click.command()
@click.argument("word", required=False)
@setup_options
def registry(setup: Setup, word: str | None) -> int:
    """List the plugins that are known to exist, or those that have WORD in their entry.

    Whether a plugin is installed is shown too. Exit code 1 when WORD finds nothing.
    """
    import attrs

    from tinyhost import registry as known

    found = known.search(word) if word is not None else known.entries()
    finder = resolver(read_config(setup))
    if setup.as_json:
        rows = [{**attrs.asdict(entry), **_installed_value(finder, entry)} for entry in found]
        output.emit({"plugins": rows})
    elif found:
        output.table(
            ("NAME", "CATEGORY", "INSTALLED", "DESCRIPTION"),
            [
                (
                    entry.name,
                    entry.category,
                    "yes" if _installed_value(finder, entry)["installed"] else "no",
                    entry.description,
                )
                for entry in found
            ],
        )
    else:
        output.problem(f"the registry has nothing with {word!r} in it")
    return 0 if found else 1


def _installed_value(finder: Any, entry: RegistryEntry) -> Mapping[str, bool]:
    from tinyhost_cli.describe import program_of

    return {"installed": bool(program_of(finder, entry.name).path)}


# --- path


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@setup_options
def path(setup: Setup, name: str) -> int:
    """Show every program that NAME could stand for, and which of them is used.

    Exit code 1 when none is.
    """
    from tinyhost_cli.describe import program_of

    config = read_config(setup)
    finder = resolver(config)
    program = program_of(finder, name, config)
    elsewhere = program.source in ("mcpServers", "launcher")
    candidates = [] if elsewhere else finder.which_all(name)
    rows = [(found, _verdict(found, program)) for found in candidates]
    if setup.as_json:
        output.emit({"name": name, "used": program.path or None, "candidates": _values(rows)})
    else:
        if rows:
            output.table(
                ("PROGRAM", "FOUND IN", "STATE"),
                [(_with_target(found), found.source, verdict) for found, verdict in rows],
            )
        if elsewhere:
            output.facts(name, {"program": program.path, "found in": program.source})
        elif program.error:
            output.problem(str(program.error))
        elif not program.path:
            output.problem(f"{name} is built in and has no program")
    return 0 if program.path else 1


def _with_target(found: Candidate) -> str:
    return found.path if found.target == found.path else f"{found.path} -> {found.target}"


def _verdict(found: Candidate, program: Program) -> str:
    if found.path == program.path and found.source == program.source:
        return "used"
    return "not used: it " + found.problem if found.problem else "not used: another one is first"


def _values(rows: Sequence[tuple[Candidate, str]]) -> list[dict[str, Any]]:
    return [
        {
            "path": found.path,
            "target": found.target,
            "source": found.source,
            "usable": found.usable,
            "problem": found.problem or None,
            "used": verdict == "used",
        }
        for found, verdict in rows
    ]
