"""What the shipped plugins import, and what they share."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tinyhost_plugins

ROOT = Path(tinyhost_plugins.__path__[0])
SHARED = "_shared"
PLUGINS = sorted(path.parent.name for path in ROOT.glob("*/plugin.py"))
# A plugin has one thing to offer to the others: what a secret is, and how it is masked.
OFFERED = "log_sanitizer.sanitize"


def imported(path: Path) -> Iterator[str]:
    """What a file imports of the plugins, below tinyhost_plugins: "_shared.table"."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            module = ".".join(filter(None, base))
            # `from .._shared import pace` names a module, `from .pace import Pace` what is in one.
            inside = [f"{module}.{alias.name}" for alias in node.names]
            yield from [name for name in inside if file_of(name).exists()] or [module]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            named = names if isinstance(node, ast.Import) else [node.module or ""]
            assert not any(name.startswith("tinyhost_plugins") for name in named), path


def file_of(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


@cache
def reached(module: str) -> frozenset[str]:
    """A module and all shared ones that it imports, and those import."""
    found = {module}
    for name in imported(file_of(module)):
        if name.startswith(f"{SHARED}."):
            found |= reached(name)
    return frozenset(found)


def test_all_plugins_are_looked_at() -> None:
    assert len(PLUGINS) == 11


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugin_imports_itself_and_what_is_shared(plugin: str) -> None:
    for path in (ROOT / plugin).glob("*.py"):
        for module in imported(path):
            assert module.split(".")[0] in (plugin, SHARED) or module == OFFERED, path


def test_what_is_shared_imports_no_plugin() -> None:
    for path in (ROOT / SHARED).glob("*.py"):
        assert all(module.split(".")[0] == SHARED for module in imported(path)), path


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / SHARED).glob("[!_]*.py")))
def test_what_is_shared_is_used_by_two_plugins(name: str) -> None:
    users = {
        plugin
        for plugin in PLUGINS
        for path in (ROOT / plugin).glob("*.py")
        for module in imported(path)
        if module.startswith(f"{SHARED}.") and f"{SHARED}.{name}" in reached(module)
    }
    assert len(users) >= 2, users
