"""What an MCP server offers beside tools: resources and prompts, for the host to use.

They belong to one life of the plugin; ask the plugin for its capabilities each time. The
methods raise errors of the TinyhostError tree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from .. import codec
from ..errors import ProtocolError
from .mcp_content import contents_text, part_text, read_contents, read_part
from .mcp_talk import Talk

_T = TypeVar("_T")


@attrs.frozen(kw_only=True)
class Resource:
    """Something that can be read. For a template, uri has places to be filled in (RFC 6570)."""

    uri: str
    name: str
    description: str = ""
    mime_type: str = ""


@attrs.frozen(kw_only=True)
class ResourceContents:
    """What was read. raw: as the server sent it, with `text`, or `blob` in base64.

    text: stands for it; of bytes, only their kind and number.
    """

    uri: str
    text: str
    raw: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Prompt:
    """A message that the server can write. arguments: their names, and whether they are needed."""

    name: str
    description: str = ""
    arguments: Mapping[str, bool] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PromptMessage:
    """role: "user" or "assistant". raw: the content as the server sent it; text: stands for it."""

    role: str
    text: str
    raw: Mapping[str, Any]


class Resources:
    """capabilities["resources"]"""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    async def list(self) -> Sequence[Resource]:
        """All that can be read."""
        return await _checked(self._talk, "resources/list", self._list)

    async def templates(self) -> Sequence[Resource]:
        """Patterns of what can be read."""
        return await _checked(self._talk, "resources/templates/list", self._templates)

    async def read(self, uri: str) -> Sequence[ResourceContents]:
        """Read a resource, which may have several parts."""

        async def read() -> list[ResourceContents]:
            result = await self._talk.request("resources/read", {"uri": codec.dumps(uri)})
            found = result.get("contents")
            if type(found) is not list:
                raise ValueError("contents is not an array")
            return [_contents(each, f"contents[{index}]") for index, each in enumerate(found)]

        return await _checked(self._talk, "resources/read", read)

    async def _list(self) -> Sequence[Resource]:
        entries = await self._talk.entries("resources/list", "resources")
        return [_resource(entry, "uri") for entry in entries]

    async def _templates(self) -> Sequence[Resource]:
        entries = await self._talk.entries("resources/templates/list", "resourceTemplates")
        return [_resource(entry, "uriTemplate") for entry in entries]


class Prompts:
    """capabilities["prompts"]"""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    async def list(self) -> Sequence[Prompt]:
        """All that the server can write."""

        async def read() -> list[Prompt]:
            return [_prompt(entry) for entry in await self._talk.entries("prompts/list", "prompts")]

        return await _checked(self._talk, "prompts/list", read)

    async def get(
        self, name: str, arguments: Mapping[str, str] | None = None
    ) -> Sequence[PromptMessage]:
        """Have the server write a prompt."""

        async def read() -> list[PromptMessage]:
            params = {"name": codec.dumps(name), "arguments": codec.dumps(dict(arguments or {}))}
            result = await self._talk.request("prompts/get", params)
            found = result.get("messages")
            if type(found) is not list:
                raise ValueError("messages is not an array")
            return [_message(each, f"messages[{index}]") for index, each in enumerate(found)]

        return await _checked(self._talk, "prompts/get", read)


async def _checked(talk: Talk, method: str, read: Callable[[], Awaitable[_T]]) -> _T:
    try:
        return await read()
    except ValueError as error:
        raise ProtocolError(talk.link.plugin, method, str(error)) from error


def _resource(entry: Any, key: str) -> Resource:
    fields = _strings(entry, (key, "name"), ("description", "mimeType"))
    return Resource(
        uri=fields[key],
        name=fields["name"],
        description=fields["description"],
        mime_type=fields["mimeType"],
    )


def _contents(value: Any, where: str) -> ResourceContents:
    raw = read_contents(value, where)
    text = raw["text"] if "text" in raw else contents_text(raw)
    return ResourceContents(uri=raw["uri"], text=text, raw=raw)


def _prompt(entry: Any) -> Prompt:
    fields = _strings(entry, ("name",), ("description",))
    arguments = entry.get("arguments") or []
    if type(arguments) is not list:
        raise ValueError("arguments is not an array")
    needed = {
        _strings(each, ("name",), ())["name"]: each.get("required") is True for each in arguments
    }
    return Prompt(name=fields["name"], description=fields["description"], arguments=needed)


def _message(value: Any, where: str) -> PromptMessage:
    role = _strings(value, ("role",), ())["role"]
    raw = read_part(value.get("content"), f"{where}.content")
    return PromptMessage(role=role, text=part_text(raw), raw=raw)


def _strings(entry: Any, needed: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    if type(entry) is not dict:
        raise ValueError("an entry is not an object")
    found = {}
    for key in (*needed, *others):
        value = entry.get(key)
        if value is None and key in others:
            value = ""
        if type(value) is not str:
            raise ValueError(f"{key} is not a string")
        found[key] = value
    return found
