"""Shell completion: the lines of contrib/completion/README.md, in real shells where possible."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Cli = Any  # of conftest.py
README = Path(__file__).parents[2] / "contrib" / "completion" / "README.md"
LINES = re.findall(
    r"^    (.*_TINYHOST_COMPLETE=(\w+)_source tinyhost.*)$", README.read_text(), re.M
)


@pytest.fixture
def programs(tinyhost: Cli, tmp_path: Path) -> Path:
    """A folder with a program called tinyhost, first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "tinyhost"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tinyhost_cli.main "$@"\n')
    program.chmod(0o755)
    tinyhost.env["PATH"] = f"{folder}:{tinyhost.env['PATH']}"
    return folder


def bash(tinyhost: Cli, *words: str) -> list[str]:
    """What bash offers when the last word is completed, by the line of the README."""
    [line] = [line for line, shell in LINES if shell == "bash" and line.startswith("eval")]
    script = f"""
        {line}
        COMP_WORDS=(tinyhost {shlex.join(words)})
        COMP_CWORD={len(words)}
        _tinyhost_completion tinyhost
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script], env=tinyhost.env, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_by_the_line_of_the_readme(tinyhost: Cli, programs: Path) -> None:
    assert bash(tinyhost, "plu") == ["plugin"]


def test_plugins_of_the_registry_the_plugin_folder_and_path_are_completed(
    tinyhost: Cli, programs: Path
) -> None:
    tinyhost.plugin("rh-mine")
    tinyhost.plugin("Not.A.Name")
    (programs / "tinyhost-plugin-rh-other").touch()
    assert bash(tinyhost, "plugin", "enable", "rh-") == [
        "rh-api-catalog",
        "rh-dev-content",
        "rh-ecosystem-catalog",
        "rh-mine",
        "rh-other",
    ]
    assert bash(tinyhost, "plugin", "load", "Not") == []


def test_the_beginning_of_a_tool_id_is_completed(tinyhost: Cli, programs: Path) -> None:
    tinyhost.plugin("my.own")
    assert bash(tinyhost, "tool", "call", "plugin__m") == ["plugin__my_own__"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_of_the_readme_gets_a_script(tinyhost: Cli, shell: str) -> None:
    assert shell in {named for _, named in LINES}
    script = tinyhost.ok(env={"_TINYHOST_COMPLETE": f"{shell}_source"})
    assert f"_TINYHOST_COMPLETE={shell}_complete" in script


def test_an_unknown_shell_is_a_failure(tinyhost: Cli) -> None:
    assert tinyhost(env={"_TINYHOST_COMPLETE": "tcsh_source"}).returncode == 1
