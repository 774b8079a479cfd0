"""Asking the person at an MCP client about a call, by elicitation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

import mcp_types as types
import trio
from mcp.shared.exceptions import MCPError

from ...asking import Headless, Question, Reply
from ...errors import TinyhostError, cut
from .text import sound

PATIENCE = 600.0  # seconds for an answer; none is a NO

# Puts a message and a form to the person behind the call that is being made.
Elicit = Callable[[str, dict[str, Any]], Awaitable[types.ElicitResult]]

# The way to the person behind the call of this task; None where there is none.
elicit_here: ContextVar[Elicit | None] = ContextVar("elicit_here", default=None)

_ANSWER = "answer"
_MEANING: Mapping[Reply, str] = {
    Reply.ONCE: "once: allow this call",
    Reply.SESSION: "session: and do not ask again for the same in this session",
    Reply.PROJECT: "project: and write the rule {rule} for this project",
    Reply.NO: "no: deny it",
}


class ElicitingAsker:
    """One client's person. Where the call has no way to them, nobody can be asked."""

    def __init__(self, headless: Headless) -> None:
        self._headless = headless

    async def ask(self, question: Question) -> Reply:
        """Their answer. Raises TinyhostError when the client gives none, which is a NO."""
        elicit = elicit_here.get()
        if elicit is None:
            return await self._headless.ask(question)
        with trio.move_on_after(PATIENCE):
            try:
                result = await elicit(message_of(question), form_of(question))
            except MCPError as error:
                raise TinyhostError(f"the client's error: {error}") from None
            return read_reply(result, question)
        return Reply.NO

    def refusal(self, question: Question) -> str:
        """What the caller is told after a NO."""
        if elicit_here.get() is None:
            return self._headless.refusal(question)
        why = "; ".join(map(str, question.reasons))
        return f"the person did not allow it (asked because {why})"


def message_of(question: Question) -> str:
    """The question in words: the tool, its arguments, where, and why it is asked."""
    lines = [
        f"{question.tool_id} is to run in {question.directory} with {cut(question.args_text)}",
        *(f"Asked because {reason}" for reason in question.reasons),
    ]
    text: str = sound("\n".join(lines))
    return text


def form_of(question: Question) -> dict[str, Any]:
    """The form for the answer: one field, with the answers that can be given."""
    rule = cut(question.project_rule or "", 200)
    meanings = [_MEANING[reply].format(rule=rule) for reply in question.replies]
    field = {
        "type": "string",
        "title": "Answer",
        "description": sound("; ".join(meanings)),
        "enum": [reply.value for reply in question.replies],
    }
    return {"type": "object", "properties": {_ANSWER: field}, "required": [_ANSWER]}


def read_reply(result: types.ElicitResult, question: Question) -> Reply:
    """The reply that a filled-in form stands for; whatever else it holds is a NO."""
    answer = (result.content or {}).get(_ANSWER) if result.action == "accept" else None
    allowed = [reply for reply in question.replies if reply.value == answer]
    return allowed[0] if allowed else Reply.NO


def can_be_asked(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether a client shows forms. An empty elicitation capability means that it does."""
    offered = capabilities.elicitation if capabilities else None
    return offered is not None and (offered.form is not None or offered.url is None)
