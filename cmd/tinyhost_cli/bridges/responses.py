"""The text inside a tool's result, and putting another text into its place.

Clients hand over results in the shape of the tool: a string, blocks of content, or an object
of its own. Plugins see and change text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tinyhost.codec import dumps, loads

# Where Claude Code's own tools keep their text.
_TEXT_AT: Mapping[str, tuple[str, ...]] = {
    "Read": ("file", "content"),
    "Grep": ("content",),
    "WebFetch": ("result",),
}


def text_of(tool: str, response: Any) -> str:
    """The text of a result; JSON where there is no better one."""
    if isinstance(response, str):
        return response
    if response is None:
        return ""
    if _is_blocks(response):
        return _text_of_blocks(response)
    if isinstance(response, Mapping):
        if isinstance(response.get("stdout"), str):
            return _streams(response)
        found = _at(response, _TEXT_AT.get(tool, ()))
        if found is not None:
            return found
        if _is_blocks(response.get("content")):
            return _text_of_blocks(response["content"])
    return dumps(response)


def with_text(tool: str, response: Any, text: str) -> Any:
    """The result with another text, in the same shape. Raises ValueError where none fits."""
    if response is None or isinstance(response, str):
        return text
    if _is_blocks(response):
        return _blocks_with(response, text)
    if isinstance(response, Mapping):
        if isinstance(response.get("stdout"), str):
            return {**response, "stdout": text, "stderr": ""}
        path = _TEXT_AT.get(tool, ())
        if _at(response, path) is not None:
            return _replaced(response, path, text)
        if _is_blocks(response.get("content")):
            return {**response, "content": _blocks_with(response["content"], text)}
    try:
        value = loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        value = None
    if type(value) is not type(response):
        raise ValueError(f"the result of {tool} has no place for a text")
    return value


def _streams(response: Mapping[str, Any]) -> str:
    out, err = response["stdout"], response.get("stderr")
    if not isinstance(err, str) or not err:
        return str(out)
    between = "\n" if out and not out.endswith("\n") else ""
    return f"{out}{between}{err}"


def _at(response: Mapping[str, Any], path: Sequence[str]) -> str | None:
    value: Any = response if path else None
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else None


def _replaced(response: Mapping[str, Any], path: Sequence[str], text: str) -> dict[str, Any]:
    first, *rest = path
    return {**response, first: _replaced(response[first], rest, text) if rest else text}


def _is_blocks(value: Any) -> bool:
    """A list of content blocks, as MCP has them."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(block, Mapping) and "type" in block for block in value)
    )


def _text_of_blocks(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(block.get("text", "")) for block in blocks if block["type"] == "text")


def _blocks_with(blocks: Sequence[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    others = [block for block in blocks if block["type"] != "text"]
    return [{"type": "text", "text": text}, *others]
