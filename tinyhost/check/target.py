"""What is checked: a program or a folder, the wire it speaks, and how it is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import attrs

from .. import launching, remote
from ..config import Config
from ..confine import confine
from ..dialects.native import Native
from ..environment import child_environment, secret_values, working_directory
from ..errors import InvalidCall, LoadError
from ..integrity import Integrity
from ..launch_plan import Launch
from ..model import PluginSettings, PluginSpec, Resolved
from ..names import name_problem
from ..registry import BINARY_PREFIX
from ..resolve import Resolver
from .model import DIALECTS

# What a folder holds, and the wire that says. Any other is a native plugin's.
_MANIFESTS = {"extension.json": "zuno", "plugin.json": "bingo"}


@attrs.frozen(kw_only=True)
class Target:
    """A plugin to be checked.

    launch: how it is started. calls: tools that may be called, by name, with the JSON text of
        the arguments; no other tool is called, as tools may have effects.
    """

    name: str
    dialect: str
    launch: Launch
    calls: Mapping[str, str] = attrs.field(factory=dict)


def is_path(text: str) -> bool:
    """Whether a word on the command line means a file or folder rather than a name."""
    return os.sep in text or text in (".", "..")


def find_target(
    where: str,
    *,
    config: Config,
    resolver: Resolver,
    directory: str,
    environ: Mapping[str, str],
    arguments: Sequence[str] = (),
    dialect: str | None = None,
    options: Mapping[str, Any] | None = None,
    settings: PluginSettings | None = None,
    calls: Mapping[str, str] | None = None,
) -> Target:
    """Find what `where` means: a path, or a name, which is then started as the host does.

    directory: the project's. arguments: added to the program's own. dialect: the wire, or None
    to tell it from the folder. options: None for those of the configuration. settings: of a
    path, for which the configuration has none.
    Raises LoadError (stage "resolve" or "spawn"), PluginNotFound, ConfigError and InvalidCall.
    """
    by_name = not is_path(where) and (dialect != "mcp" or where in config.servers)
    if by_name:
        spec = config.spec_for(where, options)
        found = _by_name(spec, resolver, directory, environ)
        if dialect is not None:
            found = attrs.evolve(found, dialect=dialect)
        if arguments and found.source == remote.SOURCE:
            reason = f"{where} has a launcher; its arguments belong into its remoteCommand"
            raise InvalidCall(reason)
    else:
        spec = PluginSpec(_name_of(where), options or {}, settings or PluginSettings())
        found = _at_path(spec.name, where, dialect, environ)
    launch = _launch(spec, found, config if by_name else None, directory, environ)
    if arguments:
        launch = attrs.evolve(launch, command=(*launch.command, *arguments))
    launch = confine(spec.name, found, launch, directory, environ)
    if found.dialect == "mcp":
        launch = _mcp_servers().in_project(launch, directory)
    return Target(name=spec.name, dialect=found.dialect, launch=launch, calls=calls or {})


def _mcp_servers() -> ModuleType:
    from ..mcp import servers  # slow to import

    return servers


def _by_name(
    spec: PluginSpec, resolver: Resolver, directory: str, environ: Mapping[str, str]
) -> Resolved:
    launcher = remote.find(spec, environ)
    if launcher is not None:
        return launcher
    if spec.server is None:
        return resolver.resolve(spec.name)
    if spec.server.url:
        reason = "it is reached over HTTP; only what is started as a program can be checked"
        raise LoadError(spec.name, "resolve", reason)
    servers = _mcp_servers()
    server = servers.expanded(spec.server, environ)
    found: Resolved = servers.find(spec.name, server, environ, directory)
    return found


def _launch(
    spec: PluginSpec,
    found: Resolved,
    config: Config | None,
    directory: str,
    environ: Mapping[str, str],
) -> Launch:
    """As the manager makes it. A program that is named by its path is not looked up in pins."""
    settings = launching.settings_for(found, spec.settings)
    integrity = None if config is None else Integrity(spec.name, found, config)
    env: Mapping[str, str] = child_environment(settings, environ)
    base = Launch(
        dialect=Native,
        command=(found.path,),
        env=env if integrity is None else integrity.environment(env),
        directory=working_directory(settings, environ, directory),
        options=spec.options,
        settings=settings,
        secrets=tuple(secret_values(settings, environ, spec.options)),
        verify=None if integrity is None else integrity.check,
        environ=environ,
    )
    if spec.server is not None:
        spec = attrs.evolve(spec, server=_mcp_servers().expanded(spec.server, environ))
    return launching.prepare(spec, found, base)


def _name_of(where: str) -> str:
    """A name that the host would take, made of the path's last part."""
    last = os.path.basename(os.path.abspath(where))  # noqa: PTH100, PTH119
    for prefix in (BINARY_PREFIX, "tinycode-plugin-"):
        last = last.removeprefix(prefix)
    if name_problem(last):
        last = "".join(char if char.isalnum() and char.isascii() else "-" for char in last.lower())
        last = last.strip("-")[:64]
    return last or "plugin"


def _at_path(name: str, where: str, dialect: str | None, environ: Mapping[str, str]) -> Resolved:
    path = where
    if not is_path(where):
        path = shutil.which(where, path=environ.get("PATH", "")) or where
    path = os.path.abspath(path)  # noqa: PTH100
    if not os.path.lexists(path):
        raise LoadError(name, "resolve", f"{path} does not exist")
    if not os.path.isdir(path):  # noqa: PTH112
        return Resolved(path, "path", dialect or "native")
    dialect = dialect or _told_by_folder(path)
    if dialect in DIALECTS - {"native", "mcp"}:
        return Resolved(path, "path", dialect, path)
    last = os.path.basename(path)  # noqa: PTH119
    inside = dict.fromkeys((last, BINARY_PREFIX + last, "plugin"))
    for file in inside:
        program = f"{path}/{file}"
        if os.path.isfile(program):  # noqa: PTH113
            return Resolved(program, "path", dialect, path)
    reason = f"{path} is a folder without a program in it: expected one of {', '.join(inside)}"
    raise LoadError(name, "resolve", reason)


def _told_by_folder(path: str) -> str:
    for file, dialect in _MANIFESTS.items():
        if os.path.lexists(f"{path}/{file}"):
            return dialect
    return "native"
