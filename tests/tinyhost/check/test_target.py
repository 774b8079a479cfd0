"""What a path or a name on the command line leads to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost.check.target import Target, find_target
from tinyhost.config import Config, load_config
from tinyhost.errors import InvalidCall, LoadError, PluginNotFound
from tinyhost.resolve import Resolver


def find(
    where: str, config: Config | None = None, folder: Path | None = None, **more: Any
) -> Target:
    return find_target(
        where,
        config=config or Config(file="", exists=False),
        resolver=Resolver(folder or "/nonexistent", ""),
        directory="/",
        environ=os.environ,
        **more,
    )


def program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_path_is_a_native_program_named_by_its_last_part(tmp_path: Path) -> None:
    path = program(tmp_path / "tinyhost-plugin-Word Count")
    found = find(str(path), arguments=["--fast"])
    assert (found.name, found.dialect) == ("word-count", "native")
    assert found.launch.command == (str(path), "--fast")
    assert found.launch.directory == "/"


@pytest.mark.parametrize("file", ["x", "tinyhost-plugin-x", "plugin"])
def test_a_folder_holds_a_program_as_in_the_plugin_folder(file: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    path = program(tmp_path / "x" / file)
    assert find(f"{tmp_path}/x/").launch.command == (str(path),)


def test_a_folder_without_a_program_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(LoadError, match="expected one of x, tinyhost-plugin-x, plugin"):
        find(f"{tmp_path}/x")


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="gone does not exist"):
        find(f"{tmp_path}/gone")


@pytest.mark.parametrize(
    ("file", "dialect"), [("extension.json", "zuno"), ("plugin.json", "bingo")]
)
def test_a_bad_manifest_is_refused_by_its_own_dialect(
    file: str, dialect: str, tmp_path: Path
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / file).write_text("{}")
    with pytest.raises(LoadError, match=str(tmp_path)):
        find(f"{tmp_path}/x")
    program(tmp_path / "x" / "plugin")
    assert find(f"{tmp_path}/x", dialect="native").dialect == "native"


def test_an_mcp_server_is_found_on_path() -> None:
    name = Path(sys.executable).name
    environ = {"PATH": str(Path(sys.executable).parent)}
    found = find_target(
        name,
        config=Config(file="", exists=False),
        resolver=Resolver("/nonexistent", ""),
        directory="/",
        environ=environ,
        arguments=["-m", "server"],
        dialect="mcp",
    )
    assert found.dialect == "mcp"
    assert [*found.launch.command[1:]] == ["-m", "server"]
    assert Path(found.launch.command[0]).is_file()


def test_a_name_has_the_settings_of_the_configuration_and_a_path_has_not(
    home: Path, add_plugin: Callable[[str, str], Path]
) -> None:
    path = add_plugin("guard", "serve()\n")
    file = home / "config" / "config.json"
    file.write_text(
        '{"plugins": [["guard", {"root": "/srv"}]],'
        ' "settings": {"guard": {"timeouts": {"hook": "1s"}}}}'
    )
    config = load_config(file)
    assert not config.problems
    named = find("guard", config, home / "config")
    assert named.launch.options == {"root": "/srv"}
    assert named.launch.settings.timeouts.hook == 1.0
    assert named.launch.verify is not None
    by_path = find(str(path), config, home / "config")
    assert by_path.launch.options == {}
    assert by_path.launch.settings.timeouts.hook == 5.0
    assert by_path.launch.verify is None


def test_a_name_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(PluginNotFound):
        find("no-such-plugin")
    with pytest.raises(InvalidCall):
        find("No such plugin")


def test_a_server_that_is_reached_over_http_is_refused(home: Path) -> None:
    file = home / "config" / "config.json"
    file.write_text('{"mcpServers": {"far": {"url": "http://127.0.0.1:1/mcp"}}}')
    config = load_config(file)
    assert not config.problems
    with pytest.raises(LoadError, match="over HTTP"):
        find("far", config)


def test_a_server_of_the_configuration_is_started_as_it_says(home: Path) -> None:
    file = home / "config" / "config.json"
    file.write_text('{"mcpServers": {"near": {"command": "/bin/sh", "args": ["-c", "exit"]}}}')
    found = find("near", load_config(file), arguments=["more"])
    assert found.dialect == "mcp"
    assert [*found.launch.command] == ["/bin/sh", "-c", "exit", "more"]
