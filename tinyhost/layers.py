"""The configuration in layers: the person's own file, and that of the project they work in.

A project's file counts when the person trusts its content, and can only add: plugins, hooks,
rules that deny or ask. It takes nothing away and allows nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from . import jsonc, registry
from .config import Config, Layer, load_config, parse_config
from .config_forms import PermissionsForm, PluginForm
from .config_values import Problem
from .errors import ConfigError
from .model import PluginSpec, ProjectPlugins
from .names import BUILTIN_NAMES
from .trust import CONFIG, Standing, State, find_project, standing

_Ignored = Callable[[jsonc.Node, str, str], Problem]

# Settings under these names are of what is built in.
_RESERVED = frozenset({*BUILTIN_NAMES, "shell-hooks"})
_ONLY_YOURS = "only your own configuration can do that; not used"


def load_layers(
    directory: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Load the person's configuration and, where it is trusted, that of a directory's project.

    path: as for load_config. The result's layers say what was found; a project that is not in
    force changes nothing else. Raises ConfigError for the person's own file only.
    """
    user = load_config(path, environ)
    layer = Layer(
        kind="user",
        file=user.file,
        state="in force" if user.exists else "absent",
        raw=user.raw,
    )
    config = attrs.evolve(user, layers=(layer,))
    project = find_project(directory, environ)
    if project is None or os.path.realpath(project.file) == os.path.realpath(user.file):
        return config
    return with_project(config, standing(project, environ))


def with_project(user: Config, found: Standing) -> Config:
    """A configuration and a project's layer, in force if the project is trusted."""
    state, why = found.state.value, found.why
    if found.state is State.TRUSTED:
        try:
            return _merged(user, found)
        except ConfigError as error:
            state, why = "unusable", str(error)
    layer = Layer(kind="project", file=found.project.file, state=state, why=why)
    return attrs.evolve(user, layers=(*user.layers, layer))


def preview(user: Config, found: Standing) -> Config:
    """What with_project would give if the project were trusted. Raises ConfigError."""
    return _merged(user, found)


def notices(config: Config) -> list[str]:
    """A line for each layer that is not in force."""
    return [
        f"the project's {layer.file} is not in force: {layer.why}"
        for layer in config.layers
        if layer.why
    ]


def _merged(user: Config, found: Standing) -> Config:
    assert found.contents is not None
    project = _parsed(found)
    specs = _added_specs(user, project)
    names = frozenset(spec.name for spec in specs)
    layer = Layer(kind="project", file=project.file, state="in force", raw=project.raw)
    config = attrs.evolve(
        user,
        permissions=_tightened(user.permissions, project.permissions),
        problems=(*user.problems, *project.problems, *_ignored(user, project, names)),
        servers={**{n: s for n, s in project.servers.items() if n in names}, **user.servers},
        layers=(*user.layers, layer),
        project=ProjectPlugins(
            root=found.project.root,
            folder=found.project.plugins,
            names=names,
            sha256=found.contents.sha256,
        ),
        project_forms={
            name: _restrained(name, form, user)
            for name, form in project.forms.items()
            if name in names - _RESERVED
        },
    )
    added = [attrs.evolve(spec, settings=config.settings_for(spec.name)) for spec in specs]
    return attrs.evolve(config, specs=(*user.specs, *added))


def _parsed(found: Standing) -> Config:
    """The project's file, from the very bytes that were hashed."""
    file = found.project.file
    data = found.contents.kept.get(CONFIG, b"") if found.contents else b""
    try:
        return parse_config(jsonc.decode(data), file)
    except jsonc.JsoncError as error:
        raise ConfigError(error.reason, file=file, line=error.line, column=error.column) from None


def _added_specs(user: Config, project: Config) -> Sequence[PluginSpec]:
    taken = {spec.name for spec in user.specs} | {*user.disabled, *user.servers}
    return [
        spec
        for spec in project.specs
        # A server must not pass for a plugin that people know; see Resolver for programs.
        if spec.name not in taken and not (spec.server and registry.lookup(spec.name))
    ]


