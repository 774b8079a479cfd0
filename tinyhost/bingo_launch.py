"""How a bingo plugin's process is started."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

import attrs

from . import paths
from .bingo.manifest import BadManifest, Entry, PluginManifest, read_folder
from .bingo.messages import HostFolders
from .dialects.bingo import Bingo, Home
from .errors import LoadError
from .json_schema import BadSchema, compile_schema
from .launch_plan import Launch
from .model import PluginSpec, Resolved
from .ownership import file_problem
from .redaction import secrets_in


def prepare(spec: PluginSpec, found: Resolved, base: Launch) -> Launch:
    """The launch of a plugin that was found; the working directory of `base` is the project.

    The plugin's folder is where it runs. Raises LoadError, stage "resolve".
    """
    root = found.path
    try:
        manifest = read_folder(root)
    except BadManifest as error:
        raise LoadError(spec.name, "resolve", f"{root} {error}") from error
    _check_options(spec, manifest, root)
    entry = manifest.entry.expanded(root)
    env = _environment(spec, entry, base.env)
    command = (_program(spec.name, entry.command, root, env), *entry.args)
    for word in command:
        _refuse_unsafe(spec.name, root, word)
    home = Home(
        root=root,
        project=base.directory,
        version=manifest.version,
        folders=_folders(spec.name, base),
    )
    return attrs.evolve(
        base,
        dialect=functools.partial(Bingo, home, base.callbacks),
        command=command,
        env=env,
        directory=root,
        secrets=tuple({*base.secrets, *secrets_in(entry.env)}),
    )


def _check_options(spec: PluginSpec, manifest: PluginManifest, root: str) -> None:
    """The plugin's options against the schema that its plugin.json has for them.

    Without options there is nothing to check: the plugin is told that there are none.
    """
    if not spec.options or not isinstance(manifest.config, dict):
        return
    try:
        problems = compile_schema(manifest.config)(dict(spec.options))
    except BadSchema as error:
        reason = f"{root}/plugin.json: config is no JSON Schema: {error}"
        raise LoadError(spec.name, "resolve", reason) from error
    if problems:
        reason = (
            f"its options do not fit the schema in {root}/plugin.json: {'; '.join(problems)};"
            f" correct the entry of {spec.name} in the configuration"
        )
        raise LoadError(spec.name, "resolve", reason)


def _environment(spec: PluginSpec, entry: Entry, env: Mapping[str, str]) -> Mapping[str, str]:
    """What every plugin gets, the manifest's variables, and the person's before both."""
    own = {name: env[name] for name in spec.settings.env if name in env}
    return {**env, **entry.env, **own}


def _program(name: str, command: str, root: str, env: Mapping[str, str]) -> str:
    """An absolute path: a path counts from the plugin's folder, a name is looked for on PATH."""
    if "/" in command:
        return os.path.normpath(os.path.join(root, command))  # noqa: PTH118
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder.rstrip('/')}/{command}"
        # A relative entry would mean whatever folder the plugin happens to be in.
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113, PTH117
            return path
    raise LoadError(name, "resolve", f"its command {command!r} is not on PATH; install it")


def _refuse_unsafe(name: str, root: str, word: str) -> None:
    """Of the command, what is a file of the plugin must not be somebody else's to change."""
    path = os.path.normpath(os.path.join(root, word))  # noqa: PTH118
    if path.startswith(f"{root}/") and os.path.isfile(path) and (problem := file_problem(path)):  # noqa: PTH113
        raise LoadError(name, "resolve", f"{path} {problem}")


def _folders(name: str, base: Launch) -> HostFolders:
    """What the plugin is told; its own state is to go below the data folder, which is there."""
    environ = base.environ
    data = paths.state_dir(environ) / "plugin-data"
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = f"its data folder {data} cannot be made: {error.strerror}"
        raise LoadError(name, "resolve", reason) from error
    return HostFolders(
        home=str(paths.home_dir(environ)),
        config_dir=str(paths.config_dir(environ)),
        data_dir=str(data),
    )
