"""Pins: hashes of plugins' programs, kept in tinyhost.lock beside the configuration.

A plugin that is pinned starts only while its files are what they were. For a plugin that is
one file the hash is the file's, as sha256sum prints it; for one with a folder of its own it
is over everything in the folder, names and modes included.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from . import atomic, contents, paths
from .errors import ConfigError, LoadError
from .model import Resolved
from .names import check_name

FILE = "tinyhost.lock"

_VERSION = 1
_MAX_SIZE = 1024 * 1024  # bytes
_HEAD = 12  # hex digits of a hash that a message shows


@attrs.frozen
class Pin:
    """path: the program, or for zuno and bingo plugins the folder. size: bytes that were hashed.

    pinned_at: UTC, as "2031-01-31T12:00:00Z".
    """

    path: str
    sha256: str
    size: int
    pinned_at: str


def lock_file(config_file: str | os.PathLike[str]) -> Path:
    """The file of the pins that belong to a configuration file."""
    return paths.absolute(config_file).parent / FILE


def read_pins(config_file: str | os.PathLike[str]) -> Mapping[str, Pin]:
    """The pins by plugin name; none without a file. Raises ConfigError for a bad file."""
    file = lock_file(config_file)
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_SIZE + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _bad(file, f"cannot be read: {error.strerror}") from None
    try:
        return _parse(data)
    except (ValueError, RecursionError) as error:
        raise _bad(file, f"is not a file of pins: {error}") from None


def pin_plugin(config_file: str | os.PathLike[str], name: str, found: Resolved) -> Pin:
    """Pin a plugin to what its files are now. Raises LoadError and ConfigError."""
    check_name(name)
    sha256, size = _measure(name, found)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    pin = Pin(found.path, sha256, size, now)
    _change(config_file, lambda pins: {**pins, name: pin})
    return pin


def unpin_plugin(config_file: str | os.PathLike[str], name: str) -> bool:
    """Take a plugin's pin away; whether it had one. Raises ConfigError."""
    check_name(name)
    if name not in read_pins(config_file):
        return False
    _change(config_file, lambda pins: {key: pin for key, pin in pins.items() if key != name})
    return True


def check_pin(config_file: str, name: str, found: Resolved) -> None:
    """Raise LoadError, stage "resolve", when a pinned plugin is not what it was.

    So does a file of pins that cannot be read: what it says of the plugin is not known.
    """
    again = f"if that is as it should be, pin it again with: tinyhost plugin pin {name}"
    pin = _pin_of(config_file, name)
    if pin is None:
        return
    if pin.path != found.path:
        reason = f"it is pinned to {pin.path}, but {found.path} would be started; {again}"
        raise LoadError(name, "resolve", reason)
    sha256, _ = _measure(name, found)
    if sha256 != pin.sha256:
        reason = (
            f"{found.folder or found.path} has changed since it was pinned at {pin.pinned_at}:"
            f" sha256 {pin.sha256[:_HEAD]}... then, {sha256[:_HEAD]}... now; {again}"
        )
        raise LoadError(name, "resolve", reason)


def refuse_pin(config_file: str, name: str) -> None:
    """Raise LoadError, stage "resolve", for a pinned plugin whose files are not here to compare."""
    if _pin_of(config_file, name) is not None:
        reason = (
            "it is pinned, but has a launcher in its settings: what is started behind that cannot"
            f" be compared with the pin. Remove one of them; the pin with: tinyhost plugin unpin {name}"
        )
        raise LoadError(name, "resolve", reason)


def _pin_of(config_file: str, name: str) -> Pin | None:
    try:
        return read_pins(config_file).get(name)
    except ConfigError as error:
        reason = f"{error}; correct the file, or delete it to have no pins"
        raise LoadError(name, "resolve", reason) from None


def _measure(name: str, found: Resolved) -> tuple[str, int]:
    folder = found.folder or (found.path if os.path.isdir(found.path) else "")  # noqa: PTH112
    try:
        if folder:
            whole = contents.read_folder(folder)
            return whole.sha256, whole.size
        return contents.hash_file(found.path)
    except contents.Unreadable as error:
        raise LoadError(name, "resolve", f"its hash cannot be computed: {error}") from None


def _parse(data: bytes) -> dict[str, Pin]:
    if len(data) > _MAX_SIZE:
        raise ValueError(f"it is longer than {_MAX_SIZE} bytes")
    value = json.loads(data)
    if type(value) is not dict or value.get("version") != _VERSION:
        raise ValueError(f'it has no "version": {_VERSION}')
    plugins = value.get("plugins")
    if type(plugins) is not dict:
        raise ValueError('it has no object "plugins"')
    return {name: _pin(name, entry) for name, entry in plugins.items()}


def _pin(name: str, entry: Any) -> Pin:
    entry = entry if type(entry) is dict else {}
    words = [entry.get(key) for key in ("path", "sha256", "pinnedAt")]
    size = entry.get("size")
    if not all(type(word) is str and word for word in words) or type(size) is not int:
        raise ValueError(f"the entry of {name} needs path, sha256, size and pinnedAt")
    path, sha256, pinned_at = words
    return Pin(path, sha256, size, pinned_at)


def _change(
    config_file: str | os.PathLike[str],
    change: Callable[[Mapping[str, Pin]], Mapping[str, Pin]],
) -> None:
    # A link stays a link: what it points to is replaced.
    file = Path(os.path.realpath(lock_file(config_file)))
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic.locked(file.parent):
            pins = change(read_pins(config_file))
            status = file.stat() if file.exists() else None
            atomic.replace(file, _text(pins).encode(), status)
    except OSError as error:
        raise _bad(file, f"cannot be changed: {error.strerror or error}") from None


def _text(pins: Mapping[str, Pin]) -> str:
    plugins = {
        name: {
            "path": pin.path,
            "sha256": pin.sha256,
            "size": pin.size,
            "pinnedAt": pin.pinned_at,
        }
        for name, pin in sorted(pins.items())
    }
    return json.dumps({"version": _VERSION, "plugins": plugins}, indent=2) + "\n"


def _bad(file: Path, reason: str) -> ConfigError:
    return ConfigError(f"the file {reason}", file=str(file))
