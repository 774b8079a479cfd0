"""Where tinyhost keeps its files: configuration, plugins, state and logs.

Every function takes the environment to judge by (default: the process's own) and returns
an absolute path; nothing is created here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from . import runtime

_APP = "tinyhost"


def config_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of the person's configuration: TINYHOST_CONFIG_DIR, else the XDG one."""
    env = os.environ if environ is None else environ
    if own := env.get("TINYHOST_CONFIG_DIR"):
        return absolute(own)
    return _xdg_dir(env, "XDG_CONFIG_HOME", ".config", "user_config_path")


def state_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of logs and other things written while running: TINYHOST_STATE_DIR, else XDG."""
    env = os.environ if environ is None else environ
    if own := env.get("TINYHOST_STATE_DIR"):
        return absolute(own)
    return _xdg_dir(env, "XDG_STATE_HOME", ".local/state", "user_state_path")


def config_file(environ: Mapping[str, str] | None = None) -> Path:
    """The configuration file that is read when no other is named."""
    return config_dir(environ) / "config.json"


def plugins_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The folder where a person puts plugins: one file or folder for each."""
    return config_dir(environ) / "plugins"


def logs_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of the plugins' log files."""
    return state_dir(environ) / "logs"


def tinycode_plugins_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The folder where tinycode looks for plugins; used with "compat": ["tinycode"]."""
    env = os.environ if environ is None else environ
    if own := env.get("TINYCODE_CONFIG_DIR"):
        return absolute(own) / "plugins"
    base = Path(env.get("XDG_CONFIG_HOME", ""))
    if not base.is_absolute():
        base = home_dir(env) / ".config"
    return base / "tinycode" / "plugins"


def zuno_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of zuno's configuration; used with "compat": ["zuno"]."""
    env = os.environ if environ is None else environ
    base = Path(env.get("XDG_CONFIG_HOME", ""))
    return (base if base.is_absolute() else home_dir(env) / ".config") / "zuno"


def absolute(path: str | os.PathLike[str]) -> Path:
    """Make a path absolute and plain ("~", "." and ".." resolved by text), links kept."""
    # os.path leaves the "~" of an unknown user alone, where pathlib raises.
    return Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111


def home_dir(environ: Mapping[str, str] | None = None) -> Path:
    """The person's home directory: HOME, else the one that the system has for them."""
    return Path(runtime.home_of(os.environ if environ is None else environ))


def make_private(folder: str | os.PathLike[str]) -> None:
    """Make a folder and those above it that are missing, for their owner alone.

    Raises OSError. os.makedirs would let everybody look into those above it.
    """
    missing: list[str] = []
    here = os.path.abspath(folder)  # noqa: PTH100
    while not os.path.isdir(here) and here != os.path.dirname(here):  # noqa: PTH112, PTH120
        missing.append(here)
        here = os.path.dirname(here)  # noqa: PTH120
    for path in reversed(missing):
        try:
            os.mkdir(path, 0o700)  # noqa: PTH102
        except FileExistsError:
            if not os.path.isdir(path):  # noqa: PTH112
                raise


def _xdg_dir(env: Mapping[str, str], variable: str, below_home: str, fallback: str) -> Path:
    # The XDG rules say that a relative value is to be ignored.
    base = Path(env.get(variable, ""))
    if base.is_absolute():
        return base / _APP
    if sys.platform != "darwin":
        return home_dir(env) / below_home / _APP
    import platformdirs

    found: Path = getattr(platformdirs, fallback)(_APP)
    return found
