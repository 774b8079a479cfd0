"""The real opencode, told to use tinyhost as one of its MCP servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from npm_packages import installed

BRIDGES = Path(__file__).parents[3] / "bridges" / "package.json"


@pytest.fixture(scope="session")
def opencode() -> Path:
    """The program."""
    root = installed(BRIDGES, "bridges", "TINYHOST_BRIDGES_NODE")
    return root / "node_modules" / ".bin" / "opencode"


def test_opencode_connects_to_tinyhost(opencode: Path, home: Path) -> None:
    project = home / "project"
    project.mkdir()
    server = {
        "type": "local",
        "command": [sys.executable, "-m", "tinyhost_cli.main", "serve", "--mcp"],
        "enabled": True,
    }
    settings = {"mcp": {"tinyhost": server}, "autoupdate": False, "share": "disabled"}
    (project / "opencode.json").write_text(json.dumps(settings))
    offline = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "npm_config_offline": "true",
    }
    folders = {
        f"XDG_{kind}_HOME": str(home / kind.lower())
        for kind in ("CONFIG", "DATA", "CACHE", "STATE")
    }
    done = subprocess.run(
        [str(opencode), "mcp", "list"],
        cwd=project,
        env={**os.environ, **offline, **folders},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "tinyhost" in said
    assert "connected" in said
    assert "failed" not in said
