from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tinyhost.errors import InvalidCall, LoadError, PluginNotFound, PluginNotInstalled
from tinyhost.registry import Registry
from tinyhost.resolve import Resolver, path_folders

ENTRY = 'name = "known"\ncategory = "sre"\ndescription = "Knows things"\n'


class World:
    """A configuration folder, three folders for PATH, and a registry of one plugin."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config, self.plugins = root / "config", root / "config" / "plugins"
        self.tinycode = root / "tinycode" / "plugins"
        self.bin, self.bin2, self.scripts = root / "bin", root / "bin2", root / "scripts"
        for folder in (self.plugins, self.tinycode, self.bin, self.bin2, self.scripts):
            folder.mkdir(parents=True)
        registry = root / "registry"
        registry.mkdir()
        (registry / "known.toml").write_text(ENTRY)
        self.registry = Registry(registry)

    def resolver(self, path: str | None = None, **changes: Any) -> Resolver:
        arguments: dict[str, Any] = {
            "registry": self.registry,
            "scripts": str(self.scripts),
            "environ": {"TINYCODE_CONFIG_DIR": str(self.root / "tinycode")},
        } | changes
        path = f"{self.bin}:{self.bin2}" if path is None else path
        return Resolver(self.config, path, **arguments)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def program(path: Path, mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho hello\n")
    path.chmod(mode)
    return str(path)


def test_the_places_are_tried_in_order(world: World) -> None:
    places = [
        program(world.plugins / "a"),
        program(world.bin / "tinyhost-plugin-a"),
        program(world.bin2 / "tinyhost-plugin-a"),
        program(world.scripts / "tinyhost-plugin-a"),
        program(world.tinycode / "a"),
        program(world.bin / "tinycode-plugin-a"),
        program(world.bin2 / "tinycode-plugin-a"),
    ]
    resolver = world.resolver(compat=["tinycode"])
    sources = []
    assert [found.path for found in resolver.which_all("a")] == places
    for place in places:
        found = resolver.resolve("a")
        assert found.path == place
        sources.append(found.source)
        Path(place).unlink()
    assert sources == [
        "plugin folder",
        "PATH",
        "PATH",
        "Python environment",
        "tinycode plugin folder",
        "tinycode name on PATH",
        "tinycode name on PATH",
    ]
    with pytest.raises(PluginNotFound):
        resolver.resolve("a")


@pytest.mark.parametrize("file", ["a", "tinyhost-plugin-a", "plugin"])
def test_a_plugin_may_be_a_folder_with_its_program(file: str, world: World) -> None:
    path = program(world.plugins / "a" / file)
    assert world.resolver().resolve("a").path == path


def test_the_found_program_runs(world: World) -> None:
    program(world.bin / "tinyhost-plugin-a")
    found = world.resolver().resolve("a")
    assert subprocess.run([found.path], capture_output=True).stdout == b"hello\n"


@pytest.mark.parametrize("name", ["", "../a", "a/b", "/bin/sh", "A", "..", "a\0b"])
def test_a_name_never_becomes_a_path_unchecked(name: str, world: World) -> None:
    with pytest.raises(InvalidCall):
        world.resolver().resolve(name)
    with pytest.raises(InvalidCall):
        world.resolver().which_all(name)


def test_a_link_is_kept_and_its_target_checked(world: World) -> None:
    target = program(world.root / "elsewhere" / "real")
    link = world.bin / "tinyhost-plugin-a"
    link.symlink_to(target)
    assert world.resolver().resolve("a").path == str(link)
    Path(target).chmod(0o777)
    with pytest.raises(PluginNotFound, match=f"chmod go-w {target}"):
        world.resolver().resolve("a")


def test_a_linked_plugin_folder_works(world: World) -> None:
    program(world.root / "checkout" / "plugin")
    (world.plugins / "a").symlink_to(world.root / "checkout")
    assert world.resolver().resolve("a").path == str(world.plugins / "a" / "plugin")


def make_unusable(path: Path, how: str) -> None:
    if how == "mode":
        program(path, 0o644)
    elif how == "open":
        program(path, 0o757)
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "broken link":
        path.symlink_to(path.parent / "nothing")
    elif how == "link loop":
        path.symlink_to(path)
    else:
        path.mkdir()


UNUSABLE = [
    ("mode", "is not executable; fix it with: chmod +x "),
    ("open", "can be written by everybody; fix it with: chmod go-w "),
    ("pipe", "is not a regular file"),
    ("broken link", "which does not exist"),
    ("link loop", "cannot be examined"),
    ("folder", "is a folder"),
]


@pytest.mark.parametrize(("how", "reason"), UNUSABLE)
def test_an_unusable_file_in_the_plugin_folder_is_an_error(
    how: str, reason: str, world: World
) -> None:
    make_unusable(world.plugins / "a", how)
    program(world.bin / "tinyhost-plugin-a")
    with pytest.raises(LoadError) as caught:
        world.resolver().resolve("a")
    error = caught.value
    assert (error.plugin, error.stage) == ("a", "resolve")
    assert error.reason.startswith(f"{world.plugins}/a ")
    assert reason in error.reason


@pytest.mark.parametrize(("how", "reason"), UNUSABLE)
def test_an_unusable_file_on_path_is_passed_over(how: str, reason: str, world: World) -> None:
    make_unusable(world.bin / "tinyhost-plugin-a", how)
    with pytest.raises(PluginNotFound) as caught:
        world.resolver().resolve("a")
    assert f"{world.bin}/tinyhost-plugin-a " in str(caught.value)
    assert reason in str(caught.value)
    good = program(world.bin2 / "tinyhost-plugin-a")
    assert world.resolver().resolve("a").path == good
    assert [found.usable for found in world.resolver().which_all("a")] == [False, True]


@pytest.mark.parametrize("folder", ["plugins", "a"])
def test_a_plugin_folder_that_others_can_write_is_refused(folder: str, world: World) -> None:
    program(world.plugins / "a" / "plugin")
    unsafe = world.plugins if folder == "plugins" else world.plugins / "a"
    unsafe.chmod(0o777)
    with pytest.raises(LoadError, match=f"chmod go-w {unsafe}$"):
        world.resolver().resolve("a")


def test_a_sticky_folder_is_good_enough(world: World) -> None:
    path = program(world.bin / "tinyhost-plugin-a")
    world.bin.chmod(0o1777)
    assert world.resolver().resolve("a").path == path


def test_an_unusable_file_in_tinycodes_folder_is_an_error_too(world: World) -> None:
    (world.tinycode / "a").mkdir()
    with pytest.raises(LoadError, match="is a folder without a program"):
        world.resolver(compat=["tinycode"]).resolve("a")


def test_empty_relative_missing_and_doubled_path_entries_are_skipped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.root)
    program(world.root / "tinyhost-plugin-a")
    program(world.root / "bin" / "tinyhost-plugin-b")
    (world.root / "same").symlink_to(world.bin)
    (world.root / "file").write_text("")
    path = f":bin:.:{world.bin}:{world.bin}/:{world.root}/same:/none:{world.root}/file::\0"
    assert path_folders(path) == [str(world.bin)]
    resolver = world.resolver(path)
    assert len(resolver.which_all("b")) == 1
    with pytest.raises(PluginNotFound):
        resolver.resolve("a")


def test_an_empty_path_finds_nothing(world: World) -> None:
    assert path_folders("") == []
    with pytest.raises(PluginNotFound):
        world.resolver("", scripts="").resolve("a")


def test_the_scripts_folder_is_not_listed_twice(world: World) -> None:
    program(world.scripts / "tinyhost-plugin-a")
    found = world.resolver(f"{world.scripts}").which_all("a")
    assert [candidate.source for candidate in found] == ["PATH"]


def test_a_folder_that_appears_later_is_seen(world: World) -> None:
    resolver = world.resolver(str(world.root / "later"))
    with pytest.raises(PluginNotFound):
        resolver.resolve("a")
    path = program(world.root / "later" / "tinyhost-plugin-a")
    assert resolver.resolve("a").path == path


def test_tinycode_names_count_only_when_asked_for(world: World) -> None:
    path = program(world.bin / "tinycode-plugin-a")
    with pytest.raises(PluginNotFound) as caught:
        world.resolver().resolve("a")
    assert f'{path} is used with "compat": ["tinycode"]' in caught.value.hint
    assert world.resolver(compat=("tinycode",)).resolve("a").path == path


def test_a_known_plugin_says_how_to_install_it(world: World) -> None:
    with pytest.raises(PluginNotInstalled) as caught:
        world.resolver().resolve("known")
    error = caught.value
    assert "Knows things" in error.hint
    assert "not installed" in error.hint
    assert f"{world.plugins}/known" in error.hint
    assert "tinyhost-plugin-known" in error.hint
    assert error.searched == (
        f"{world.plugins}/known",
        f"{world.plugins.parent}/extensions/known",
        "tinyhost-plugin-known on PATH",
        f"{world.scripts}/tinyhost-plugin-known",
    )


@pytest.mark.parametrize("shipped", [True, False])
def test_the_install_hint_promises_only_what_the_package_brings(
    shipped: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = world.root / "some_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
    script = "known" if shipped else "other"
    (info / "entry_points.txt").write_text(f"[console_scripts]\ntinyhost-plugin-{script} = a:b\n")
    monkeypatch.syspath_prepend(str(world.root))
    lines = 'binary = "tinyhost-plugin-known"\npackage = "some-package"\n'
    (world.root / "registry" / "known.toml").write_text(ENTRY + lines)
    resolver = world.resolver(registry=Registry(world.root / "registry"))
    with pytest.raises(PluginNotInstalled) as caught:
        resolver.resolve("known")
    assert ("install some-package again" in caught.value.hint) == shipped
    assert ("no installed some-package brings it" in caught.value.hint) == (not shipped)


def test_an_unknown_plugin_close_to_a_known_one_gets_a_suggestion(world: World) -> None:
    program(world.plugins / "my-guard")
    for wrong, right in (("knwon", "known"), ("my-gaurd", "my-guard")):
        with pytest.raises(PluginNotFound, match=f"Did you mean {right}"):
            world.resolver().resolve(wrong)


def test_an_unknown_plugin_lists_what_was_searched(world: World) -> None:
    with pytest.raises(PluginNotFound) as caught:
        world.resolver(compat=["tinycode"]).resolve("zzz")
    error = caught.value
    assert not isinstance(error, PluginNotInstalled)
    assert error.searched[-2:] == (f"{world.tinycode}/zzz", "tinycode-plugin-zzz on PATH")
    assert "plugin not found: zzz" in str(error)


def test_a_missing_plugin_folder_is_no_error(tmp_path: Path) -> None:
    resolver = Resolver(tmp_path / "none", "", scripts="")
    with pytest.raises(PluginNotFound):
        resolver.resolve("zzz")


def test_a_relative_configuration_folder_gives_absolute_paths(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(world.plugins / "a")
    monkeypatch.chdir(world.root)
    assert Resolver("config", "", scripts="").resolve("a").path == path
