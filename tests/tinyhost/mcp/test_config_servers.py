"""mcpServers in the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost import config_schema
from tinyhost.config import Config, parse_config
from tinyhost.config_servers import plugin_name
from tinyhost.errors import InvalidCall
from tinyhost.model import McpServer
from tinyhost.names import name_problem

VALIDATOR = jsonschema.Draft202012Validator(config_schema.build())


def load(servers: Any, **more: Any) -> Config:
    return parse_config(json.dumps({"mcpServers": servers, **more}), "/home/me/config.json")


def problem_of(servers: Any, **more: Any) -> tuple[str, str, str]:
    [problem] = load(servers, **more).problems
    return problem.severity, problem.key, problem.message


def test_a_server_that_is_started_has_a_command_and_how_it_is_run() -> None:
    entry = {
        "command": "npx",
        "args": ["-y", "some-server"],
        "env": {"KEY": "${KEY}"},
        "cwd": "work",
        "timeout": 90000,
    }
    config = load({"some": entry})
    [spec] = config.specs
    assert config.problems == ()
    assert spec.name == "some"
    assert spec.server == McpServer(command=("npx", "-y", "some-server"))
    assert spec.settings.env == {"KEY": "${KEY}"}
    assert spec.settings.directory == "/home/me/work"
    assert (spec.settings.timeouts.handshake, spec.settings.timeouts.tool) == (30, 90)


@pytest.mark.parametrize("kind", [None, "http", "streamable-http", "streamableHttp"])
def test_a_server_behind_http_has_an_address_and_headers(kind: str | None) -> None:
    entry = {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    [spec] = load({"a": {**entry, **({"type": kind} if kind else {})}}).specs
    assert spec.server is not None
    assert spec.server.url == "https://a.example/mcp"
    assert spec.server.headers == {"Authorization": "Bearer ${TOKEN}"}


def test_servers_come_after_plugins_and_disabled_ones_only_by_name() -> None:
    servers = {
        "b": {"command": "b"},
        "a": {"command": "a"},
        "c": {"command": "c", "disabled": True},
    }
    config = load(servers, plugins=["z"], disabledPlugins=["b"])
    assert [spec.name for spec in config.specs] == ["z", "a"]
    assert config.spec_for("c").server == McpServer(command=("c",))
    assert config.spec_for("b").server == McpServer(command=("b",))
    assert config.spec_for("z").server is None


def test_settings_of_the_name_count_more_and_those_of_all_less() -> None:
    servers = {"a": {"command": "a", "env": {"X": "1", "Y": "1"}, "timeout": "50s"}}
    own = {"env": {"X": "2"}, "timeouts": {"handshake": "3s"}, "sandbox": True}
    [spec] = load(
        servers, settings={"a": own, "*": {"timeouts": {"tool": "5s", "hook": "1s"}}}
    ).specs
    assert spec.settings.env == {"X": "2", "Y": "1"}
    assert spec.settings.timeouts.handshake == 3
    assert spec.settings.timeouts.tool == 50
    assert spec.settings.timeouts.hook == 1
    assert spec.settings.sandbox is not None


def test_a_handshake_of_all_plugins_is_kept() -> None:
    general = {"*": {"timeouts": {"handshake": "4s"}}}
    [spec] = load({"a": {"command": "a"}}, settings=general).specs
    assert spec.settings.timeouts.handshake == 4


def test_a_name_that_is_not_plain_is_mapped_with_a_warning() -> None:
    config = load({"My Server (2)": {"command": "x"}, "GitHub": {"command": "y"}})
    assert [spec.name for spec in config.specs] == ["my-server-2", "github"]
    assert [problem.severity for problem in config.problems] == ["warning", "warning"]
    assert "is called github here" in config.problems[1].message


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        ({"a b": {"command": "x"}, "a-b": {"command": "y"}}, "would be called a-b here"),
        ({"???": {"command": "x"}}, "is not allowed"),
        ({"notify": {"command": "x"}}, "taken by what is built in"),
        ({"a": {}}, "needs either a command or a url"),
        ({"a": {"command": "x", "url": "http://y"}}, "needs either a command or a url"),
        ({"a": {"type": "sse", "url": "http://y"}}, "the transport sse"),
        ({"a": {"type": "http", "command": "x"}}, "the type http needs a url"),
        ({"a": {"type": "stdio", "url": "http://y"}}, "the type stdio needs a command"),
        ({"a": {"type": "pipe", "command": "x"}}, "must be one of"),
        ({"a": {"command": ""}}, "must be a string that is not empty"),
        ({"a": {"command": "x", "args": "y"}}, "must be an array"),
        ({"a": {"command": "x", "args": [1]}}, "must be a string"),
        ({"a": {"command": "x", "env": {"A": 1}}}, "must be a string"),
        ({"a": {"command": "x", "timeout": 30}}, "counts milliseconds"),
        ({"a": {"command": "x", "timeout": "soon"}}, "a duration is written"),
        ({"a": {"command": "x", "disabled": "no"}}, "must be true or false"),
        ({"a": {"url": "ftp://y"}}, "begins with https://"),
        ({"a": {"url": "https://me:pw@y"}}, "must hold no user or password"),
        ({"a": {"url": "https://y", "headers": {"A B": "x"}}}, "not the name of a header"),
        ({"a": {"url": "https://y", "headers": {"Host": "x"}}}, "the transport sets itself"),
        ({"a": {"url": "https://y", "headers": {"Mcp-Name": "x"}}}, "the transport sets itself"),
        ({"a": {"url": "https://y", "headers": {"A": "x\r\nB: y"}}}, "on one line"),
        ({"a": []}, "must be an object"),
        ([], "must be an object such as"),
    ],
)
def test_a_bad_entry_disables_itself_only(servers: Any, message: str) -> None:
    severity, key, text = problem_of(servers)
    assert severity == "error"
    assert key.startswith("mcpServers")
    assert message in text
    both = {**servers, "good": {"command": "good"}} if isinstance(servers, dict) else servers
    names = [spec.name for spec in load(both).specs]
    assert names == (["a-b", "good"] if "a b" in servers else ["good"] if servers else [])


def test_a_name_that_a_plugin_has_is_an_error() -> None:
    config = load({"a": {"command": "x"}}, plugins=["a"])
    assert [spec.server for spec in config.specs] == [None]
    assert "a plugin of the name a is listed" in config.problems[0].message


def test_an_unknown_key_is_warned_of() -> None:
    severity, key, text = problem_of({"a": {"command": "x", "autoApprove": ["all"]}})
    assert (severity, key) == ("warning", "mcpServers.a.autoApprove")
    assert "not used" in text


def test_a_server_that_is_not_listed_gets_no_settings_of_another() -> None:
    config = load({"a": {"command": "x", "env": {"TOKEN": "t"}}})
    spec = config.server_spec("b", McpServer(command=("y",)))
    assert spec.settings.env == {}
    assert spec.settings.timeouts.handshake == 30
    with pytest.raises(InvalidCall, match="another MCP server is called a"):
        config.server_spec("a", McpServer(command=("y",)))
    with pytest.raises(InvalidCall, match="not allowed"):
        config.server_spec("B c", McpServer(command=("y",)))


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x", "args": ["a"], "env": {"A": "b"}, "cwd": "/", "timeout": 5000},
        {"type": "http", "url": "https://x/mcp", "headers": {"A": "b"}, "disabled": True},
        {"command": "x", "timeout": "30s"},
    ],
)
def test_the_schema_takes_what_the_loader_takes(entry: dict[str, Any]) -> None:
    assert load({"a": entry}).problems == ()
    VALIDATOR.validate({"mcpServers": {"a": entry, "B c": entry}})


@pytest.mark.parametrize(
    "entry", [[], {"command": 1}, {"type": "x"}, {"timeout": 30}, {"url": "ftp://x"}, {"other": 1}]
)
def test_the_schema_refuses_what_the_loader_refuses_or_warns_of(entry: Any) -> None:
    assert load({"a": entry}).problems
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"mcpServers": {"a": entry}})


@given(st.text(max_size=80))
def test_a_name_that_is_made_is_a_good_one(key: str) -> None:
    name = plugin_name(key)
    assert name is None or name_problem(name) is None


def test_the_shipped_schema_is_the_one_that_is_made() -> None:
    file = Path(config_schema.__file__).parent / "data" / "config.schema.json"
    assert (
        json.loads(file.read_text())["$defs"]["mcpServer"]
        == config_schema.build()["$defs"]["mcpServer"]
    )
