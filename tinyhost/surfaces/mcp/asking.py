"""Asking the person at an MCP client about a call, by elicitation."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import mcp_types as types
import trio
from mcp.shared.exceptions import MCPError

from ...asking import Headless, Question, Reply
from ...errors import TinyhostError, cut
from .requests import Put, form_request
from .text import sound

PATIENCE = 600.0  # seconds for an answer; none is a NO

# The way to the person behind the call of this task; None where there is none.
elicit_here: ContextVar[Put | None] = ContextVar("elicit_here", default=None)

APPROVAL = "approval"  # the key of the host's question; no question of a plugin has it
_ANSWER = "answer"
_MEANING: Mapping[Reply, str] = {
    Reply.ONCE: "once: allow this call",
    Reply.SESSION: "session: and do not ask again for the same in this session",
    Reply.PROJECT: "project: and write the rule {rule} for this project",
    Reply.NO: "no: deny it",
}

# What plugins ask of a client, by the first part of the id that rules know it by.
_WISHES: Mapping[str, str] = {
    "sampling": "wants your client's model to write something",
    "elicitation": "wants to ask you something",
    "roots": "wants to know your client's folders",
}


class ElicitingAsker:
    """One client's person. Where the call has no way to them, nobody can be asked."""

    def __init__(self, headless: Headless) -> None:
        self._headless = headless

    async def ask(self, question: Question) -> Reply:
        """Their answer. Raises TinyhostError when the client gives none, which is a NO."""
        put = elicit_here.get()
        if put is None:
            return await self._headless.ask(question)
        with trio.move_on_after(PATIENCE):
            try:
                form = form_request(message_of(question), form_of(question))
                given = (await put({APPROVAL: form}))[APPROVAL]
            except MCPError as error:
                raise TinyhostError(f"the client's error: {error}") from None
            return read_reply(given, question)
        return Reply.NO

    def refusal(self, question: Question) -> str:
        """What the caller is told after a NO."""
        if elicit_here.get() is None:
            return self._headless.refusal(question)
        why = "; ".join(map(str, question.reasons))
        return f"the person did not allow it (asked because {why})"


def message_of(question: Question) -> str:
    """The question in words: the tool, its arguments, where, and why it is asked."""
    what = f"{question.tool_id} is to run in {question.directory} with"
    kind, of_plugin, plugin = question.tool_id.partition("__")
    if of_plugin and kind in _WISHES:
        what = f"Plugin {plugin} {_WISHES[kind]} ({question.tool_id}):"
    lines = [
        f"{what} {cut(question.args_text)}",
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


def read_reply(result: object, question: Question) -> Reply:
    """The reply that a filled-in form stands for; whatever else it holds is a NO."""
    if not isinstance(result, types.ElicitResult) or result.action != "accept":
        return Reply.NO
    answer = (result.content or {}).get(_ANSWER)
    allowed = [reply for reply in question.replies if reply.value == answer]
    return allowed[0] if allowed else Reply.NO
