"""MCP servers at the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

WORDS = Path(__file__).parent.parent


@pytest.fixture
def server(tmp_path: Path) -> str:
    """The command of a server with one tool."""
    folders = [str(WORDS / "tinyhost" / "mcp"), str(WORDS / "peers")]
    script = tmp_path / "my-server.py"
    script.write_text(
        f"import sys\nsys.path[:0] = {folders!r}\nfrom mcpwords import *\nmodern()\n"
        "serve([tool('say', description='Says it')],"
        " call=lambda r: text(r['params']['arguments']['words']))"
    )
    return f"{sys.executable} {script}"


def test_a_server_is_loaded_by_its_command(tinyhost, server: str) -> None:
    [found] = tinyhost.json("plugin", "load", "--mcp", server)["plugins"]
    assert (found["name"], found["dialect"]) == ("my-server", "mcp")
    assert [tool["id"] for tool in found["tools"]] == ["plugin__my-server__say"]
    shown = tinyhost.ok("plugin", "load", "--mcp", server, "--name", "other")
    assert "plugin__other__say  Says it" in shown


def test_an_address_where_nobody_listens_fails_with_it(tinyhost) -> None:
    done = tinyhost("plugin", "load", "--mcp", "http://127.0.0.1:9/mcp")
    assert done.returncode == 1
    assert "cannot be reached at http://127.0.0.1:9/mcp" in done.stderr


@pytest.mark.parametrize("args", [(), ("a", "--mcp", "b"), ("a", "--name", "b")])
def test_names_and_a_server_do_not_go_together(tinyhost, args: tuple[str, ...]) -> None:
    done = tinyhost("plugin", "load", *args)
    assert done.returncode == 2


def test_configured_servers_are_listed_and_their_tools_called(tinyhost, server: str) -> None:
    command, argument = server.split()
    entry = {"command": command, "args": [argument]}
    tinyhost.configure({"mcpServers": {"one": entry, "off": {**entry, "disabled": True}}})
    rows = tinyhost.json("plugin", "list")["plugins"]
    assert [(row["name"], row["state"], row["source"], row["path"]) for row in rows] == [
        ("one", "enabled", "mcpServers", command),
        ("off", "disabled", "mcpServers", command),
    ]
    args = '{"words": "hello"}'
    assert tinyhost.ok("tool", "call", "plugin__one__say", "--args", args) == "hello"
    assert tinyhost.json("plugin", "info", "off")["state"] == "disabled"
    assert tinyhost.json("plugin", "path", "one")["used"] == command
    assert "1 tools" in tinyhost.ok("doctor")
    refused = tinyhost("plugin", "enable", "off")
    assert refused.returncode == 2
    assert "off is an MCP server" in refused.stderr
