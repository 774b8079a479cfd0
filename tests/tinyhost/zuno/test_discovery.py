"""Which packages are found, which of them count, and where a name leads."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost import LoadError, PluginNotFound
from tinyhost.extension_folders import PROJECT, USER, USER_ZUNO, extension_folders
from tinyhost.model import ProjectPlugins
from tinyhost.resolve import Resolver
from tinyhost.zuno.discovery import Found, discover

MakePackage = Callable[..., Path]


def declarative(**more: Any) -> dict[str, Any]:
    return {"runtime": None, "tools": None, **more}


@pytest.fixture
def config(home: Path) -> Path:
    return home / "config"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def look(config: Path, project: Path) -> Callable[..., dict[str, Found]]:
    """look(...): what is found, by folder name; a second one of a name has a "+" after it."""

    def discovered(trusted: bool = False, compat: tuple[str, ...] = ()) -> dict[str, Found]:
        folders = extension_folders(config, compat=compat, project=project if trusted else None)
        found: dict[str, Found] = {}
        for package in discover(folders):
            found[package.name + "+" * (package.name in found)] = package
        return found

    return discovered


Look = Callable[..., dict[str, Found]]


def test_packages_are_found_in_the_order_of_the_folders_and_by_name(
    make_package: MakePackage, config: Path, project: Path, home: Path, look: Look
) -> None:
    make_package(project / ".tinyhost" / "extensions" / "a", tools={"ta": {"description": "x"}})
    make_package(project / ".zuno" / "extensions" / "b", tools={"tb": {"description": "x"}})
    make_package(home / ".config" / "zuno" / "extensions" / "c", tools={"tc": {"description": "x"}})
    make_package(config / "extensions" / "z", tools={"tz": {"description": "x"}})
    make_package(config / "extensions" / "d", tools={"td": {"description": "x"}})
    assert list(look()) == ["d", "z"]
    assert list(look(compat=("zuno",))) == ["d", "z", "c"]
    assert list(look(trusted=True)) == ["d", "z", "a"]
    everything = look(trusted=True, compat=("zuno",))
    assert list(everything) == ["d", "z", "c", "a", "b"]
    assert all(found.usable for found in everything.values())
    assert [everything[name].source for name in "dca"] == [USER, USER_ZUNO, PROJECT]


def test_without_folders_nothing_is_found(look: Look) -> None:
    assert look(trusted=True, compat=("zuno",)) == {}


def test_one_that_is_broken_fails_alone(
    make_package: MakePackage, config: Path, look: Look
) -> None:
    folder = config / "extensions"
    make_package(folder / "good")
    make_package(folder / "bad", description="")
    make_package(folder / "misnamed", id="other")
    (folder / "nothing").mkdir()
    (folder / "file").write_text("")
    (folder / "json").mkdir()
    (folder / "json" / "extension.json").write_text("{")
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / "extension.json")
    found = look()
    assert [name for name in found if found[name].usable] == ["good"]
    assert "nothing" not in found
    assert "file" not in found
    assert "description: must not be blank" in found["bad"].why_not
    assert "'other', but the folder is called 'misnamed'" in found["misnamed"].why_not
    assert "not JSON" in found["json"].why_not
    assert "neither a file nor a folder" in found["pipe"].why_not


def test_links_and_special_files_are_refused_wherever_they_are(
    make_package: MakePackage, config: Path, tmp_path: Path, look: Look
) -> None:
    folder = config / "extensions"
    (make_package(folder / "inner") / "lib").mkdir()
    (folder / "inner" / "lib" / "link").symlink_to("/etc/passwd")
    (make_package(folder / "manifest") / "extension.json").rename(tmp_path / "m.json")
    (folder / "manifest" / "extension.json").symlink_to(tmp_path / "m.json")
    make_package(tmp_path / "elsewhere" / "whole")
    (folder / "whole").symlink_to(tmp_path / "elsewhere" / "whole")
    make_package(folder / "socket")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()  # noqa: PTH109 (a socket's path must be short)
        os.chdir(folder / "socket")
        server.bind("s")
        os.chdir(here)
        found = look()
    assert not any(package.usable for package in found.values())
    assert "lib/link is a link" in found["inner"].why_not
    assert "extension.json is a link" in found["manifest"].why_not
    assert "not a folder of its own" in found["whole"].why_not
    assert "socket/s is neither" in found["socket"].why_not


def test_names_with_a_dot_in_front_are_passed_over(
    make_package: MakePackage, config: Path, look: Look
) -> None:
    folder = config / "extensions"
    for name in (".p.installing.1.2", ".p.backup.1.2", ".tinyhost-new.p", ".hidden"):
        make_package(folder / name)
    make_package(folder / "p")
    assert list(look()) == ["p"]


def test_what_others_may_write_is_refused(
    make_package: MakePackage, config: Path, look: Look
) -> None:
    package = make_package(config / "extensions" / "p")
    package.chmod(0o777)
    assert "can be written by everybody" in look()["p"].why_not
    package.chmod(0o755)
    (package / "extension.json").chmod(0o666)
    assert "can be written by everybody" in look()["p"].why_not


def test_too_many_files_and_too_deep_folders_are_refused(
    make_package: MakePackage, config: Path, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tinyhost.zuno import tree

    deep = make_package(config / "extensions" / "deep")
    deep.joinpath(*["x"] * 34).mkdir(parents=True)
    assert "deeper than 32" in look()["deep"].why_not
    monkeypatch.setattr(tree, "MAX_ENTRIES", 20)
    assert "more than 20 files" in look()["deep"].why_not
    monkeypatch.setattr(tree, "MAX_BYTES", 10)
    make_package(config / "extensions" / "large")
    assert "more than 10 bytes" in look()["large"].why_not


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("agent", {"agents": {"x": {}}}),
        ("workflow", {"workflows": {"x": {"prompt": "x"}}}),
        ("skill", {"skills": [{"name": "x", "description": "x", "content": "x"}]}),
    ],
)
def test_two_packages_with_one_name_fail_both_and_no_other(
    make_package: MakePackage, config: Path, look: Look, kind: str, more: dict[str, Any]
) -> None:
    folder = config / "extensions"
    for name in ("a", "b"):
        make_package(folder / name, **declarative(**more))
    make_package(folder / "c")
    found = look()
    assert [name for name in found if found[name].usable] == ["c"]
    assert f"the {kind} 'x' is also in package b ({folder}/b)" in found["a"].why_not
    assert f"the {kind} 'x' is also in package a ({folder}/a)" in found["b"].why_not


def test_two_packages_with_one_tool_fail_both(
    make_package: MakePackage, config: Path, look: Look
) -> None:
    for name in ("a", "b"):
        make_package(config / "extensions" / name)
    assert [package.usable for package in look().values()] == [False, False]


def test_a_project_takes_nothing_from_what_the_person_has(
    make_package: MakePackage, config: Path, project: Path, look: Look
) -> None:
    own = make_package(config / "extensions" / "p")
    make_package(project / ".tinyhost" / "extensions" / "p")
    make_package(project / ".tinyhost" / "extensions" / "q")
    found = look(trusted=True)
    assert found["p"].usable
    assert found["p"].folder == str(own)
    assert found["p+"].why_not == f"is not used, as {own} comes before it"
    assert "the tool 't' is also in package p" in found["q"].why_not


def test_a_broken_package_of_the_persons_is_not_replaced_by_a_projects(
    make_package: MakePackage, config: Path, project: Path, look: Look
) -> None:
    make_package(config / "extensions" / "p", description="")
    make_package(project / ".tinyhost" / "extensions" / "p")
    assert not any(package.usable for package in look(trusted=True).values())


# --- where a name leads


def resolver(config: Path, **more: Any) -> Resolver:
    return Resolver(config, "", scripts="", **more)


def test_a_name_leads_to_a_package_after_the_plugin_folder_and_before_path(
    make_package: MakePackage, config: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    for program in (config / "plugins" / "p", tmp_path / "bin" / "tinyhost-plugin-p"):
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    folder = make_package(config / "extensions" / "p")
    finder = Resolver(config, str(tmp_path / "bin"), scripts="")
    assert [found.dialect for found in finder.which_all("p")] == ["native", "zuno", "native"]
    assert finder.resolve("p").dialect == "native"
    (config / "plugins" / "p").unlink()
    found = finder.resolve("p")
    assert (found.path, found.folder, found.source) == (str(folder), str(folder), USER)
    assert found.dialect == "zuno"


def test_a_broken_package_is_an_error_and_not_passed_over(
    make_package: MakePackage, config: Path
) -> None:
    make_package(config / "extensions" / "p", description="", id="x")
    with pytest.raises(LoadError, match=r"id: is|description: must not be blank") as caught:
        resolver(config).resolve("p")
    assert caught.value.stage == "resolve"


def test_a_projects_package_counts_only_if_its_configuration_names_it(
    make_package: MakePackage, config: Path, project: Path
) -> None:
    make_package(project / ".tinyhost" / "extensions" / "p")
    folder = str(project / ".tinyhost" / "plugins")
    other = ProjectPlugins(root=str(project), folder=folder, names=frozenset({"q"}))
    with pytest.raises(PluginNotFound):
        resolver(config).resolve("p")
    with pytest.raises(PluginNotFound):
        resolver(config, project=other).resolve("p")
    own = ProjectPlugins(root=str(project), folder=folder, names=frozenset({"p"}))
    finder = resolver(config, project=own)
    assert finder.resolve("p").source == PROJECT
    assert str(project / ".tinyhost" / "extensions" / "p") in finder.searched("p")
