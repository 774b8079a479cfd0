"""What MCP tools, resources and prompts put out, checked and turned into text.

Whatever the parts of a result are, there is a text that stands for all of them, so that
whoever sees only the text misses nothing but bytes. All functions raise ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import codec
from ..model import ToolResult

_MAX_LABEL = 300  # characters of a name, address or kind of content within a text


def tool_result(result: Mapping[str, Any]) -> ToolResult:
    """A tool's answer. details: "content", its parts, and "structuredContent" if it has one."""
    is_error = result.get("isError", False)
    if type(is_error) is not bool:
        raise ValueError("isError is not true or false")
    parts = read_parts(result.get("content"), "content")
    details: dict[str, Any] = {"content": parts}
    text = all_text(parts)
    structured = result.get("structuredContent")
    if structured is not None:
        details["structuredContent"] = structured
        text = text if parts else codec.dumps(structured)
    return ToolResult(text, is_error, details)


def read_parts(value: Any, where: str) -> list[dict[str, Any]]:
    """A list of content, each checked by read_part. None is an empty one."""
    if value is None:
        return []
    if type(value) is not list:
        raise ValueError(f"{where} is not an array")
    return [read_part(part, f"{where}[{index}]") for index, part in enumerate(value)]


def read_part(value: Any, where: str) -> dict[str, Any]:
    """One piece of content: an object whose members are what its `type` says.

    text: text. image and audio: data (base64), mimeType. resource: resource, an object of
    uri, text or blob, and perhaps mimeType. resource_link: uri, name. Of other types nothing
    is known but the type. Other members are kept as they are.
    """
    part = _object(value, where)
    kind = _string(part, "type", where)
    if kind == "text":
        _string(part, "text", where)
    elif kind in ("image", "audio"):
        _string(part, "data", where)
        _string(part, "mimeType", where)
    elif kind == "resource":
        read_contents(part.get("resource"), f"{where}.resource")
    elif kind == "resource_link":
        _string(part, "uri", where)
        _string(part, "name", where)
    return part


def read_contents(value: Any, where: str) -> dict[str, Any]:
    """What is in a resource: uri, text or blob (base64), and perhaps mimeType."""
    contents = _object(value, where)
    _string(contents, "uri", where)
    if contents.get("mimeType") is not None:
        _string(contents, "mimeType", where)
    _string(contents, "text" if "text" in contents else "blob", where)
    return contents


def part_text(part: Mapping[str, Any]) -> str:
    """The text that stands for a checked piece of content."""
    kind = part["type"]
    if kind == "text":
        return str(part["text"])
    if kind in ("image", "audio"):
        return f"[{kind}: {_label(part['mimeType'])}, {_size(part['data'])}]"
    if kind == "resource":
        return contents_text(part["resource"])
    if kind == "resource_link":
        return f"[resource {_label(part['name'])}: {_label(part['uri'])}]"
    return f"[content of the unknown type {_label(kind)}]"


def contents_text(contents: Mapping[str, Any]) -> str:
    """The text that stands for what is in a resource."""
    uri = _label(contents["uri"])
    if "text" in contents:
        return f"[resource {uri}]\n{contents['text']}"
    kind = _label(contents.get("mimeType") or "bytes")
    return f"[resource {uri}: {kind}, {_size(contents['blob'])}]"


def all_text(parts: Sequence[Mapping[str, Any]]) -> str:
    """The text that stands for several pieces of content."""
    return "\n".join(map(part_text, parts))


def _label(text: str) -> str:
    """A server's word within our brackets, on one line."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= _MAX_LABEL else shown[:_MAX_LABEL] + "..."


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4 - base64[-2:].count('=')} bytes"


def _object(value: Any, where: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError(f"{where} is not an object")
    return value


def _string(of: Mapping[str, Any], key: str, where: str) -> str:
    value = of.get(key)
    if type(value) is not str:
        raise ValueError(f"{where}.{key} is not a string")
    return value
