"""What the pages show in Python does what they say, and their settings are taken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tinyhost.config import load_config
from tinyhost.zuno.manifest import read_manifest
from tinyhost_sdk import testing

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
README, WRITING = ROOT / "README.md", ROOT / "docs" / "writing-plugins.md"


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.M | re.S)


def run_blocks(page: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Execute a page's Python from top to bottom, as a reader does who types it in."""
    names: dict[str, Any] = {"__name__": "page", **given}
    for number, text in enumerate(blocks(page, "python"), 1):
        exec(compile(text, f"{page.name}, block {number}", "exec", dont_inherit=True), names)
    return names


def test_every_page_with_python_is_run_here() -> None:
    with_python = {page.name for page in PAGES if blocks(page, "python")}
    assert with_python == {
        "README.md",
        "writing-plugins.md",
        "builtins.md",
        "journal.md",
        "http.md",
    }


# --- README.md


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """Of a person who has put README's plugin where README says, and has enabled it."""
    plugin, _ = blocks(README, "python")
    program = home / "config" / "plugins" / "no-fridays"
    program.write_text(f"#!{sys.executable}\n{plugin}")
    program.chmod(0o755)
    (home / "config" / "config.json").write_text('{"plugins": ["no-fridays"]}')
    names = ("PATH", "HOME", "TINYHOST_CONFIG_DIR", "TINYHOST_STATE_DIR")
    return {name: os.environ[name] for name in names}


def run(*command: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=env["HOME"],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def tinyhost(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return run("-m", "tinyhost_cli.main", *words, env=env)


def test_the_readme_plugin_answers_the_call_that_follows_it(environment: dict[str, str]) -> None:
    found = re.search(r"^\$ tinyhost (tool call .*) --args '(.*)'\n(.*)$", README.read_text(), re.M)
    assert found
    words, args, answer = found.groups()
    done = tinyhost(*words.split(), "--args", args, env=environment)
    assert (done.stdout.strip(), done.returncode) == (answer, 0), done.stderr


def test_the_readme_plugin_is_a_program_as_it_stands() -> None:
    assert blocks(README, "python")[0].startswith("#!/usr/bin/env python3\n")


def test_the_readme_plugin_refuses_what_it_says(environment: dict[str, str]) -> None:
    event = '{"toolName": "bash", "toolArgs": "{\\"command\\": \\"deploy\\"}"}'
    done = tinyhost(
        *("hook", "invoke", "permission.ask", "--plugin", "no-fridays", "--input", event),
        env=environment,
    )
    assert done.returncode == 1
    assert "no deployments today" in done.stdout + done.stderr


def test_the_readme_plugin_conforms(environment: dict[str, str]) -> None:
    done = tinyhost("plugin", "check", "no-fridays", env=environment)
    assert done.returncode == 0, done.stdout


def test_the_readme_program_calls_the_readme_plugin(
    environment: dict[str, str], tmp_path: Path
) -> None:
    program = tmp_path / "embedded.py"
    program.write_text(blocks(README, "python")[1])
    done = run(str(program), env=environment)
    assert (done.stdout, done.stderr, done.returncode) == ("Hello, World!\n", "", 0)


def test_the_readme_settings_are_taken(tmp_path: Path) -> None:
    [text] = blocks(README, "jsonc")
    file = tmp_path / "config.json"
    file.write_text(text)
    config = load_config(file)
    assert not config.problems
    assert [spec.name for spec in config.specs] == ["safety-net", "telemetry"]


# --- the other pages


def test_the_manifest_of_the_packages_page_is_taken() -> None:
    [text] = blocks(ROOT / "docs" / "packages.md", "json")
    package = read_manifest(text.encode())
    assert [tool.name for tool in package.tools] == ["search"]


def test_the_plugin_of_the_writing_page_does_what_the_page_says() -> None:
    # Its last block drives the plugin, and asserts.
    plugin = run_blocks(WRITING, {})["plugin"]
    assert "All of this text is the description" in plugin.tools["search"].description
    with testing.drive(plugin, options={"root": "/srv"}) as driver:
        asked = {"toolName": "bash", "toolArgs": '{"command": "deploy prod"}'}
        answer = driver.invoke_hook("permission.ask", asked)
        assert answer == {"allowed": False, "reason": "not on production"}
        refused = driver.call_tool("search", {"query": "x", "order": "odd"})
        assert refused.is_error


def test_the_writing_page_checks_the_plugin_that_it_begins_with() -> None:
    [called] = re.findall(r"^\$ tinyhost plugin check \. --call '(\w+)=", WRITING.read_text(), re.M)
    template = ROOT / "cmd" / "tinyhost_cli" / "templates" / "py" / "plugin.py.tmpl"
    assert f"def {called}(" in template.read_text()


def test_the_writing_page_says_what_a_plugin_without_its_option_answers() -> None:
    plugin = run_blocks(WRITING, {})["plugin"]
    with pytest.raises(Exception, match="the option root is missing"), testing.drive(plugin):
        pass


def test_the_builtins_of_the_page_are_made(tmp_path: Path) -> None:
    page = ROOT / "docs" / "builtins.md"
    plugins = run_blocks(page, {"environ": {}, "state_dir": tmp_path})["plugins"]
    assert len(plugins) == 4


def test_the_service_of_the_http_page_is_made() -> None:
    service = run_blocks(ROOT / "docs" / "http.md", {})["service"]
    assert len(service.surfaces) == 1
    assert service.read_config().file


def test_the_program_of_the_journal_page_writes_its_records(tmp_path: Path) -> None:
    given = {
        "state_dir": tmp_path,
        "secrets": (),
        "session_id": "ses_1",
        "directory": "/project",
        "tool": "read",
        "args": "{}",
        "text": "content",
    }
    run_blocks(ROOT / "docs" / "journal.md", given)
    written = "".join(file.read_text() for file in tmp_path.rglob("*ses_1*"))
    assert '"read"' in written
