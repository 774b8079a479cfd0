"""Codex's command hooks: Claude Code's format, with less that may be answered.

Codex takes an answer with a member that it does not support as no answer at all, and runs
the call. So everything that it cannot do becomes a denial, the one answer that every version
understands.
"""

from __future__ import annotations

from tinyhost.codec import dumps
from tinyhost_cli.bridges.base import Event, JsonObject, Judgement, Kind, Reviewed, joined
from tinyhost_cli.bridges.claude_code import ClaudeCode

_EMPTY = "(The tool put out nothing.)"  # a reason must not be empty


class Codex(ClaudeCode):
    """See the module."""

    client = "Codex"

    def judged(self, event: Event, judgement: Judgement) -> JsonObject | None:
        """A denial, or contexts; never an approval before a tool."""
        if event.kind is Kind.PERMISSION:
            if judgement.rewritten and judgement.action != "deny":
                return None  # what its user is asked about is not what would be approved
            return self._requested(event, judgement)
        reason = self._denial(judgement)
        if reason is None:
            return self._specific(event, additionalContext=joined(judgement.contexts))
        return self._specific(event, permissionDecision="deny", permissionDecisionReason=reason)

    def _denial(self, judgement: Judgement) -> str | None:
        if judgement.action == "deny":
            return judgement.reason or "denied by tinyhost"
        if judgement.action == "ask":
            return self.cannot_ask(judgement)
        if judgement.rewritten:
            return (
                "Plugins of tinyhost changed the arguments of this call, which Codex does not"
                f" take from a hook. Call the tool again with these: {dumps(judgement.args)}"
            )
        return None

    def reviewed(self, event: Event, after: Reviewed) -> JsonObject | None:
        """A changed result takes the place of the tool's as the reason of a block."""
        answer = self._specific(event, additionalContext=joined(after.contexts)) or {}
        if after.changed and (after.text, after.is_error) != (event.output, event.is_error):
            answer = {"decision": "block", "reason": after.text or _EMPTY, **answer}
        return answer or None
