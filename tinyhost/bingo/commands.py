"""command/run and command/complete."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from .forms import write
from .messages import (
    CommandCompleteParams,
    CommandCompleteResult,
    CommandOutcome,
    CommandRunParams,
    CommandRunResult,
    OutcomeApplied,
    OutcomePrompt,
    OutcomeRecord,
    OutcomeView,
)
from .session_types import ItemAssistant, ItemBody, ItemNotice, ItemShell, ItemUser
from .talk import Talk
from .tools import text_of
from .types import CommandSpec, Completion
from .views import fold

RUN, COMPLETE = "command/run", "command/complete"


@attrs.frozen
class Command:
    """A command that a person types. It dies with its process: get it anew for each use."""

    spec: CommandSpec
    _talk: Talk

    async def run(self, args: str, *, directory: str, session: str = "") -> CommandOutcome:
        """Run it; args is what was typed behind its name, as it is.

        It has the deadline of a tool call. Raises PluginError and InvalidCall.
        """
        talk = self._talk
        params = CommandRunParams(
            name=self.spec.name, args=args, cwd=talk.directory(directory), session=session
        )
        timeout = talk.link.timeouts.tool
        return (await talk.call(RUN, params, CommandRunResult, timeout=timeout)).outcome

    async def complete(self, partial: str, *, directory: str) -> Sequence[Completion]:
        """How the arguments could go on. Raises PluginError and InvalidCall."""
        talk = self._talk
        params = CommandCompleteParams(
            name=self.spec.name, partial=partial, cwd=talk.directory(directory)
        )
        timeout = talk.deadlines.complete
        result = await talk.call(COMPLETE, params, CommandCompleteResult, timeout=timeout)
        return result.completions


def outcome_text(outcome: CommandOutcome) -> str:
    """What a command came to, for a place that shows text alone."""
    match outcome:
        case OutcomeApplied(message=message):
            return message or ""
        case OutcomeView(view=view):
            return fold(view)
        case OutcomePrompt(text=text):
            return text
        case OutcomeRecord(body=body):
            return _body_text(body)


def _body_text(body: ItemBody) -> str:
    match body:
        case ItemUser(parts=parts):
            return text_of(parts)
        case ItemAssistant(text=text) | ItemNotice(text=text):
            return text
        case ItemShell(command=command, output=output):
            return f"$ {command}\n{output}"
        case _:
            return f"[{write(body)['kind']}]"
