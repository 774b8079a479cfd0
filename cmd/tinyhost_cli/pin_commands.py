"""`tinyhost plugin pin` and `unpin`: start a plugin only while its files are as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tinyhost_cli import completion, output
from tinyhost_cli.common import config_path, read_config, resolver, setup_options
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.pins import Pin


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@setup_options
def pin(setup: Setup, name: str) -> None:
    """Pin a plugin to what its files are now, anew if it is pinned.

    From then on it starts only while they are the same: its program, or for a plugin with a
    folder of its own all that is in it. The hash is kept in tinyhost.lock, beside the
    configuration.
    """
    done = pin_now(setup, name)
    if setup.as_json:
        output.emit({"name": name, **done.value})
    else:
        output.say(str(done))


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@setup_options
def unpin(setup: Setup, name: str) -> int:
    """Remove a plugin's pin. Exit code 1 when it has none."""
    from tinyhost.pins import lock_file, unpin_plugin

    file = config_path(setup)
    removed = unpin_plugin(file, name)
    if setup.as_json:
        output.emit({"name": name, "unpinned": removed, "file": str(lock_file(file))})
    elif removed:
        output.say(f"{name} is pinned no more")
    else:
        output.problem(f"{name} has no pin in {lock_file(file)}")
    return 0 if removed else 1


class Pinned(NamedTuple):
    """A pin that was made, and the file that it is kept in."""

    name: str
    pin: Pin
    file: str

    @property
    def value(self) -> dict[str, Any]:
        """As JSON."""
        return {**_value(self.pin), "file": self.file}

    def __str__(self) -> str:
        """For people."""
        return (
            f"{self.name} is pinned in {self.file}: {self.pin.path}, {self.pin.size} bytes,"
            f" sha256 {self.pin.sha256}"
        )


def pin_now(setup: Setup, name: str) -> Pinned:
    """Pin a plugin. Raises what finding it raises, LoadError, InvalidCall and ConfigError."""
    from tinyhost.errors import InvalidCall
    from tinyhost.pins import lock_file, pin_plugin

    file, config = config_path(setup), read_config(setup)
    if config.settings_for(name).launch:
        reason = f"{name} has a launcher: what runs behind that cannot be compared with a pin"
        raise InvalidCall(reason)
    found = resolver(config).resolve(name)
    return Pinned(name, pin_plugin(file, name, found), str(lock_file(file)))


# --- for plugin info


def pin_value(config: Config, name: str) -> dict[str, Any] | None:
    """A plugin's pin, and what is wrong with it; None when there is none."""
    from tinyhost.errors import ConfigError, LoadError, PluginNotFound
    from tinyhost.pins import check_pin, read_pins, refuse_pin

    try:
        pin = read_pins(config.file).get(name)
    except ConfigError as error:
        return {"problem": str(error)}
    if pin is None:
        return None
    problem = None
    try:
        if config.settings_for(name).launch:
            refuse_pin(config.file, name)
        check_pin(config.file, name, resolver(config).resolve(name))
    except LoadError as error:
        problem = error.reason
    except PluginNotFound:
        problem = "there is no program"
    return {**_value(pin), "problem": problem}


def pin_words(config: Config, name: str) -> str:
    """The same for people."""
    value = pin_value(config, name)
    if value is None:
        return "no"
    return value["problem"] or f"at {value['pinnedAt']}, sha256 {value['sha256']}, unchanged"


def _value(pin: Pin) -> dict[str, Any]:
    return {
        "path": pin.path,
        "sha256": pin.sha256,
        "size": pin.size,
        "pinnedAt": pin.pinned_at,
    }
