"""Claude Code's command hooks.

In: session_id, cwd, hook_event_name, tool_name, tool_input, tool_response or error.
Out: hookSpecificOutput, and decision "block" with a reason after a tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tinyhost_cli.bridges import responses
from tinyhost_cli.bridges.base import (
    Bridge,
    Event,
    JsonObject,
    Judgement,
    Kind,
    Reviewed,
    for_user,
    joined,
    object_member,
    text_member,
    without_none,
)

KINDS: Mapping[str, Kind] = {
    "SessionStart": Kind.START,
    "SessionEnd": Kind.END,
    "PreToolUse": Kind.BEFORE,
    "PermissionRequest": Kind.PERMISSION,
    "PostToolUse": Kind.AFTER,
    "PostToolUseFailure": Kind.AFTER,
}


def tool_name(name: str, args: JsonObject) -> str:
    """Our name of a tool: lower case, MCP tools as they are.

    Whatever runs a shell command is `bash`, so that rules and guards for commands see it.
    """
    if name.startswith("mcp__"):
        return name
    if name == "Monitor" and isinstance(args.get("command"), str):
        return "bash"
    return name.lower()


class ClaudeCode(Bridge):
    """See the module."""

    client = "Claude Code"

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
        args = object_member(payload, "tool_input")
        tool = tool_name(text_member(payload, "tool_name"), args)
        event = event._replace(tool=tool, args=args)
        return self._with_output(event) if kind is Kind.AFTER else event

    def _with_output(self, event: Event) -> Event:
        payload = event.payload
        if event.name == "PostToolUseFailure":
            return event._replace(output=text_member(payload, "error", ""), is_error=True)
        response = payload.get("tool_response")
        failed = isinstance(response, Mapping) and response.get("isError") is True
        text = responses.text_of(payload["tool_name"], response)
        return event._replace(output=text, is_error=failed)

    def started(
        self, event: Event, contexts: Sequence[str], problems: Sequence[str]
    ) -> JsonObject | None:
        """The contexts go before the first prompt."""
        specific = self._specific(event, additionalContext=joined(contexts)) or {}
        return {**for_user(problems), **specific} or None

    def judged(self, event: Event, judgement: Judgement) -> JsonObject | None:
        """A decision only where there is one; changed arguments; contexts."""
        if event.kind is Kind.PERMISSION:
            return self._requested(event, judgement)
        changed = judgement.rewritten and judgement.action != "deny"
        return self._specific(
            event,
            permissionDecision=judgement.action,
            permissionDecisionReason=judgement.reason if judgement.action else None,
            updatedInput=judgement.args if changed else None,
            additionalContext=joined(judgement.contexts),
        )

    def _requested(self, event: Event, judgement: Judgement) -> JsonObject | None:
        """The client is about to ask its user: only a firm yes or no spares them that."""
        if judgement.action == "deny":
            decision: JsonObject = {"behavior": "deny", "message": judgement.reason}
        elif judgement.action == "allow":
            changed = {"updatedInput": judgement.args} if judgement.rewritten else {}
            decision = {"behavior": "allow", **changed}
        else:
            return None
        return self._specific(event, decision=decision)

    def reviewed(self, event: Event, after: Reviewed) -> JsonObject | None:
        """Replace the output where the client lets us, and say so where it does not."""
        contexts, answer = list(after.contexts), {}
        replacement: Any = None
        if after.changed and after.text != event.output:
            try:
                replacement = self._replacement(event, after.text)
            except ValueError as error:
                contexts.append(
                    f"{error}, so {self.client} shows it as it was. Plugins of tinyhost"
                    f" replaced it by this; go by this alone:\n{after.text}"
                )
        if after.is_error and not event.is_error:
            answer = {"decision": "block", "reason": "A plugin of tinyhost calls this a failure."}
        specific = self._specific(
            event, updatedToolOutput=replacement, additionalContext=joined(contexts)
        )
        return {**answer, **(specific or {})} or None

    @staticmethod
    def _replacement(event: Event, text: str) -> Any:
        if event.name == "PostToolUseFailure":
            raise ValueError("a failed tool's message cannot be replaced")
        payload = event.payload
        return responses.with_text(payload["tool_name"], payload.get("tool_response"), text)

    @staticmethod
    def _specific(event: Event, **members: Any) -> JsonObject | None:
        said = without_none(**members)
        return {"hookSpecificOutput": {"hookEventName": event.name, **said}} if said else None
