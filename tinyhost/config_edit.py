"""Changing config.json on a person's behalf: comments stay, and no file is ever half written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tinyhost import atomic, jsonc, jsonc_edit, names, paths, patterns
from tinyhost.config_values import Place, PluginEntry, read_plugin_entry
from tinyhost.errors import ConfigError, InvalidCall

_EMPTY = "{\n}\n"
_LISTED = ["plugins"]
_DISABLED = ["disabledPlugins"]


def enable_plugin(
    file: str | os.PathLike[str], name: str, options: Mapping[str, Any] | None = None
) -> bool:
    """List a plugin in a configuration file, and take it off the disabled ones.

    Without options it keeps those it is listed with, or gets back those remembered when it
    was disabled. Returns whether the file changed; it is created when missing. Raises
    InvalidCall for a bad name, ConfigError for a file that cannot be parsed or written.
    """
    names.check_name(name)
    return _edit(file, lambda text: _enabled(text, name, options))


def disable_plugin(file: str | os.PathLike[str], name: str) -> bool:
    """Take a plugin off the list of a configuration file, remembering its options if it has any.

    Returns whether the file changed. Raises as enable_plugin does.
    """
    names.check_name(name)
    # A file that is missing lists nothing, and is not created for that.
    return paths.absolute(file).exists() and _edit(file, lambda text: _disabled(text, name))


def allow_in_project(file: str | os.PathLike[str], directory: str, rule: str) -> bool:
    """Add a permission rule that allows something in one directory.

    Returns whether the file changed; it is created when missing. Raises InvalidCall for a
    relative directory or a bad rule, ConfigError for a file that cannot be parsed or written.
    """
    if not directory.startswith("/"):
        raise InvalidCall(f"not an absolute path: {directory!r}")
    try:
        patterns.parse_pattern(rule)
    except ValueError as error:
        raise InvalidCall(f"permission rule: {error}") from None
    path = ["permissions", "projects", str(paths.absolute(directory)), "allow"]
    return _edit(file, lambda text: _with_rule(text, path, rule))


def _with_rule(text: str, path: list[str], rule: str) -> str:
    node: jsonc.Node | None = jsonc.parse(text).root
    for key in path:
        node = node.get(key) if node else None
    if node and any(item.value == rule for item in node.items):
        return text
    return jsonc_edit.append_item(text, path, rule)


def _enabled(text: str, name: str, options: Mapping[str, Any] | None) -> str:
    listed, disabled = _entries(text, _LISTED, name), _entries(text, _DISABLED, name)
    if options is None and not listed:
        options = _last_options(disabled)
    if not listed:
        text = jsonc_edit.append_item(text, _LISTED, _written(name, options))
    elif options is not None and options != (_last_options(listed) or {}):
        # Where a name is listed twice, the last entry is the one that counts.
        text = jsonc_edit.set_item(text, _LISTED, max(listed), _written(name, options))
    return _without(text, _DISABLED, disabled)


def _disabled(text: str, name: str) -> str:
    listed = _entries(text, _LISTED, name)
    options = _last_options(listed)
    text = _without(text, _LISTED, listed)
    if not options:
        return text
    text = _without(text, _DISABLED, _entries(text, _DISABLED, name))
    return jsonc_edit.append_item(text, _DISABLED, _written(name, options))


def _written(name: str, options: Mapping[str, Any] | None) -> Any:
    return [name, dict(options)] if options else name


def _entries(text: str, path: list[str], name: str) -> dict[int, PluginEntry]:
    """The entries of a list that name a plugin, by index; entries that are bad name none."""
    node = jsonc.parse(text).root.get(path[0])
    found = {}
    for index, item in enumerate(node.items if node else ()):
        entry = read_plugin_entry(item, Place("", []))
        if entry and entry.name == name:
            found[index] = entry
    return found


def _last_options(entries: Mapping[int, PluginEntry]) -> Mapping[str, Any] | None:
    return entries[max(entries)].options if entries else None


def _without(text: str, path: list[str], indexes: Mapping[int, PluginEntry]) -> str:
    for index in sorted(indexes, reverse=True):
        text = jsonc_edit.remove_item(text, path, index)
    return text


def _edit(file: str | os.PathLike[str], change: Callable[[str], str]) -> bool:
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(paths.absolute(file)))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic.locked(target.parent):
            return _edit_locked(target, change)
    except jsonc.JsoncError as error:
        raise ConfigError(
            f"{error.reason}; the file is left as it is",
            file=str(file),
            line=error.line,
            column=error.column,
        ) from None
    except OSError as error:
        reason = f"the file cannot be changed: {error.strerror or error}"
        raise ConfigError(reason, file=str(file)) from None


def _edit_locked(target: Path, change: Callable[[str], str]) -> bool:
    status = target.stat() if target.exists() else None
    old = jsonc.decode(target.read_bytes()) if status else _EMPTY
    if jsonc.parse(old).root.kind != "object":
        raise jsonc.JsoncError("the configuration must be an object", 1, 1)
    new = change(old)
    if new == old:
        return False
    jsonc.parse(new)
    atomic.replace(target, new.encode("utf-8"), status)
    return True
