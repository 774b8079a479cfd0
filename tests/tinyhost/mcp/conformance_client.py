"""The client that the conformance scenarios are run against: conformance_client.py URL

Loads the server as a plugin and uses all of it: each tool is called, with arguments that fit
its schema, and what the server asks is answered.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import trio

import tinyhost

# Values that scenarios look for, by tool.
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {"add_numbers": {"a": 5, "b": 3}}
_VALUES = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": []}


async def accept(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"action": "accept", "content": {}}


async def sample(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
    content = {"type": "text", "text": "sampled"}
    return {"role": "assistant", "content": content, "model": "none", "stopReason": "endTurn"}


def fitting(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a tool."""
    found = {}
    for name, field in schema.get("properties", {}).items():
        kind = field.get("type", "string")
        found[name] = fitting(field) if kind == "object" else _VALUES.get(kind, "text")
    return found


def wanted_calls(plugin: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """What to call: as the scenario says, else each tool once."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if "toolCalls" in context:
        return [(call["name"], call["arguments"]) for call in context["toolCalls"]]
    schemas = {tool.name: tool.input_schema for tool in plugin.info.tools}
    given = dict(ARGUMENTS)
    if "json_schema_echo" in schemas:
        given["json_schema_echo"] = {"schema": schemas["json_schema_2020_12_tool"]}
    return [(name, given.get(name) or fitting(schema)) for name, schema in schemas.items()]


async def main(url: str) -> None:
    callbacks = tinyhost.ClientCallbacks(sampling=sample, elicitation=accept)
    async with tinyhost.open_manager(callbacks=callbacks) as manager:
        server = tinyhost.McpServer(url=url)
        plugin = await manager.load_spec(tinyhost.PluginSpec("server", server=server))
        for name, args in wanted_calls(plugin):
            try:
                result = await plugin.call_tool(name, args)
            except tinyhost.PluginError as error:
                print(f"{name}: {error}")
            else:
                print(f"{name}: {result.content}")
        await use(plugin.capabilities)


async def use(offers: Mapping[str, Any]) -> None:
    try:
        if "resources" in offers:
            for resource in await offers["resources"].list():
                await offers["resources"].read(resource.uri)
        if "prompts" in offers:
            for prompt in await offers["prompts"].list():
                await offers["prompts"].get(prompt.name, dict.fromkeys(prompt.arguments, "text"))
    except tinyhost.PluginError as error:
        print(error)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TINYHOST_STATE_DIR"] = folder
        trio.run(main, sys.argv[1])
