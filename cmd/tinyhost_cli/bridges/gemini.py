"""Gemini CLI's command hooks: BeforeTool, AfterTool, SessionStart, SessionEnd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tinyhost_cli.bridges.base import (
    Bridge,
    Event,
    JsonObject,
    Judgement,
    Kind,
    Reviewed,
    below,
    for_user,
    joined,
    object_member,
    text_member,
)

KINDS: Mapping[str, Kind] = {
    "SessionStart": Kind.START,
    "SessionEnd": Kind.END,
    "BeforeTool": Kind.BEFORE,
    "AfterTool": Kind.AFTER,
}
TOOLS: Mapping[str, str] = {"run_shell_command": "bash"}

_EMPTY = "(The tool put out nothing.)"  # a reason must not be empty


class Gemini(Bridge):
    """See the module."""

    client = "Gemini CLI"

    def read(self, payload: JsonObject) -> Event:
        """Read the JSON of one hook event."""
        name = text_member(payload, "hook_event_name")
        kind = KINDS.get(name, Kind.NONE)
        if kind is Kind.NONE:
            return Event(kind, name)
        event = Event(
            kind,
            name,
            session_id=text_member(payload, "session_id"),
            directory=text_member(payload, "cwd"),
            payload=payload,
        )
        if kind in (Kind.START, Kind.END):
            return event
        tool = text_member(payload, "tool_name")
        event = event._replace(
            tool=TOOLS.get(tool, tool), args=object_member(payload, "tool_input")
        )
        if kind is Kind.BEFORE:
            return event._replace(directory=below(event.directory, event.args.get("dir_path")))
        response = object_member(payload, "tool_response")
        return event._replace(
            output=_text(response.get("llmContent")), is_error=bool(response.get("error"))
        )

    def started(
        self, event: Event, contexts: Sequence[str], problems: Sequence[str]
    ) -> JsonObject | None:
        """The contexts go before the first prompt."""
        specific = _specific(event, additionalContext=joined(contexts)) if contexts else {}
        return {**for_user(problems), **specific} or None

    def judged(self, event: Event, judgement: Judgement) -> JsonObject | None:
        """A denial, or changed arguments; never an approval. It has no place for contexts."""
        if judgement.action == "deny":
            return {"decision": "deny", "reason": judgement.reason or "denied by tinyhost"}
        if judgement.action == "ask":
            # Versions that do not know the decision "ask" would run the call.
            return {"decision": "deny", "reason": self.cannot_ask(judgement)}
        if not judgement.rewritten:
            return None
        if judgement.args.keys() >= event.args.keys():
            return _specific(event, tool_input=judgement.args)
        reason = (
            "Plugins of tinyhost took arguments away from this call, which Gemini CLI does not"
            " let a hook do. Call the tool again without them."
        )
        return {"decision": "deny", "reason": reason}

    def reviewed(self, event: Event, after: Reviewed) -> JsonObject | None:
        """A changed result takes the place of the tool's as the reason of a denial."""
        if after.changed and (after.text, after.is_error) != (event.output, event.is_error):
            text = joined([after.text or _EMPTY, *after.contexts])
            return {"decision": "deny", "reason": text}
        return (
            _specific(event, additionalContext=joined(after.contexts)) if after.contexts else None
        )


def _specific(event: Event, **members: Any) -> JsonObject:
    return {"hookSpecificOutput": {"hookEventName": event.name, **members}}


def _text(content: Any) -> str:
    """The text of what the model would see: a string, a part, or a list of these."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content.get("text") or "")
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    return ""
