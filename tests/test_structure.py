"""What holds for the tree as a whole."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Rooms from top to bottom. A module may import from its own room and from those below it.
ROOMS = [
    ["surfaces"],
    ["running"],
    ["opening"],
    ["host"],
    ["present", "captured"],
    [
        "sessions",
        "deciding",
        "recorder",
        "attendance",
        "outcomes",
        "events",
        "stats",
        "missed",
    ],
    [
        "dispatch",
        "asking",
        "journal",
        "journal_read",
        "permissions",
        "shell_hooks",
        "journal_records",
        "journal_retention",
    ],
    ["manager", "manager_scope", "known_guards", "check"],
    ["preparing"],
    ["integrity", "layers", "offers", "reload"],
    ["installer"],
    ["launching", "confine"],
    ["remote"],
    ["zuno", "mcp", "bingo_launch"],
    ["process_plugin", "builtins"],
    [
        "resolve",
        "registry",
        "config",
        "config_edit",
        "config_forms",
        "config_hooks",
        "config_launch",
        "config_object",
        "config_servers",
        "config_schema",
        "trust",
        "pins",
        "extension_folders",
        "json_schema",
    ],
    ["link", "lives", "handshake"],
    ["connection", "plugin", "guardian", "launch_plan"],
    ["process", "peer", "pluginlog", "dialects", "bingo", "supervise", "hooks", "command"],
    ["launch", "sandbox"],
    ["outbox", "call"],
    [
        "config_bounds",
        "config_values",
        "environment",
        "jsonc_edit",
        "patterns",
        "codec",
        "redaction",
        "jsonc",
    ],
    [
        "model",
        "errors",
        "ids",
        "names",
        "paths",
        "durations",
        "sizes",
        "landlock",
        "program_files",
        "ownership",
        "contents",
        "atomic",
        "staging",
        "process_tree",
        "spill",
        "shell_text",
        "runtime",
    ],
]
LEVEL = {name: len(ROOMS) - level for level, room in enumerate(ROOMS) for name in room}
HOST = sorted((ROOT / "tinyhost").rglob("*.py"))
SDK = sorted((ROOT / "sdk").rglob("*.py"))


def room(dotted: str) -> str:
    """tinyhost.dialects.native -> dialects"""
    return [*dotted.split("."), ""][1]


def imported_modules(path: Path) -> Iterator[str]:
    """Absolute names of what a file imports, wherever in the file it does."""
    package = list(path.relative_to(ROOT).with_suffix("").parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", HOST, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downwards_only(path: Path) -> None:
    own = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
    if own == "__init__":
        return
    assert own in LEVEL, f"{own} has no room; give it one in this test and in the design page"
    for module in imported_modules(path):
        if module.startswith("tinyhost.") and room(module) in LEVEL:
            above = LEVEL[room(module)] > LEVEL[own]
            assert not above, f"{path.name} imports {module}, which stands above it"
        assert not module.startswith(("tinyhost_cli", "tinyhost_plugins"))


@pytest.mark.parametrize("path", SDK, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_sdk_imports_the_standard_library_and_itself(path: Path) -> None:
    for module in imported_modules(path):
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names or top in ("", "sdk", "tinyhost_sdk"), module


def test_the_folder_cmd_does_not_hide_the_standard_librarys_module() -> None:
    code = "import cmd, pdb; print(cmd.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not Path(done.stdout.strip()).is_relative_to(ROOT)
    assert not (ROOT / "cmd" / "__init__.py").exists()


def test_no_module_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for folder in ("tinyhost", "sdk", "cmd", "bench")
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text().splitlines())) > 500
    }
    assert long == {}


def test_setup_cfg_lists_every_package() -> None:
    import configparser

    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    homes = {"tinyhost": ROOT, "sdk": ROOT / "sdk", "cmd": ROOT / "cmd"}
    found = {"tinyhost_registry"}
    for folder, base in homes.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            found.add(".".join(init.parent.relative_to(base).parts))
    assert listed == found
