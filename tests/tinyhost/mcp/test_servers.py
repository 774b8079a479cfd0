"""From words to a server, and from a server to a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinyhost.errors import ConfigError, InvalidCall, LoadError
from tinyhost.mcp.servers import expanded, find, from_words
from tinyhost.model import McpServer


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("npx -y some-server", "some-server"),
        ("npx -y @scope/server-files@1.2.3 /tmp", "server-files"),
        ("uvx mcp-server-time==1.0", "mcp-server-time"),
        ("uvx --from git+x mcp-server", "git-x"),
        ("/opt/bin/My_Server --port 1", "my_server"),
        ("python -m my_mod", "my_mod"),
        ("python3 /opt/server.py", "server"),
        ("node dist/index.js", "index"),
        ("pnpm dlx thing", "thing"),
        ("npx", "npx"),
        ("https://docs.example:8080/mcp?x=1", "docs.example"),
    ],
)
def test_a_name_is_made_of_what_is_run(text: str, name: str) -> None:
    assert from_words(text)[0] == name
    assert from_words(text, "mine")[0] == "mine"


def test_a_command_is_split_as_a_shell_does_and_dollars_are_meant() -> None:
    _, server = from_words("prog 'a b' $HOME")
    assert expanded(server, {}).command == ["prog", "a b", "$HOME"]


@pytest.mark.parametrize("text", ["", "  ", "'open", "???"])
def test_what_is_no_command_is_refused(text: str) -> None:
    with pytest.raises(InvalidCall):
        from_words(text)


def test_variables_are_put_into_all_texts() -> None:
    server = McpServer(command=["${A}", "-x=${B:-c}"], headers={"X": "${A}"}, url="http://${A}/")
    found = expanded(server, {"A": "1"})
    assert found.command == ["1", "-x=c"]
    assert found.headers == {"X": "1"}
    assert found.url == "http://1/"
    with pytest.raises(ConfigError, match="args: the variable A is not set"):
        expanded(server, {})


def test_a_program_is_found_by_path_or_on_path(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for word in ("prog", "./prog", str(program)):
        server = McpServer(command=[word, "arg"])
        found = find("p", server, {"PATH": str(tmp_path)}, str(tmp_path))
        assert (found.path, found.dialect) == (str(program), "mcp")


def test_a_program_that_is_missing_or_others_can_change_is_refused(tmp_path: Path) -> None:
    server = McpServer(command=["prog"])
    with pytest.raises(LoadError, match="the command prog is not on PATH"):
        find("p", server, {"PATH": str(tmp_path)}, "/")
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o777)
    with pytest.raises(LoadError, match="prog "):
        find("p", server, {"PATH": str(tmp_path)}, "/")
