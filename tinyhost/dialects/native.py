"""The native wire, version 1.0, as tinycode's plugins and our SDK speak it.

The functions are pure: text and values in, text and values out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tinyhost_sdk import names, wire

from .. import codec
from ..errors import InvalidCall
from ..model import CallContext, Manifest, ToolResult, ToolSpec
from ..names import tool_id
from .base import Conduct, Dialect, Link

HOOK_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._/-]{0,127}")
_HOOK = names.HOOK_INVOKE
_MAX_TOOLS = 1024
_MAX_CONCURRENCY = 1024


class Native(Dialect):
    """See the module and docs/protocol.md."""

    name = "native"

    def __init__(self) -> None:
        self._manifest = Manifest()

    def conduct(self, max_line: int) -> Conduct:
        """The original host never looked at the jsonrpc member, so it may be missing."""
        return Conduct(rules=wire.Rules(max_line=max_line, require_jsonrpc=False))

    async def handshake(self, link: Link) -> Manifest:
        """One request, answered by the manifest."""
        params = encode_initialize(link.directory, link.options)
        result = await link.request(names.INITIALIZE, params, timeout=link.timeouts.handshake)
        self._manifest = read_manifest(link.plugin, result)
        return self._manifest

    async def invoke_hook(self, link: Link, name: str, input: Mapping[str, Any] | None) -> Any:
        """hook/invoke"""
        params = encode_hook(name, input)
        timeout = link.timeouts.hook
        return decode_hook(await link.request(_HOOK, params, timeout=timeout, hook=True))

    async def call_tool(
        self,
        link: Link,
        tool: ToolSpec,
        args: str,
        context: CallContext,
        on_progress: Callable[[str], None] | None,
    ) -> ToolResult:
        """tool/call"""
        result = await link.request(
            names.TOOL_CALL,
            encode_tool(tool.name, args, context),
            timeout=link.timeouts.tool,
            cap=link.timeouts.tool_cap,
            on_progress=on_progress,
        )
        return decode_tool(result)

    async def goodbye(self, link: Link, grace: float) -> None:
        """The dispose hook, for those that declared it."""
        if names.DISPOSE in self._manifest.hooks:
            timeout = min(link.timeouts.hook, grace)
            params = encode_hook(names.DISPOSE, None)
            await link.request(_HOOK, params, timeout=timeout, hook=True, at_once=True)

    def notified(self, link: Link, message: wire.Notification) -> None:
        """tool/progress"""
        params = message.params
        if (
            message.method == names.TOOL_PROGRESS
            and self._manifest.progress
            and type(params) is dict
        ):
            text = params.get("message")
            link.extend(params.get("id"), text if type(text) is str else "")

    def cancelled(self, link: Link, id: int, method: str) -> None:
        """tool/cancel, for those that offer it."""
        if self._manifest.cancel and method == names.TOOL_CALL:
            link.notify(names.TOOL_CANCEL, codec.dumps({"id": id}))


def encode_initialize(directory: str, options: Mapping[str, Any]) -> str:
    """Params of the first request."""
    params: dict[str, Any] = {"version": names.PROTOCOL_VERSION, "directory": directory}
    if options:
        params["options"] = options
    return codec.dumps(params)


def encode_hook(name: str, input: Mapping[str, Any] | None) -> str:
    """Params of hook/invoke; `input` is left out when there is none, as for dispose.

    Raises InvalidCall for input that is not JSON.
    """
    if input is None:
        return codec.dumps({"name": name})
    try:
        return codec.dumps({"name": name, "input": input})
    except (TypeError, ValueError) as error:
        raise InvalidCall(f"the input of hook {name} is not JSON: {error}") from error


def decode_hook(result: Any) -> Any:
    """The output member. Absent and null mean the same, no opinion. Raises ValueError."""
    if result is None:
        return None
    if type(result) is not dict:
        raise ValueError(f"the result is {_kind(result)}, not an object")
    return result.get("output")


def encode_tool(name: str, args: str, context: CallContext) -> str:
    """Params of tool/call; `args` is JSON text on one line."""
    where = codec.dumps({"sessionId": context.session_id, "directory": context.directory})
    return f'{{"name":{codec.dumps(name)},"args":{args},"context":{where}}}'


def decode_tool(result: Any) -> ToolResult:
    """A tool's answer; a missing one is empty content. Raises ValueError."""
    if result is None:
        return ToolResult("")
    if type(result) is not dict:
        raise ValueError(f"the result is {_kind(result)}, not an object")
    content = result.get("content", "")
    is_error = result.get("isError", False)
    if type(content) is not str:
        raise ValueError(f"content is {_kind(content)}, not a string")
    if type(is_error) is not bool:
        raise ValueError(f"isError is {_kind(is_error)}, not true or false")
    return ToolResult(content, is_error)


