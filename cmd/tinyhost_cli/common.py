"""What the commands share: their options, JSON arguments, and the configuration.

Light to import; what needs the host's library imports it in its functions.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tinyhost_cli import completion, output
from tinyhost_cli.attached import directory_of
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from pathlib import Path

    from tinyhost.config import Config
    from tinyhost.model import PluginSpec
    from tinyhost.resolve import Resolver

_F = TypeVar("_F", bound=Callable[..., Any])


class Interrupted(Exception):
    """A signal ended the command; `number` is the signal's. Plugins have been stopped."""

    def __init__(self, number: int) -> None:
        self.number = int(number)
        words = {signal.SIGINT: "interrupted", signal.SIGHUP: "hung up"}
        super().__init__(words.get(signal.Signals(number), "terminated"))


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
config_option = click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Configuration file, in place of the usual one.",
)
plugin_option = click.option(
    "--plugin",
    "plugins",
    metavar="NAME",
    multiple=True,
    shell_complete=completion.plugin_names,
    help="Load this plugin, and not those of the configuration. Can be repeated.",
)
_directory_option = click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The project that plugins work in. Default: the current folder.",
)
_verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Say more on standard error while plugins run."
)


no_host_option = click.option(
    "--no-host", is_flag=True, help="Do it in this process, also where a host is running."
)


def setup_options(function: _F) -> _F:
    """Give a command --config and --json; it gets them as a Setup, its first argument."""
    return config_option(json_option(_packed(function)))


def host_options(function: _F) -> _F:
    """Give a command that starts plugins its options; see setup_options."""
    packed = no_host_option(_packed(function))
    return config_option(_directory_option(_verbose_option(json_option(packed))))


def serve_options(function: _F) -> _F:
    """Give the command that serves its options; see setup_options."""
    return config_option(_directory_option(_verbose_option(_packed(function))))


def attach_options(function: _F) -> _F:
    """Give a command for the running host its options; see setup_options."""
    return config_option(_directory_option(json_option(_packed(function))))


def _packed(function: _F) -> _F:
    @functools.wraps(function)
    def command(**given: Any) -> Any:
        own = {key: given.pop(key) for key in list(given) if key in Setup.__slots__}
        return function(Setup(**own), **given)

    # click keeps the options of the decorators below this one on the function.
    return command  # type: ignore[return-value]


# --- arguments


def json_object(text: str | None, option: str) -> tuple[Mapping[str, Any], str] | None:
    """An object given as JSON text, or as "-" on standard input: the value, and its text.

    None stays None. Raises click.BadParameter.
    """
    if text is None:
        return None
    from tinyhost.codec import loads

    if text == "-":
        text = _read_input(option)
    try:
        value = loads(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise _bad(option, "is not UTF-8 text") from None
    except ValueError as error:
        raise _bad(option, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _bad(option, 'must be a JSON object such as {"key": "value"}')
    return value, text


def _read_input(option: str) -> str:
    if sys.stdin is None:
        raise _bad(option, "is '-', but standard input is closed")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _bad(option, "read from standard input is not UTF-8 text") from None


def _bad(option: str, reason: str) -> click.UsageError:
    ctx = click.get_current_context(silent=True)
    return click.UsageError(f"The value of {option} {reason}.", ctx=ctx)


# --- configuration


def read_config(setup: Setup) -> Config:
    """Load the configuration, with that of the project if it is trusted.

    What is wrong with single entries is told on standard error, and that a project's
    configuration is not in force.
    """
    from tinyhost.layers import load_layers, notices

    config = load_layers(directory_of(setup), setup.config_file)
    for text in (*map(str, config.problems), *notices(config)):
        output.problem(text)
    return config


def config_path(setup: Setup) -> Path:
    """The configuration file that is meant, whether it is there or not."""
    from tinyhost import paths

    named = setup.config_file or os.environ.get("TINYHOST_CONFIG")
    return paths.absolute(named) if named else paths.config_file()


def wanted_specs(setup: Setup, config: Config) -> Sequence[PluginSpec]:
    """The plugins to load: those of --plugin, each once, else those of the configuration."""
    if setup.plugins:
        return [config.spec_for(name) for name in dict.fromkeys(setup.plugins)]
    if not config.specs:
        output.problem(
            "no plugins are configured; name one with --plugin NAME, or add it for good with:"
            " tinyhost plugin enable NAME"
        )
    return config.specs


def resolver(config: Config) -> Resolver:
    """What finds plugins' programs, as the host does."""
    from tinyhost import paths
    from tinyhost.resolve import Resolver

    return Resolver(
        paths.config_dir(),
        os.environ.get("PATH", ""),
        compat=config.compat,
        project=config.project,
    )
