"""`tinyhost plugin add`, `update`, `remove` and `doctor`, and packages in the other commands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

Cli = Any  # of conftest.py

PROGRAM = """\
import json, os, sys
if "--check" in sys.argv:
    print("ready in " + os.getcwd() + " \\x1b[1m" + os.environ.get("MY_TOKEN", ""))
    print("account: ghp_" + "a" * 36, file=sys.stderr)
    sys.exit(int(os.environ.get("STATUS", "0")))
for line in sys.stdin:
    request = json.loads(line)
    result = {"protocolVersion": "zuno.plugin/1"}
    if request["method"] == "tools/call":
        result = {"title": "T", "output": "hello", "metadata": {"a": 1}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    if request["method"] == "shutdown":
        break
"""


def package(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True)
    manifest = {
        "apiVersion": "zuno.extension/v1",
        "id": folder.name,
        "description": "A package\nof tests",
        "runtime": {
            "kind": "process",
            "command": sys.executable,
            "args": ["plugin.py"],
            "capabilities": ["host.full"],
        },
        "tools": {f"{folder.name}.say": {"description": "Says\x1b[2J hello"}},
        **changes,
    }
    kept = {key: value for key, value in manifest.items() if value is not None}
    (folder / "extension.json").write_text(json.dumps(kept))
    (folder / "plugin.py").write_text(PROGRAM)
    return folder


KIT: dict[str, Any] = {
    "runtime": None,
    "tools": None,
    "agents": {"reviewer": {"mode": "subagent", "description": "Reviews", "model": "a/b"}},
    "workflows": {"review": {"prompt": "Review $ARGUMENTS"}},
    "skills": [{"name": "safety", "description": "Safe", "content": "# Safety"}],
}


def test_a_package_is_added_used_updated_and_removed(tinyhost: Cli, tmp_path: Path) -> None:
    source = package(tmp_path / "greet")
    text = tinyhost.ok("plugin", "add", str(source))
    target = tinyhost.config / "extensions" / "greet"
    assert text.splitlines() == [
        f"added package greet in {target}",
        f"When it is loaded it runs, with all your rights: {sys.executable} plugin.py",
        "To have it loaded always: tinyhost plugin enable greet",
    ]
    assert tinyhost("plugin", "add", str(source)).returncode == 1
    [loaded] = tinyhost.json("plugin", "load", "greet")["plugins"]
    assert (loaded["dialect"], loaded["state"]) == ("zuno", "ready")
    assert loaded["tools"][0]["id"] == "plugin__greet__greet_say"
    called = tinyhost.json("tool", "call", "plugin__greet__greet_say", "--plugin", "greet")
    assert called["content"] == "hello"
    assert called["details"] == {"title": "T", "metadata": {"a": 1}}
    (source / "plugin.py").write_text(PROGRAM.replace("hello", "again"))
    changed = tinyhost.json("plugin", "update", str(source / "extension.json"))
    assert changed == {
        "name": "greet",
        "kind": "zuno",
        "path": str(target),
        "changed": "updated",
        "runs": f"{sys.executable} plugin.py",
        "problem": None,
    }
    text = tinyhost.ok("tool", "call", "plugin__greet__greet_say", "--plugin", "greet")
    assert text == "again"
    assert tinyhost.json("plugin", "remove", "greet")["changed"] == "removed"
    assert not target.exists()
    assert tinyhost("plugin", "load", "greet").returncode == 1


def test_what_is_wrong_with_a_package_is_told_line_by_line(tinyhost: Cli, tmp_path: Path) -> None:
    done = tinyhost("plugin", "add", str(package(tmp_path / "bad", description="", more=1)))
    assert done.returncode == 1
    assert "\n  description: must not be blank" in done.stderr
    assert "\n  more: is not a key" in done.stderr
    value = tinyhost.json("plugin", "add", str(tmp_path / "nothing"), code=1)
    assert value["error"]["type"] == "InstallError"


def test_programs_and_bingo_folders_are_added_too(tinyhost: Cli, tmp_path: Path) -> None:
    program = tinyhost.plugin("tinyhost-plugin-x", folder=tmp_path)
    assert "added program x" in tinyhost.ok("plugin", "add", str(program))
    assert tinyhost.json("plugin", "load", "x")["plugins"][0]["loaded"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "plugin.json").write_text('{"name": "b"}')
    assert "added bingo plugin b" in tinyhost.ok("plugin", "add", str(tmp_path / "folder"))
    assert (tinyhost.plugins / "b" / "plugin.json").exists()


def test_a_package_of_a_project_needs_its_configuration_and_trust(
    tinyhost: Cli, tmp_path: Path
) -> None:
    source = package(tmp_path / "greet")
    (tinyhost.project / ".tinyhost").mkdir()
    (tinyhost.project / ".tinyhost" / "config.json").write_text('{"plugins": ["greet"]}')
    text = tinyhost.ok("plugin", "add", "--project", str(source))
    assert f"tinyhost trust {os.path.realpath(tinyhost.project)}" in text
    assert (tinyhost.project / ".tinyhost" / "extensions" / "greet" / "plugin.py").exists()
    assert tinyhost("plugin", "load", "greet").returncode == 1
    tinyhost.ok("trust", "--yes", str(tinyhost.project))
    assert tinyhost.json("plugin", "load", "greet")["plugins"][0]["dialect"] == "zuno"
    other = tmp_path / "elsewhere"
    other.mkdir()
    tinyhost.ok("plugin", "add", "--project", "--directory", str(other), str(source))
    tinyhost.ok("plugin", "remove", "--project", "--directory", str(other), "greet")
    assert list((other / ".tinyhost" / "extensions").iterdir()) == []


def test_packages_are_listed_and_shown_with_what_they_hold(tinyhost: Cli, tmp_path: Path) -> None:
    tinyhost.ok("plugin", "add", str(package(tmp_path / "kit", **KIT)))
    broken = package(tinyhost.config / "extensions" / "broken", description="")
    rows = {row["name"]: row for row in tinyhost.json("plugin", "list")["plugins"]}
    assert rows["kit"]["state"] == "installed"
    assert rows["kit"]["source"] == "extension folder"
    assert rows["broken"]["state"] == "unusable"
    assert "description: must not be blank" in rows["broken"]["problem"]
    lines = tinyhost.ok("plugin", "info", "kit").splitlines()
    assert "kind\tdeclarative" in lines
    assert "agents\treviewer  Reviews (subagent)" in lines
    assert "commands\treview  Review $ARGUMENTS" in lines
    assert "skills\tsafety  Safe" in lines
    value = tinyhost.json("plugin", "info", "kit")["package"]
    assert value["workflows"] == [
        {"name": "review", "prompt": "Review $ARGUMENTS", "description": ""}
    ]
    assert value["skills"][0]["content"] == "# Safety"
    assert value["agents"][0]["model"] == "a/b"
    value = tinyhost.json("plugin", "info", "broken")["package"]
    assert (value["usable"], value["folder"]) == (False, str(broken))
    assert value["problems"] == [{"path": "description", "reason": "must not be blank"}]
    done = tinyhost("plugin", "load", "kit")
    assert done.returncode == 1
    assert "it has nothing to start" in done.stderr


def test_the_check_of_a_plugin_is_run_where_it_would_run(tinyhost: Cli, tmp_path: Path) -> None:
    tinyhost.ok("plugin", "add", str(package(tmp_path / "greet")))
    tinyhost.configure({"settings": {"greet": {"passEnv": ["MY_TOKEN"]}}})
    env = {"MY_TOKEN": "correct-horse"}
    value = tinyhost.json("plugin", "doctor", "greet", env=env)
    folder = os.path.realpath(tinyhost.config / "extensions" / "greet")
    assert value == {
        "name": "greet",
        "ok": True,
        "exitStatus": 0,
        "timedOut": False,
        "stdout": f"ready in {folder} \x1b[1m[redacted]\n",
        "stderr": "account: [redacted]\n",
    }
    done = tinyhost("plugin", "doctor", "greet", env={"STATUS": "3"})
    assert done.returncode == 1
    assert "ready in" in done.stdout
    assert "tinyhost: greet exited with status 3" in done.stderr


@pytest.mark.parametrize(
    ("body", "seconds", "says", "code"),
    [
        ("exit 0", "60", "mute said nothing; it may know no --check", 0),
        ("sleep 60", "0.3", "mute did not end within 0.3 s; it may know no --check", 1),
        ("echo no host >&2; exit 4", "60", "mute exited with status 4; it may know no --check", 1),
        ("echo no account; exit 4", "60", "mute exited with status 4\n", 1),
    ],
)
def test_a_plugin_without_a_check_is_told(
    tinyhost: Cli, body: str, seconds: str, says: str, code: int
) -> None:
    program = tinyhost.plugins / "mute"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    done = tinyhost("plugin", "doctor", "mute", "--timeout", seconds)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
