"""Words for shell completion. Nothing is started or read that would make a key press slow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

_PREFIX = "tinyhost-plugin-"


def plugin_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of plugins that are installed, or known to the registry."""
    return _beginning(incomplete, [*installed(), *_registered()])


def tool_ids(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """How the ids of installed plugins' tools begin: only a running plugin knows the rest."""
    return _beginning(incomplete, (f"plugin__{name.replace('.', '_')}__" for name in installed()))


def hook_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The hooks that can be invoked."""
    from tinyhost_sdk import names

    return _beginning(incomplete, (hook for hook in names.HOOKS if hook != names.DISPOSE))


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return sorted({word for word in words if word.startswith(incomplete)})


def installed() -> list[str]:
    """Names of what lies in the plugin folder, on PATH and beside this Python, sorted."""
    from tinyhost import names, paths

    found = set(_files(str(paths.plugins_dir())))
    found.update(_files(str(paths.config_dir() / "extensions")))
    beside = os.path.dirname(sys.executable or "")  # noqa: PTH120
    for folder in (*os.environ.get("PATH", "").split(os.pathsep), beside):
        if os.path.isabs(folder):  # noqa: PTH117
            found.update(
                file.removeprefix(_PREFIX) for file in _files(folder) if file.startswith(_PREFIX)
            )
    return sorted(name for name in found if names.name_problem(name) is None)


def _registered() -> list[str]:
    """Names in the registry; its files are called after them."""
    import importlib.util

    spec = importlib.util.find_spec("tinyhost_registry")
    if spec and spec.submodule_search_locations:
        folder = spec.submodule_search_locations[0]
    else:  # a checkout
        folder = os.path.join(os.path.dirname(__file__), "../../registry")  # noqa: PTH118, PTH120
    return [file[:-5] for file in _files(folder) if file.endswith(".toml")]


def _files(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