def read_manifest(plugin: str, result: Any) -> Manifest:
    """Check what a plugin said of itself. Raises ValueError with the reason.

    A manifest that is not understood fails the load: a guard without its hooks would let
    everything through.
    """
    said = _object(result, "the result")
    protocol = _object(said.get("protocol") or {}, "protocol")
    return Manifest(
        reported_id=_string(said, "id"),
        version=_string(said, "version"),
        tools=_read_tools(plugin, said.get("tools")),
        hooks=_read_hooks(said.get("hooks")),
        concurrency=_count(protocol, "concurrency", 1, _MAX_CONCURRENCY),
        cancel=_flag(protocol, "cancel"),
        progress=_flag(protocol, "progress"),
        max_line=_count(protocol, "maxLineBytes", names.MAX_LINE_TO_PLUGIN, 2**40),
    )


def _read_tools(plugin: str, value: Any) -> tuple[ToolSpec, ...]:
    tools: dict[str, ToolSpec] = {}
    for index, entry in enumerate(_array(value, "tools")):
        if index >= _MAX_TOOLS:
            raise ValueError(f"it offers more than {_MAX_TOOLS} tools")
        tool = _read_tool(plugin, _object(entry, f"tools[{index}]"), index)
        if tool.id in tools:
            raise ValueError(f"it offers two tools named {tool.name!r}")
        tools[tool.id] = tool
    return tuple(tools.values())


def _read_tool(plugin: str, entry: dict[str, Any], index: int) -> ToolSpec:
    where = f"tools[{index}]"
    name = _string(entry, "name", where)
    if not name:
        raise ValueError(f"{where} has no name")
    schema = _object(entry.get("inputSchema") or {}, f"{where}.inputSchema")
    if schema.get("type", "object") != "object":
        raise ValueError(f"{where}.inputSchema describes something other than an object")
    return ToolSpec(
        id=tool_id(plugin, name),
        name=name,
        plugin=plugin,
        description=_string(entry, "description", where),
        input_schema={"type": "object", "properties": {}, **schema},
        permission=_string(entry, "permission", where) or None,
    )


def _read_hooks(value: Any) -> tuple[str, ...]:
    hooks: dict[str, None] = {}
    for index, hook in enumerate(_array(value, "hooks")):
        if type(hook) is not str or not HOOK_NAME.fullmatch(hook):
            raise ValueError(f"hooks[{index}] is not the name of a hook: {str(hook)[:80]!r}")
        hooks[hook] = None
    return tuple(hooks)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else kinds.get(type(value), "a number")


def _object(value: Any, what: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError(f"{what} is {_kind(value)}, not an object")
    return value


def _array(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if type(value) is not list:
        raise ValueError(f"{what} is {_kind(value)}, not an array")
    return value


def _string(of: dict[str, Any], key: str, where: str = "") -> str:
    value = of.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise ValueError(f"{where + '.' if where else ''}{key} is {_kind(value)}, not a string")
    return value


def _flag(of: dict[str, Any], key: str) -> bool:
    value = of.get(key, False)
    if type(value) is not bool:
        raise ValueError(f"protocol.{key} is {_kind(value)}, not true or false")
    return value


def _count(of: dict[str, Any], key: str, default: int, most: int) -> int:
    value = of.get(key, default)
    if type(value) is not int or not 1 <= value <= most:
        raise ValueError(f"protocol.{key} is not a whole number from 1 to {most}")
    return value
