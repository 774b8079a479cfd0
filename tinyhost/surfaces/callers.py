"""Who is at the other end of a connection, and how they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ..asking import Headless, Question, Reply
from ..errors import InvalidCall, TinyhostError
from ..outcomes import Caller
from ..permissions import Origin
from ..running import RunningHost
from .params import Params
from .rpc_connection import RpcConnection


def caller_of(running: RunningHost, client: RpcConnection, params: Params) -> Caller:
    """The caller as the client describes it.

    origin: "person" (the default), "client" or "program". asks: whether the client answers
    the request `ask` by asking its person. env: the variables that its commands start from.
    """
    try:
        origin = Origin(params.text("origin", Origin.PERSON.value))
    except ValueError:
        names = ", ".join(origin.value for origin in Origin)
        raise InvalidCall(f"origin must be one of {names}") from None
    headless = Headless(running.host.config.file)
    asker: RemoteAsker | Headless | None = headless if origin is not Origin.CLIENT else None
    if params.flag("asks"):
        asker = RemoteAsker(client)
    return running.host.caller(origin, asker, params.strings("env"))


class RemoteAsker:
    """Asks the person at the other end of a connection, by the request `ask`."""

    def __init__(self, client: RpcConnection) -> None:
        self._client = client
        self._said = ""

    async def ask(self, question: Question) -> Reply:
        """Their answer. Raises TinyhostError when there is none, which is a NO."""
        answer = await self._client.ask("ask", question_value(question))
        if not isinstance(answer, dict) or not isinstance(answer.get("reply"), str):
            raise TinyhostError("the client's answer to a question is not an object with a reply")
        said = answer.get("refusal")
        self._said = said if isinstance(said, str) else ""
        return Reply(answer["reply"])

    def refusal(self, question: Question) -> str:
        """What the client says of a NO."""
        why = "; ".join(map(str, question.reasons))
        return self._said or f"the person did not allow it (asked because {why})"


def question_value(question: Question) -> Mapping[str, Any]:
    """A question as JSON: the call, the reasons, and the answers that can be given.

    rule: what the answer "project" would write into the configuration.
    """
    use = attrs.asdict(question.use, filter=lambda field, _: field.name != "args")
    return {
        "tool": question.tool_id,
        "session": question.session_id,
        "directory": question.directory,
        "argsText": question.args_text,
        "use": use,
        "reasons": [reason.to_json() for reason in question.reasons],
        "replies": [reply.value for reply in question.replies],
        "rule": question.project_rule,
    }
