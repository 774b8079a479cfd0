"""What a call came to, as a result of tools/call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types.version import is_version_at_least

from ...dialects.mcp_content import part_text, read_parts
from ...outcomes import Outcome
from .text import sound

DETAILS = "tinyhost/details"  # in _meta: what a plugin of another wire has beside its text

# The first revision that knows a kind of content.
_KINDS: Mapping[str, str] = {
    "text": "2024-11-05",
    "image": "2024-11-05",
    "resource": "2024-11-05",
    "audio": "2025-03-26",
    "resource_link": "2025-06-18",
}
_COMPLETE: Mapping[str, Any] = {"resultType": "complete"}  # left out where it is not known
_STRUCTURED_SINCE = "2025-06-18"
_ANY_VALUE_SINCE = "2026-07-28"


def text_part(text: str) -> dict[str, Any]:
    """A piece of text."""
    return {"type": "text", "text": text}


def error_result(text: str, denials: Sequence[str] = ()) -> dict[str, Any]:
    """A result that tells the model of a failure. denials: see call_result."""
    parts = [text_part(sound(said)) for said in (text, *denials)]
    return {"content": parts, "isError": True, **_COMPLETE}


def call_result(
    outcome: Outcome, version: str, contexts: Sequence[str] = (), denials: Sequence[str] = ()
) -> dict[str, Any]:
    """The result in the words of that revision.

    Images, structured content and the like stay as the plugin gave them. What the revision
    has no word for becomes text. contexts: what plugins had to say when the session began.
    denials: what became of questions of the plugin that were not allowed.
    """
    details = dict(outcome.details)
    parts = _parts(details.pop("content", None), version)
    if parts is None:
        parts = [text_part(outcome.content)]
    structured = details.pop("structuredContent", None)
    said = [*contexts, *outcome.contexts]
    if said:
        parts.append(text_part("\n".join(["[Hook Context]", *said])))
    parts += [text_part(denial) for denial in denials]
    result = {"content": parts, "isError": outcome.is_error, **_COMPLETE}
    if _fits(structured, version):
        result["structuredContent"] = structured
    if details:
        result["_meta"] = {DETAILS: details}
    cleaned: dict[str, Any] = sound(result)
    return cleaned


def _parts(value: Any, version: str) -> list[dict[str, Any]] | None:
    """A plugin's content in MCP's form; None when it has none, or another wire's."""
    try:
        parts = read_parts(value, "content")
    except ValueError:
        return None
    return [_told(part, version) for part in parts] or None


def _told(part: dict[str, Any], version: str) -> dict[str, Any]:
    since = _KINDS.get(part["type"])
    known = since is not None and is_version_at_least(version, since)
    return part if known else text_part(part_text(part))


def _fits(structured: Any, version: str) -> bool:
    if structured is None or not is_version_at_least(version, _STRUCTURED_SINCE):
        return False
    return isinstance(structured, dict) or is_version_at_least(version, _ANY_VALUE_SINCE)
