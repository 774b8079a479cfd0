"""Loading config.json: which plugins, with what options, and how they are run.

One bad entry disables itself only and is reported with its place; a file that cannot be
parsed as a whole raises ConfigError.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from tinyhost import jsonc, paths
from tinyhost.config_edit import disable_plugin, enable_plugin
from tinyhost.config_forms import (
    ConfigForm,
    JournalForm,
    LimitsForm,
    PermissionsForm,
    PluginForm,
    SandboxForm,
    TimeoutsForm,
)
from tinyhost.config_object import read_object
from tinyhost.config_servers import McpEntry
from tinyhost.config_values import Place, PluginEntry, Problem
from tinyhost.errors import ConfigError, InvalidCall
from tinyhost.model import (
    Limits,
    McpServer,
    PluginSettings,
    PluginSpec,
    ProjectPlugins,
    Sandbox,
    Timeouts,
)
from tinyhost.names import check_name

# MCP servers that a package runner starts may have to be fetched first. In seconds.
_SERVER_HANDSHAKE = 30.0

__all__ = ["Config", "Layer", "Problem", "disable_plugin", "enable_plugin", "load_config"]


@attrs.frozen(kw_only=True)
class Layer:
    """One file that a configuration is, or could be, made of; see layers.load_layers.

    kind: "user" or "project". state: "in force", "absent", or for a project "not trusted",
    "changed", "refused" or "unusable"; why: in words, unless it is in force or absent.
    raw: its top-level values as parsed; none unless it is in force.
    """

    kind: str
    file: str
    state: str
    why: str = ""
    raw: Mapping[str, jsonc.Node] = attrs.field(factory=dict)

    @property
    def in_force(self) -> bool:
        """Whether it counts."""
        return self.state == "in force"


@attrs.frozen(kw_only=True)
class Config:
    """What a configuration file says.

    file: its absolute path; exists: whether it was there to be read.
    specs: the plugins to load, in order.
    disabled: names that must not be loaded, each with the options remembered for it.
    compat: the other hosts' ways that are switched on.
    permissions: the permission rules as written; permissions.Policy makes sense of them.
    journal: how long it keeps sessions, where the person said so.
    problems: what is wrong with the file, in the order of its text.
    raw: the top-level values as parsed, for keys that other parts of tinyhost read.
    forms: how plugins are run, by name, and "*" for all.
    servers: the MCP servers by plugin name, those that are disabled too; what a server's entry
    says of how it is run is in its form.
    layers: the files that were looked at, the person's first; none for a file read by itself.
    project, project_forms: what a trusted project brings, and how its own plugins are run.
    """

    file: str
    exists: bool
    specs: Sequence[PluginSpec] = ()
    disabled: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    compat: Sequence[str] = ()
    permissions: PermissionsForm = attrs.field(factory=PermissionsForm)
    journal: JournalForm = attrs.field(factory=JournalForm)
    problems: Sequence[Problem] = ()
    raw: Mapping[str, jsonc.Node] = attrs.field(factory=dict)
    forms: Mapping[str, PluginForm] = attrs.field(factory=dict, repr=False)
    servers: Mapping[str, McpServer] = attrs.field(factory=dict)
    layers: Sequence[Layer] = ()
    project: ProjectPlugins | None = None
    project_forms: Mapping[str, PluginForm] = attrs.field(factory=dict, repr=False)

    @property
    def sources(self) -> Sequence[tuple[str, Mapping[str, jsonc.Node]]]:
        """The files in force, the person's first, each with its top-level values."""
        others = [layer for layer in self.layers if layer.kind != "user" and layer.in_force]
        return [(self.file, self.raw), *((layer.file, layer.raw) for layer in others)]

    def settings_for(self, name: str) -> PluginSettings:
        """How a plugin is to be run, listed or not: its own settings over those of "*".

        What a project says of its own plugin gives way to both.
        """
        own = os.path.dirname(self.file)  # noqa: PTH120
        forms = [(self.forms[key], own) for key in ("*", name) if key in self.forms]
        if self.project is not None and name in self.project_forms:
            folder = os.path.dirname(self.project.folder)  # noqa: PTH120
            forms.insert(0, (self.project_forms[name], folder))
        return _merged_settings(forms)

    def spec_for(self, name: str, options: Mapping[str, Any] | None = None) -> PluginSpec:
        """The entry to load a plugin with, listed or not; options given here win."""
        if options is None:
            listed = [spec.options for spec in self.specs if spec.name == name]
            options = listed[0] if listed else self.disabled.get(name, {})
        return PluginSpec(name, dict(options), self.settings_for(name), self.servers.get(name))

    def server_spec(self, name: str, server: McpServer) -> PluginSpec:
        """The entry to load an MCP server with that is not listed.

        Raises InvalidCall for a name that is not allowed, or that another server has: what is
        configured for one, such as variables, must not go to another.
        """
        check_name(name)
        if name in self.servers:
            raise InvalidCall(f"another MCP server is called {name} in the configuration")
        forms = {**self.forms, name: _server_form(self.forms, name)}
        return PluginSpec(name, {}, attrs.evolve(self, forms=forms).settings_for(name), server)


