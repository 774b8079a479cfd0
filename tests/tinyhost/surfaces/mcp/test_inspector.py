"""The real Inspector, on its command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SERVE = (sys.executable, "-m", "tinyhost_cli.main", "serve", "--mcp")


@pytest.fixture
def inspect(node: str, node_tools: Path, home: Path) -> Callable[..., Any]:
    """inspect(target, option...): what a method gives, as JSON."""

    def run(target: tuple[str, ...], *options: str) -> Any:
        launcher = node_tools / "inspector" / "clients" / "launcher" / "build" / "index.js"
        command = [node, str(launcher), "--cli", *target, *options]
        done = subprocess.run(
            command, cwd=home, env=dict(os.environ), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def variables(home: Path) -> tuple[str, ...]:
    """The Inspector hands a server only the variables that it is told to."""
    named = ("TINYHOST_CONFIG_DIR", "TINYHOST_STATE_DIR")
    return tuple(word for name in named for word in ("-e", f"{name}={os.environ[name]}"))


def test_the_inspector_lists_and_calls_tools_over_stdio(
    inspect: Callable[..., Any],
    variables: tuple[str, ...],
    add_plugin: Callable[[str, str], Path],
    home: Path,
) -> None:
    add_plugin("echo", "handshake(tools=['say'])\nserve(lambda p: {'content': str(p['args'])})")
    rules = {"allow": ["plugin__echo__*"]}
    (home / "config" / "config.json").write_text(
        json.dumps({"plugins": ["echo"], "permissions": rules})
    )
    listed = inspect(SERVE, *variables, "--method", "tools/list")
    assert "plugin__echo__say" in [tool["name"] for tool in listed["tools"]]
    named = ("--method", "tools/call", "--tool-name", "plugin__echo__say")
    said = inspect(SERVE, *variables, *named, "--tool-arg", "words=hello")
    assert said["content"] == [{"type": "text", "text": "{'words': 'hello'}"}]


def test_the_inspector_lists_and_calls_tools_over_http(
    inspect: Callable[..., Any], conformance_url: str
) -> None:
    target = (conformance_url, "--transport", "http")
    listed = inspect(target, "--method", "tools/list")
    assert "test_image_content" in [tool["name"] for tool in listed["tools"]]
    shown = inspect(target, "--method", "tools/call", "--tool-name", "test_image_content")
    assert shown["content"][0]["mimeType"] == "image/png"
