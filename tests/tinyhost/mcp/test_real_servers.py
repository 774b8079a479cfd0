"""Servers that other people wrote, over standard input and output."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import trio
from mcphelp import load

import tinyhost
from tinyhost import McpServer
from tinyhost.config import parse_config


def node(servers: Path, name: str, *args: str) -> McpServer:
    return McpServer(command=["node", str(servers / ".bin" / name), *args])


def python(name: str, *args: str) -> McpServer:
    return McpServer(command=[str(Path(sys.executable).parent / name), *args])


async def test_the_time_server_of_pypi_tells_the_time(home: Path) -> None:
    async with tinyhost.open_manager(directory=home) as manager:
        plugin = await load(manager, python("mcp-server-time"), "time")
        assert plugin.info.dialect == "mcp"
        [convert, now] = sorted(plugin.info.tools, key=lambda tool: tool.id)
        assert (convert.id, now.id) == (
            "plugin__time__convert_time",
            "plugin__time__get_current_time",
        )
        assert now.hints["readOnlyHint"] is True
        result = await plugin.call_tool("get_current_time", {"timezone": "Asia/Tokyo"})
        assert json.loads(result.content)["timezone"] == "Asia/Tokyo"
        assert result.details["structuredContent"]["timezone"] == "Asia/Tokyo"
        wrong = await plugin.call_tool("get_current_time", {"timezone": "Nowhere/None"})
        assert wrong.is_error


async def test_the_git_server_of_pypi_reads_a_repository(home: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    await trio.run_process(["git", "init", "-q", str(repository)])
    (repository / "new.txt").write_text("new")
    async with tinyhost.open_manager(directory=repository) as manager:
        plugin = await load(manager, python("mcp-server-git"), "git")
        result = await plugin.call_tool("git_status", {"repo_path": str(repository)})
        assert "new.txt" in result.content
        assert not result.is_error


async def test_the_filesystem_server_of_npm_takes_the_project_as_its_root(
    home: Path, tmp_path: Path, node_servers: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("in the project")
    async with tinyhost.open_manager(directory=project) as manager:
        plugin = await load(manager, node(node_servers, "mcp-server-filesystem"), "files")
        with trio.fail_after(10):
            # It asks for the roots after the handshake.
            while True:
                allowed = await plugin.call_tool("list_allowed_directories")
                if str(project) in allowed.content:
                    break
                await trio.sleep(0.02)
        result = await plugin.call_tool("read_text_file", {"path": str(project / "a.txt")})
        assert result.content == "in the project"
        outside = await plugin.call_tool("read_text_file", {"path": "/etc/hostname"})
        assert outside.is_error


async def test_the_memory_server_of_npm_remembers(
    home: Path, tmp_path: Path, node_servers: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    config = parse_config(
        json.dumps({"settings": {"memory": {"env": {"MEMORY_FILE_PATH": str(file)}}}}),
        str(home / "config.json"),
    )
    entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    async with tinyhost.open_manager(config, directory=home) as manager:
        plugin = await load(manager, node(node_servers, "mcp-server-memory"), "memory", config)
        await plugin.call_tool("create_entities", {"entities": [entity]})
        assert "counts" in (await plugin.call_tool("read_graph")).content
    assert "Ada" in file.read_text()


async def test_the_everything_server_of_npm_shows_all_kinds_of_content(
    home: Path, node_servers: Path
) -> None:
    server = node(node_servers, "mcp-server-everything")
    async with tinyhost.open_manager(directory=home) as manager:
        plugin = await load(manager, server, "all")
        image = await plugin.call_tool("get-tiny-image")
        assert "[image: image/png, " in image.content
        assert any(part["type"] == "image" for part in image.details["content"])
        links = await plugin.call_tool("get-resource-links", {"count": 2})
        assert links.content.count("[resource ") == 2
        weather = await plugin.call_tool("get-structured-content", {"location": "Chicago"})
        assert json.loads(weather.content) == weather.details["structuredContent"]
        inside = await plugin.call_tool(
            "get-resource-reference", {"resourceType": "Text", "resourceId": 1}
        )
        assert "[resource demo://resource/dynamic/text/1]\n" in inside.content
        lines: list[str] = []
        args = {"duration": 0.2, "steps": 2}
        await plugin.call_tool("trigger-long-running-operation", args, on_progress=lines.append)
        assert lines == ["1 of 2", "2 of 2"]
        wrong = await plugin.call_tool("get-sum", {"a": "x"})
        assert wrong.is_error


async def test_the_everything_server_of_npm_has_resources_and_prompts(
    home: Path, node_servers: Path
) -> None:
    server = node(node_servers, "mcp-server-everything")
    async with tinyhost.open_manager(directory=home) as manager:
        offers = (await load(manager, server, "all")).capabilities
        resources = await offers["resources"].list()
        [found] = await offers["resources"].read(resources[0].uri)
        assert found.uri == resources[0].uri
        assert found.text == found.raw["text"]
        assert any("{" in each.uri for each in await offers["resources"].templates())
        [blob] = await offers["resources"].read("demo://resource/dynamic/blob/1")
        assert blob.text.startswith("[resource demo://resource/dynamic/blob/1: ")
        prompts = {prompt.name: prompt for prompt in await offers["prompts"].list()}
        assert prompts["args-prompt"].arguments == {"city": True, "state": False}
        [message] = await offers["prompts"].get("args-prompt", {"city": "Paris"})
        assert message.role == "user"
        assert "Paris" in message.text
        with pytest.raises(tinyhost.RemoteError):
            await offers["prompts"].get("no-such-prompt")
        await offers["ping"]()


async def test_calls_to_a_server_go_the_guarded_way(home: Path) -> None:
    rules = {"permissions": {"deny": ["plugin__time__convert_time"], "allow": ["plugin__time__*"]}}
    (home / "config" / "config.json").write_text(
        json.dumps(
            {"mcpServers": {"time": {"command": python("mcp-server-time").command[0]}}, **rules}
        )
    )
    async with tinyhost.open_host(directory=home) as host:
        [loaded] = await host.load_all()
        assert loaded.error is None
        args = {"timezone": "UTC"}
        outcome = await host.call("plugin__time__get_current_time", args)
        assert '"UTC"' in outcome.content
        with pytest.raises(tinyhost.CallDenied):
            await host.call("plugin__time__convert_time", {})
