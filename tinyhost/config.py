"""Loading config.json: which plugins, with what options, and how they are run.

One bad entry disables itself only and is reported with its place; a file that cannot be
parsed as a whole raises ConfigError.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from tinyhost import jsonc, paths
from tinyhost.config_edit import disable_plugin, enable_plugin
from tinyhost.config_forms import (
    ConfigForm,
    PermissionsForm,
    PluginForm,
    TimeoutsForm,
    read_object,
)
from tinyhost.config_values import Place, PluginEntry, Problem
from tinyhost.errors import ConfigError
from tinyhost.model import PluginSettings, PluginSpec, Timeouts

__all__ = ["Config", "Problem", "disable_plugin", "enable_plugin", "load_config"]


@attrs.frozen(kw_only=True)
class Config:
    """What a configuration file says.

    file: its absolute path; exists: whether it was there to be read.
    specs: the plugins to load, in order.
    disabled: names that must not be loaded, each with the options remembered for it.
    compat: the other hosts' ways that are switched on.
    permissions: the permission rules as written; permissions.Policy makes sense of them.
    problems: what is wrong with the file, in the order of its text.
    raw: the top-level values as parsed, for keys that other parts of tinyhost read.
    """

    file: str
    exists: bool
    specs: Sequence[PluginSpec] = ()
    disabled: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    compat: Sequence[str] = ()
    permissions: PermissionsForm = attrs.field(factory=PermissionsForm)
    problems: Sequence[Problem] = ()
    raw: Mapping[str, jsonc.Node] = attrs.field(factory=dict)
    _forms: Mapping[str, PluginForm] = attrs.field(factory=dict, repr=False)

    def settings_for(self, name: str) -> PluginSettings:
        """How a plugin is to be run, listed or not: its own settings over those of "*"."""
        forms = [self._forms[key] for key in ("*", name) if key in self._forms]
        return _merged_settings(forms, os.path.dirname(self.file))  # noqa: PTH120

    def spec_for(self, name: str, options: Mapping[str, Any] | None = None) -> PluginSpec:
        """The entry to load a plugin with, listed or not; options given here win."""
        if options is None:
            listed = [spec.options for spec in self.specs if spec.name == name]
            options = listed[0] if listed else self.disabled.get(name, {})
        return PluginSpec(name, dict(options), self.settings_for(name))


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
    config = Config(
        file=place.file,
        exists=True,
        disabled=disabled,
        compat=tuple(dict.fromkeys(form.compat or ())),
        permissions=form.permissions or PermissionsForm(),
        problems=tuple(sorted(place.problems, key=lambda found: (found.line, found.column))),
        raw={member.key.value: member.value for member in root.members},
        forms=form.settings or {},
    )
    wanted = [entry for entry in entries if entry.name not in disabled]
    return attrs.evolve(
        config, specs=tuple(config.spec_for(entry.name, entry.options or {}) for entry in wanted)
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


def _merged_settings(forms: Sequence[PluginForm], folder: str) -> PluginSettings:
    """Later forms win, key by key; variables add up."""
    changes: dict[str, Any] = {}
    env: dict[str, str] = {}
    pass_env: dict[str, None] = {}
    for form in forms:
        env.update(form.env or {})
        pass_env.update(dict.fromkeys(form.pass_env or ()))
        if form.directory is not None:
            changes["directory"] = _below(folder, form.directory)
        if form.max_line_bytes is not None:
            changes["max_line"] = form.max_line_bytes
        if form.on_guard_failure is not None:
            changes["on_guard_failure"] = form.on_guard_failure
    timeouts = _merged_timeouts([form.timeouts for form in forms if form.timeouts])
    return PluginSettings(env=env, pass_env=tuple(pass_env), timeouts=timeouts, **changes)


def _below(folder: str, directory: str) -> str:
    return str(paths.absolute(directory if directory[0] in "/~" else Path(folder, directory)))


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
