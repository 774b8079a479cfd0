"""How plugins of each dialect are started, once they have been found."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import attrs

from . import remote
from .errors import LoadError
from .launch_plan import Launch
from .model import PluginSettings, PluginSpec, Resolved

# For each dialect but the native one: the function that turns the native way of starting a
# program into its own. It may raise LoadError, stage "resolve", and ConfigError.
_PREPARE: dict[str, str] = {
    "zuno": "tinyhost.zuno.prepare:prepare",
    "bingo": "tinyhost.bingo_launch:prepare",
    "mcp": "tinyhost.mcp.servers:prepare",
}

# Dialects whose plugins are made for the host's whole environment.
_INHERITING = ("zuno",)


def settings_for(found: Resolved, settings: PluginSettings) -> PluginSettings:
    """The settings, with what the dialect decides where they say nothing."""
    if settings.inherit_env is None and found.dialect in _INHERITING:
        return attrs.evolve(settings, inherit_env=True)
    return settings


def prepare(spec: PluginSpec, found: Resolved, base: Launch) -> Launch:
    """The launch of a plugin that was found; `base` is right for a native program."""
    launch = _by_dialect(spec, found, base)
    return remote.prepare(spec, found, launch) if found.source == remote.SOURCE else launch


def _by_dialect(spec: PluginSpec, found: Resolved, base: Launch) -> Launch:
    if found.dialect == "native":
        return base
    place = _PREPARE.get(found.dialect)
    if place is None:
        raise LoadError(spec.name, "resolve", f"no such dialect: {found.dialect}")
    module, _, function = place.partition(":")
    own: Callable[[PluginSpec, Resolved, Launch], Launch] = getattr(import_module(module), function)
    return own(spec, found, base)