def _tightened(user: PermissionsForm, project: PermissionsForm) -> PermissionsForm:
    return attrs.evolve(
        user,
        deny=[*(user.deny or ()), *(project.deny or ())],
        ask=[*(user.ask or ()), *(project.ask or ())],
        mode="strict" if project.mode == "strict" else user.mode,
    )


def _restrained(name: str, form: PluginForm, user: Config) -> PluginForm:
    """Settings of a project without what would be less strict than the person's."""
    if form.on_guard_failure == "skip":
        form = attrs.evolve(form, on_guard_failure=None)
    # What is behind a launcher is not in the project, so the trust in it covers none of that.
    form = attrs.evolve(form, launch=None, remote_command=None, remote_shell=None)
    if _has_sandbox(name, user):
        # Merged key by key, it could open what the person left closed by saying nothing.
        form = attrs.evolve(form, sandbox=None)
    return form


def _has_sandbox(name: str, user: Config) -> bool:
    return any(user.forms[key].sandbox for key in ("*", name) if key in user.forms)


# --- what of a project's file is not used


def _ignored(user: Config, project: Config, names: frozenset[str]) -> Iterator[Problem]:
    def ignored(node: jsonc.Node, key: str, message: str) -> Problem:
        place = (project.file, key, node.line, node.column)
        return Problem("warning", message, *place, harmless=True)

    root = project.raw
    if (node := root.get("disabledPlugins")) and node.items:
        yield ignored(node, "disabledPlugins", _ONLY_YOURS)
    if (node := root.get("compat")) and node.items:
        yield ignored(node, "compat", _ONLY_YOURS)
    if (node := root.get("journal")) and node.members:
        yield ignored(node, "journal", _ONLY_YOURS)
    for index, item in enumerate(root["plugins"].items if "plugins" in root else ()):
        name = item.items[0].value if item.items else item.value
        if name in user.disabled:
            text = f"{name} is not loaded: it is disabled in {user.file}"
            yield ignored(item, f"plugins[{index}]", text)
        elif any(spec.name == name for spec in user.specs):
            text = f"{name} is in {user.file} already, and what it says there counts"
            yield ignored(item, f"plugins[{index}]", text)
    for member in root["settings"].members if "settings" in root else ():
        yield from _ignored_settings(member, user, names, ignored)
    permissions = root.get("permissions")
    for member in permissions.members if permissions else ():
        key, value = member.key.value, member.value
        loose = key == "mode" and value.value == "standard" and user.permissions.mode == "strict"
        if loose or (key in ("allow", "categories", "projects") and (value.items or value.members)):
            text = f"a project cannot allow anything; {_ONLY_YOURS}"
            yield ignored(member.key, f"permissions.{key}", text)


def _ignored_settings(
    member: jsonc.Member, user: Config, names: frozenset[str], ignored: _Ignored
) -> Iterator[Problem]:
    name = member.key.value
    if name not in names - _RESERVED:
        text = "a project can only have settings for plugins that it adds; not used"
        yield ignored(member.key, f"settings.{name}", text)
        return
    sandbox = member.value.get("sandbox")
    if sandbox is not None and _has_sandbox(name, user):
        text = "a project cannot change the sandbox that your settings have for it; not used"
        yield ignored(sandbox, f"settings.{name}.sandbox", text)
    for key in ("launch", "remoteCommand", "remoteShell"):
        if (node := member.value.get(key)) is not None:
            text = f"a project cannot have its plugins started elsewhere; {_ONLY_YOURS}"
            yield ignored(node, f"settings.{name}.{key}", text)
    policy = member.value.get("onGuardFailure")
    if policy is not None and policy.value == "skip":
        text = f"a project cannot have a failed guard skipped; {_ONLY_YOURS}"
        yield ignored(policy, f"settings.{name}.onGuardFailure", text)
