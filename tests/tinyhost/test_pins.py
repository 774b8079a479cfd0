"""Pins: a plugin starts only while its files are what they were."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

import tinyhost
from tinyhost import ConfigError, LoadError, State
from tinyhost.config import load_config
from tinyhost.integrity import Integrity
from tinyhost.model import Resolved
from tinyhost.pins import lock_file, pin_plugin, read_pins, unpin_plugin
from tinyhost.process_plugin import ProcessPlugin
from tinyhost.resolve import Resolver

AddPlugin = Callable[[str, str], Path]
PEERS = Path(__file__).parent.parent / "peers"

PLAIN = "handshake()\nserve()"
MORTAL = "handshake()\nserve(lambda p: sys.exit(3))"


def find(home: Path, name: str) -> Resolved:
    return Resolver(home / "config", "", scripts="").resolve(name)


def pin(home: Path, name: str) -> None:
    pin_plugin(home / "config" / "config.json", name, find(home, name))


async def load(name: str) -> None:
    async with tinyhost.open_manager(load_config()) as manager:
        await manager.load(name)


async def test_a_pinned_plugin_starts_until_its_program_changes(
    home: Path, add_plugin: AddPlugin
) -> None:
    program = add_plugin("demo", PLAIN)
    pin(home, "demo")
    await load("demo")
    before = hashlib.sha256(program.read_bytes()).hexdigest()
    assert read_pins(home / "config" / "config.json")["demo"].sha256 == before
    program.write_text(program.read_text() + "# changed\n")
    after = hashlib.sha256(program.read_bytes()).hexdigest()
    with pytest.raises(LoadError) as caught:
        await load("demo")
    assert caught.value.stage == "resolve"
    assert str(program) in caught.value.reason
    assert f"sha256 {before[:12]}... then, {after[:12]}... now" in caught.value.reason
    assert "pin it again with: tinyhost plugin pin demo" in caught.value.reason
    pin(home, "demo")
    await load("demo")


async def test_a_plugin_that_was_changed_is_not_started_again_after_its_death(
    home: Path, add_plugin: AddPlugin
) -> None:
    program = add_plugin("demo", MORTAL)
    pin(home, "demo")
    async with tinyhost.open_manager(load_config()) as manager:
        plugin = await manager.load("demo")
        assert isinstance(plugin, ProcessPlugin)
        with pytest.raises(tinyhost.OutcomeUncertain):
            await plugin.call_tool("t")
        program.write_text(program.read_text() + "# changed\n")
        with pytest.raises(LoadError, match="has changed since it was pinned"):
            await plugin.invoke_hook("x")
        assert plugin.state is State.RESTARTING
        with pytest.raises(LoadError, match="has changed since it was pinned"):
            await plugin.restart()


async def test_a_pin_made_while_the_plugin_runs_counts_at_its_next_start(
    home: Path, add_plugin: AddPlugin
) -> None:
    program = add_plugin("demo", PLAIN)
    async with tinyhost.open_manager(load_config()) as manager:
        plugin = await manager.load("demo")
        pin(home, "demo")
        await plugin.restart()
        program.write_text(program.read_text() + "# changed\n")
        with pytest.raises(LoadError, match="has changed since it was pinned"):
            await plugin.restart()


async def test_of_a_plugin_with_a_folder_everything_in_it_counts(home: Path) -> None:
    folder = home / "config" / "plugins" / "demo"
    folder.mkdir()
    program, helper = folder / "plugin", folder / "helper.py"
    helper.write_text("WORD = 1\n")
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(1, {str(PEERS)!r})\n"
        f"import helper\nfrom rawplugin import *\n{PLAIN}\n"
    )
    program.chmod(0o755)
    pin(home, "demo")
    # Python would put its cache into the folder, and so change it.
    await load("demo")
    await load("demo")
    assert sorted(path.name for path in folder.iterdir()) == ["helper.py", "plugin"]
    helper.write_text("WORD = 2\n")
    with pytest.raises(LoadError, match=f"{folder} has changed since it was pinned"):
        await load("demo")


async def test_another_program_of_the_same_name_is_not_started(
    home: Path, tmp_path: Path, add_plugin: AddPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = add_plugin("demo", PLAIN)
    bin = tmp_path / "bin"
    bin.mkdir()
    other = bin / "tinyhost-plugin-demo"
    other.write_text(program.read_text())
    other.chmod(0o755)
    pin(home, "demo")
    program.unlink()
    monkeypatch.setenv("PATH", str(bin))
    with pytest.raises(LoadError, match=f"pinned to {program}, but {other} would be started"):
        await load("demo")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 2, "plugins": {}}',
        '{"version": 1}',
        '{"version": 1, "plugins": {"x": {"path": "/x"}}}',
        '{"version": 1, "plugins": {"x": {"path": 1, "sha256": 1, "size": 1, "pinnedAt": 1}}}',
        "[" * 100_000,
    ],
)
async def test_a_file_of_pins_that_cannot_be_read_starts_nothing(
    home: Path, add_plugin: AddPlugin, text: str
) -> None:
    add_plugin("demo", PLAIN)
    file = lock_file(home / "config" / "config.json")
    file.write_text(text)
    with pytest.raises(LoadError, match=r"tinyhost\.lock: .*correct the file, or delete it"):
        await load("demo")
    with pytest.raises(ConfigError):
        pin(home, "demo")
    assert file.read_text() == text


async def test_a_plugin_without_a_pin_is_not_looked_at(home: Path, add_plugin: AddPlugin) -> None:
    add_plugin("demo", PLAIN)
    add_plugin("other", PLAIN)
    pin(home, "other")
    await load("demo")


async def test_a_stop_while_the_files_are_looked_at_starts_nothing(
    home: Path, add_plugin: AddPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, looked = trio.Event(), trio.Event()

    async def look(_integrity: Integrity) -> None:
        looking.set()
        await looked.wait()

    monkeypatch.setattr(Integrity, "check", look)
    add_plugin("demo", PLAIN)
    async with tinyhost.open_manager() as manager, trio.open_nursery() as nursery:

        async def fail_to_load() -> None:
            with pytest.raises(tinyhost.ManagerClosed) as caught:
                await manager.load("demo")
            assert isinstance(caught.value.__cause__, LoadError)
            assert caught.value.__cause__.stage == "resolve"

        nursery.start_soon(fail_to_load)
        await looking.wait()
        await manager.shutdown()
        looked.set()


def test_the_file_is_plain_json_beside_the_configuration(home: Path, add_plugin: AddPlugin) -> None:
    program = add_plugin("demo", PLAIN)
    pin(home, "demo")
    file = home / "config" / "tinyhost.lock"
    value = json.loads(file.read_text())
    entry = value["plugins"]["demo"]
    assert value["version"] == 1
    assert (entry["path"], entry["size"]) == (str(program), program.stat().st_size)
    assert set(entry) == {"path", "sha256", "size", "pinnedAt"}
    assert unpin_plugin(home / "config" / "config.json", "demo")
    assert not unpin_plugin(home / "config" / "config.json", "demo")
    assert json.loads(file.read_text())["plugins"] == {}


def test_a_link_to_the_file_stays_a_link(home: Path, tmp_path: Path, add_plugin: AddPlugin) -> None:
    add_plugin("demo", PLAIN)
    real = tmp_path / "dotfiles.lock"
    real.write_text('{"version": 1, "plugins": {}}')
    (home / "config" / "tinyhost.lock").symlink_to(real)
    pin(home, "demo")
    assert "demo" in json.loads(real.read_text())["plugins"]
