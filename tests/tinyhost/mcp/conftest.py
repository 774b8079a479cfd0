"""Real MCP servers, and servers written in a few words that do what real ones should not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import tinyhost

HERE = Path(__file__).parent
TESTS = HERE.parent.parent
sys.path[1:1] = [
    str(HERE),
    str(TESTS / "support"),
]  # never tests/ itself, whose folder tinyhost would hide ours

from mcphelp import AddServer, StartHttp, free_port, wait_for  # noqa: E402
from npm_packages import installed  # noqa: E402

PRELUDE = f"import sys\nsys.path[:0] = [{str(HERE)!r}, {str(TESTS / 'peers')!r}]\nfrom mcpwords import *\n"


@pytest.fixture(scope="session")
def node_servers() -> Path:
    """The folder with the programs of npm's packages."""
    return installed(HERE / "package.json", "mcp-servers", "TINYHOST_MCP_NODE") / "node_modules"


@pytest.fixture
def add_server(home: Path) -> AddServer:
    """add_server(body): a server written in Python that has the words of mcpwords.py."""

    def add(body: str) -> tinyhost.McpServer:
        script = home / "server.py"
        script.write_text(PRELUDE + textwrap.dedent(body))
        return tinyhost.McpServer(command=[sys.executable, str(script)])

    return add


@pytest.fixture
def start_http() -> Iterator[StartHttp]:
    """start_http(argv, path, env): start a program that listens at $PORT; gives its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(argv: list[str], path: str = "/mcp", **env: str) -> str:
        port = free_port()
        process = subprocess.Popen(
            argv,
            env={**os.environ, **env, "PORT": str(port)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        wait_for(port, process)
        return f"http://127.0.0.1:{port}{path}"

    yield start
    for process in started:
        process.kill()
        process.wait()
