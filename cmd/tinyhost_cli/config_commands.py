"""`tinyhost config`: where the configuration is, what it says, what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import output
from tinyhost_cli.common import config_path, read_config, setup_options
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config, Problem
    from tinyhost.errors import ConfigError
    from tinyhost.model import PluginSpec

config = LazyGroup(
    "config",
    help="Show and check the configuration.",
    lazy={
        "path": (f"{__name__}:path", "Print the path of the configuration file"),
        "show": (f"{__name__}:show", "Print the configuration as it is understood"),
        "validate": (f"{__name__}:validate", "Check the configuration file"),
    },
)


@click.command()
@setup_options
def path(setup: Setup) -> None:
    """Print the path of the configuration file, whether it exists or not.

    With --json, other places as well.
    """
    from tinyhost import paths

    file = config_path(setup)
    if not setup.as_json:
        output.say(str(file))
        return
    output.emit(
        {
            "file": str(file),
            "exists": file.exists(),
            "pluginsDir": str(paths.plugins_dir()),
            "stateDir": str(paths.state_dir()),
            "logsDir": str(paths.logs_dir()),
        }
    )


@click.command()
@setup_options
def show(setup: Setup) -> None:
    """Print the configuration as it is understood, with defaults filled in.

    The form is JSON. Values of variables are left out, and options that look like secrets
    are masked.
    """
    value = _config_value(read_config(setup))
    if setup.as_json:
        output.emit(value)
    else:
        output.emit_indented(value)


def _config_value(config: Config) -> dict[str, Any]:
    from tinyhost_cli.describe import masked_options, settings_value

    def entry(spec: PluginSpec) -> dict[str, Any]:
        return {
            "name": spec.name,
            "options": masked_options(spec.options),
            "settings": settings_value(spec.settings),
        }

    return {
        "file": config.file,
        "exists": config.exists,
        "layers": [
            {
                "kind": layer.kind,
                "file": layer.file,
                "state": layer.state,
                "why": layer.why or None,
            }
            for layer in config.layers
        ],
        "compat": list(config.compat),
        "plugins": [entry(spec) for spec in config.specs],
        "disabledPlugins": [entry(config.spec_for(name)) for name in config.disabled],
    }


@click.command()
@setup_options
def validate(setup: Setup) -> int:
    """Check the configuration file: exit code 0 when all of it can be used, else 1.

    Warnings do not count. A file that does not exist is an empty configuration, unless it
    was named.
    """
    from tinyhost.config import load_config
    from tinyhost.errors import ConfigError

    file, problems = str(config_path(setup)), []
    try:
        problems = [_problem_value(found) for found in load_config(setup.config_file).problems]
    except ConfigError as error:
        problems = [_error_value(error)]
    valid = not any(found["severity"] == "error" for found in problems)
    if setup.as_json:
        output.emit({"file": file, "valid": valid, "problems": problems})
        return 0 if valid else 1
    for found in problems:
        output.say(found["text"])
    output.say(f"{file}: {'valid' if valid else 'not valid'}")
    return 0 if valid else 1


def _problem_value(found: Problem) -> dict[str, Any]:
    return {
        "severity": found.severity,
        "message": found.message,
        "key": found.key,
        "line": found.line,
        "column": found.column,
        "text": str(found),
    }


def _error_value(error: ConfigError) -> dict[str, Any]:
    return {
        "severity": "error",
        "message": error.reason,
        "key": error.key,
        "line": error.line,
        "column": error.column,
        "text": str(error),
    }
