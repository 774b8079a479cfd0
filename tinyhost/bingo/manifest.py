"""plugin.json: what a bingo plugin's folder says of it before it is started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs

from tinyhost import codec
from tinyhost.ownership import file_problem

from .forms import read

MANIFEST = "plugin.json"
PLUGIN_ROOT = "${PLUGIN_ROOT}"
MAX_SIZE = 1024 * 1024  # bytes


@attrs.frozen(kw_only=True)
class Entry:
    """The program. ${PLUGIN_ROOT} stands for the plugin's folder, but not in names of env."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = attrs.field(factory=dict)

    def expanded(self, root: str) -> Entry:
        """The program as it is to be started from a folder."""
        return Entry(
            command=self.command.replace(PLUGIN_ROOT, root),
            args=tuple(arg.replace(PLUGIN_ROOT, root) for arg in self.args),
            env={name: value.replace(PLUGIN_ROOT, root) for name, value in self.env.items()},
        )


@attrs.frozen(kw_only=True)
class PluginManifest:
    """A plugin; config is a JSON Schema of its options."""

    name: str
    version: str
    entry: Entry
    config: Any = None


class BadManifest(ValueError):
    """A folder is no plugin, in words that follow the folder's path."""


def read_folder(folder: str) -> PluginManifest:
    """The manifest of a plugin's folder. Raises BadManifest.

    The plugin's name is the folder's. Unknown members are ignored.
    """
    path = f"{folder}/{MANIFEST}"
    if problem := file_problem(path):
        raise BadManifest(f"has a {MANIFEST} that {problem}")
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            data = stream.read(MAX_SIZE + 1)
    except OSError as error:
        raise BadManifest(f"has a {MANIFEST} that cannot be read: {error.strerror}") from None
    manifest = _parsed(data)
    name = os.path.basename(folder)  # noqa: PTH119
    if manifest.name != name:
        raise BadManifest(
            f"has a {MANIFEST} that names the plugin {manifest.name[:80]!r}; rename the folder, or"
            f" change the name to {name!r}"
        )
    return manifest


def _parsed(data: bytes) -> PluginManifest:
    if len(data) > MAX_SIZE:
        raise BadManifest(f"has a {MANIFEST} of more than {MAX_SIZE} bytes")
    try:
        manifest = read(PluginManifest, codec.loads(data))
    except ValueError as error:
        raise BadManifest(f"has a {MANIFEST} that cannot be used: {error}") from None
    if not manifest.entry.command:
        raise BadManifest(f"has a {MANIFEST} that cannot be used: entry.command is empty")
    entry = manifest.entry
    values = (entry.command, *entry.args, *entry.env, *entry.env.values())
    if any("\0" in value for value in values) or any(not n or "=" in n for n in entry.env):
        raise BadManifest(f"has a {MANIFEST} whose entry no program can be started with")
    return manifest
