"""The format between contrib/opencode's plugin and us; both ends are ours.

In: event (our hook's name), sessionID, directory, and tool, args, output, isError, env.
Out: before a tool {action, reason, args, additionalContext}, after one {output,
additionalContext}, at the start {additionalContext, problems}, for shell.env {env}; null or absent
means no change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tinyhost_cli.bridges.base import (
    Bridge,
    Event,
    JsonObject,
    Judgement,
    Kind,
    Reviewed,
    below,
    object_member,
    text_member,
)

KINDS: Mapping[str, Kind] = {
    "session.start": Kind.START,
    "session.end": Kind.END,
    "tool.execute.before": Kind.BEFORE,
    "tool.execute.after": Kind.AFTER,
    "shell.env": Kind.ENV,
}


class Opencode(Bridge):
    """See the module."""

    client = "opencode"

    def read(self, payload: JsonObject) -> Event:
        """Read the JSON of one event."""
        name = text_member(payload, "event")
        if name not in KINDS:
            raise ValueError(f"there is no event {name!r}")
        event = Event(
            KINDS[name],
            name,
            session_id=text_member(payload, "sessionID", ""),
            directory=text_member(payload, "directory"),
            payload=payload,
        )
        if event.kind not in (Kind.BEFORE, Kind.AFTER):
            return event
        event = event._replace(
            tool=text_member(payload, "tool"), args=object_member(payload, "args")
        )
        if event.kind is Kind.BEFORE:
            return event._replace(directory=below(event.directory, event.args.get("workdir")))
        failed = payload.get("isError") is True
        return event._replace(output=text_member(payload, "output", ""), is_error=failed)

    def started(
        self,
        event: Event,  # noqa: ARG002
        contexts: Sequence[str],
        problems: Sequence[str],
    ) -> JsonObject | None:
        """The contexts of the session, and what its user should know."""
        given = {"additionalContext": list(contexts)} if contexts else {}
        return {**given, **({"problems": list(problems)} if problems else {})} or None

    def judged(self, event: Event, judgement: Judgement) -> JsonObject | None:  # noqa: ARG002
        """opencode can be stopped, and not be made to ask."""
        if judgement.action in ("deny", "ask"):
            denied = judgement.reason or "denied by tinyhost"
            reason = self.cannot_ask(judgement) if judgement.action == "ask" else denied
            return {"action": "deny", "reason": reason}
        changed = {"args": judgement.args} if judgement.rewritten else {}
        contexts = {"additionalContext": list(judgement.contexts)} if judgement.contexts else {}
        return {**changed, **contexts} or None

    def reviewed(self, event: Event, after: Reviewed) -> JsonObject | None:  # noqa: ARG002
        """The output, where it changed, and contexts."""
        changed = {"output": after.text} if after.changed else {}
        contexts = {"additionalContext": list(after.contexts)} if after.contexts else {}
        return {**changed, **contexts} or None

    def environment(self, changes: Mapping[str, str | None]) -> JsonObject | None:
        """The variables to set; null unsets."""
        return {"env": dict(changes)} if changes else None
