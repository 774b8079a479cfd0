from __future__ import annotations

from pathlib import Path

import pytest

from tinyhost.program_files import first_line, is_broad, needed_by


def script(path: Path, line: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def found(program: Path, home: Path, folder: str = "", **env: str) -> list[str]:
    """What is needed, without what every program needs."""
    everything = needed_by(str(program), {"HOME": str(home), **env}, folder)
    return [path for path in everything if path.startswith(str(home.parent))]


def test_the_system_is_needed_but_not_all_of_its_settings(home: Path) -> None:
    needed = needed_by("/bin/sh", {"HOME": str(home)})
    assert "/usr" in needed
    assert "/etc" not in needed
    assert "/etc/shadow" not in needed
    assert all(Path(path).exists() for path in needed)


def test_a_program_in_a_plugin_folder_is_needed_alone(home: Path) -> None:
    program = script(home / "plugins" / "mine", "#!/bin/sh")
    assert found(program, home) == [str(program)]


def test_a_plugins_own_folder_is_needed_whole(home: Path) -> None:
    program = script(home / "plugins" / "mine" / "plugin", "#!/bin/sh")
    assert found(program, home, str(program.parent)) == [str(program.parent), str(program)]


def test_a_venv_is_needed_around_its_interpreter_and_the_python_behind_it(home: Path) -> None:
    base = script(home / "versions" / "3.12" / "bin" / "python3.12", "")
    venv = home / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python3").symlink_to(base)
    (venv / "bin" / "python").symlink_to("python3")
    program = script(home / "plugins" / "mine", f"#!{venv}/bin/python")
    assert found(program, home) == [str(program), str(venv), str(home / "versions" / "3.12")]


def test_env_finds_the_interpreter_on_the_plugins_path(home: Path) -> None:
    node = script(home / "node" / "v22" / "bin" / "node", "")
    path = f"{node.parent}:/usr/bin"
    for line in (
        "#!/usr/bin/env node",
        "#!/usr/bin/env -S node --title=x",
        "#!/usr/bin/env A=1 node",
    ):
        program = script(home / "plugins" / "mine", line)
        assert found(program, home, PATH=path) == [str(program), str(home / "node" / "v22")]


def test_a_program_installed_into_an_environment_brings_it(home: Path) -> None:
    program = script(home / "venv" / "bin" / "tinyhost-plugin-mine", "#!/bin/sh")
    assert found(program, home) == [str(home / "venv")]


def test_a_folder_of_a_persons_things_is_never_needed_whole(home: Path) -> None:
    for folder in (home / ".local" / "bin", home / "bin"):
        program = script(folder / "tinyhost-plugin-mine", "#!/bin/sh")
        assert found(program, home) == [str(program)]


def test_a_link_into_a_project_brings_the_folder_behind_it(home: Path) -> None:
    real = script(home / "src" / "mine" / "main.js", "#!/usr/bin/env node")
    link = home / "plugins" / "mine"
    link.parent.mkdir()
    link.symlink_to(real)
    assert found(link, home, PATH="") == [str(link), str(real), str(real.parent)]
    real = script(home / "main.sh", "#!/bin/sh")
    link.unlink()
    link.symlink_to(real)
    assert found(link, home) == [str(link), str(real)]


def test_links_that_lead_in_a_circle_end(home: Path) -> None:
    (home / "a").symlink_to("b")
    (home / "b").symlink_to("a")
    assert found(home / "a", home) == []


def test_certificates_that_variables_name_are_needed(home: Path) -> None:
    bundle = script(home / "ca.pem", "")
    assert str(bundle) in found(Path("/bin/sh"), home, SSL_CERT_FILE=str(bundle))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("#!/bin/sh -e", ["/bin/sh", "-e"]),
        ("#! /bin/sh", ["/bin/sh"]),
        ("#!", []),
        ("echo", []),
        ("", []),
    ],
)
def test_a_first_line_is_read_in_words(tmp_path: Path, line: str, words: list[str]) -> None:
    assert first_line(str(script(tmp_path / "x", line))) == words
    assert first_line(str(tmp_path / "missing")) == []


@pytest.mark.parametrize(
    ("folder", "broad"),
    [
        ("/", True),
        ("/home", True),
        ("/home/me", True),
        ("/home/me/.local", True),
        ("/tmp", True),
        ("/home/me/venv", False),
        ("/home/mel", False),
        ("/opt/node", False),
    ],
)
def test_which_folders_are_broad(folder: str, broad: bool) -> None:
    assert is_broad(folder, "/home/me") is broad