def load_config(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """Load a configuration file: `path`, else the file that TINYHOST_CONFIG names, else the default.

    A missing default file is an empty configuration. Raises ConfigError for a named file that
    is missing, and for any file that cannot be read or parsed.
    """
    env = os.environ if environ is None else environ
    named = path if path is not None else env.get("TINYHOST_CONFIG") or None
    file = paths.absolute(named) if named is not None else paths.config_file(env)
    text = _read(file, required=named is not None)
    if text is None:
        return Config(file=str(file), exists=False)
    return parse_config(text, str(file))


def parse_config(text: str, file: str) -> Config:
    """Read a configuration from its text; `file` is its absolute path, for messages."""
    try:
        document = jsonc.parse(text)
    except jsonc.JsoncError as error:
        raise _config_error(error, file) from None
    root = document.root
    if root.kind != "object":
        reason = 'the configuration must be an object such as {"plugins": []}'
        raise ConfigError(reason, file=file, line=root.line, column=root.column)
    place = Place(file, [])
    for key in document.duplicates:
        place.at(key.value).warning(key, "this key is repeated; only the last one counts")
    # An object always reads as one.
    form = read_object(ConfigForm, root, place) or ConfigForm()
    return _config(form, root, place)


def _config(form: ConfigForm, root: jsonc.Node, place: Place) -> Config:
    disabled = {entry.name: entry.options or {} for entry in form.disabled_plugins or ()}
    entries = _unique(form.plugins or (), place.at("plugins"))
    for entry in entries:
        if entry.name in disabled:
            place.at("plugins").warning(
                entry.node, f"{entry.name} is not loaded: it is listed in disabledPlugins"
            )
    servers = _servers(form.mcp_servers or (), {entry.name for entry in entries}, place)
    forms = dict(form.settings or {})
    forms.update(
        {
            each.name: _server_form(forms, each.name, each.env, each.cwd, each.timeout)
            for each in servers
        }
    )
    config = Config(
        file=place.file,
        exists=True,
        disabled=disabled,
        compat=tuple(dict.fromkeys(form.compat or ())),
        permissions=form.permissions or PermissionsForm(),
        journal=form.journal or JournalForm(),
        problems=tuple(sorted(place.problems, key=lambda found: (found.line, found.column))),
        raw={member.key.value: member.value for member in root.members},
        forms=forms,
        servers={server.name: server.server for server in servers},
    )
    wanted = [(entry.name, entry.options or {}) for entry in entries]
    wanted += [(server.name, {}) for server in servers if not server.disabled]
    return attrs.evolve(
        config,
        specs=tuple(
            config.spec_for(name, options) for name, options in wanted if name not in disabled
        ),
    )


def _servers(entries: Sequence[McpEntry], plugins: set[str], place: Place) -> list[McpEntry]:
    """The servers whose names are not taken by a plugin."""
    found = []
    for entry in entries:
        if entry.name in plugins:
            text = f"not used: a plugin of the name {entry.name} is listed in plugins"
            attrs.evolve(place, key=entry.key).error(entry.node, text)
        else:
            found.append(entry)
    return found


def _server_form(
    forms: Mapping[str, PluginForm],
    name: str,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    timeout: float | None = None,
) -> PluginForm:
    """How a server is run: as its entry says, but what its settings say counts more."""
    form = forms.get(name, PluginForm())
    general = forms.get("*", PluginForm()).timeouts or TimeoutsForm()
    own = form.timeouts or TimeoutsForm()
    return attrs.evolve(
        form,
        env={**(env or {}), **(form.env or {})},
        directory=form.directory or cwd,
        timeouts=attrs.evolve(
            own,
            handshake=own.handshake or general.handshake or _SERVER_HANDSHAKE,
            tool=own.tool or timeout,
        ),
    )


def _unique(entries: Sequence[PluginEntry], place: Place) -> list[PluginEntry]:
    """One entry for each name: the place in the order of the first, the options of the last."""
    found: dict[str, PluginEntry] = {}
    for entry in entries:
        if entry.name in found:
            place.warning(
                entry.node, f"{entry.name} is listed twice; the options of this entry count"
            )
        found[entry.name] = entry
    return list(found.values())


def _merged_settings(forms: Sequence[tuple[PluginForm, str]]) -> PluginSettings:
    """Later forms win, key by key; variables add up. Each form has the folder of its file."""
    changes: dict[str, Any] = {}
    env: dict[str, str] = {}
    pass_env: dict[str, None] = {}
    for form, folder in forms:
        env.update(form.env or {})
        pass_env.update(dict.fromkeys(form.pass_env or ()))
        if form.directory is not None:
            changes["directory"] = _below(folder, form.directory)
        if form.max_line_bytes is not None:
            changes["max_line"] = form.max_line_bytes
        if form.on_guard_failure is not None:
            changes["on_guard_failure"] = form.on_guard_failure
        if form.on_output_failure is not None:
            changes["on_output_failure"] = form.on_output_failure
        if form.inherit_env is not None:
            changes["inherit_env"] = form.inherit_env
        changes.update(_launcher(form))
    changes["limits"] = _merged_limits([form.limits for form, _ in forms if form.limits])
    changes["sandbox"] = _merged_sandbox([form.sandbox for form, _ in forms])
    timeouts = _merged_timeouts([form.timeouts for form, _ in forms if form.timeouts])
    return PluginSettings(env=env, pass_env=tuple(pass_env), timeouts=timeouts, **changes)


def _launcher(form: PluginForm) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if form.launch is not None:
        # Whether there is a shell belongs to the launcher that it was said of.
        given = {"launch": form.launch, "remote_shell": None}
    if form.remote_shell is not None:
        given["remote_shell"] = form.remote_shell
    if form.remote_command is not None:
        given["remote_command"] = form.remote_command
    return given


def _below(folder: str, directory: str) -> str:
    # With references in it, a path cannot be made plain before they are replaced.
    if "$" in directory:
        return directory if directory[0] in "/~$" else f"{folder}/{directory}"
    return str(paths.absolute(directory if directory[0] in "/~" else Path(folder, directory)))


def _merged_limits(forms: Sequence[LimitsForm]) -> Limits:
    merged: dict[str, Any] = {}
    for form in forms:
        merged.update({k: v for k, v in attrs.asdict(form).items() if v is not None})
    return Limits(**{key: value for key, value in merged.items() if value != math.inf})


def _merged_sandbox(forms: Sequence[SandboxForm | bool | None]) -> Sandbox | None:
    merged: Sandbox | None = None
    for form in forms:
        if isinstance(form, SandboxForm):
            given = {k: v for k, v in attrs.asdict(form).items() if v is not None}
            merged = attrs.evolve(merged or Sandbox(), **given)
        elif form is False:
            merged = None
    return merged


def _merged_timeouts(forms: Sequence[TimeoutsForm]) -> Timeouts:
    changes: dict[str, float] = {}
    for form in forms:
        changes.update({k: v for k, v in attrs.asdict(form).items() if v is not None})
    return Timeouts(**changes)


def _read(file: Path, *, required: bool) -> str | None:
    try:
        with file.open("rb") as stream:
            data = stream.read(jsonc.MAX_SIZE + 1)
    except FileNotFoundError:
        if required:
            raise ConfigError("there is no such file", file=str(file)) from None
        return None
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror or error}"
        raise ConfigError(reason, file=str(file)) from None
    try:
        return jsonc.decode(data)
    except jsonc.JsoncError as error:
        raise _config_error(error, str(file)) from None


def _config_error(error: jsonc.JsoncError, file: str) -> ConfigError:
    return ConfigError(error.reason, file=file, line=error.line, column=error.column)
