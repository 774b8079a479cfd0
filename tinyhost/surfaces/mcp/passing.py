"""Passing questions of plugins on to the client whose call they are about."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import attrs
import trio
from mcp.shared.exceptions import MCPError

from tinyhost_sdk import names

from ...dialects.mcp_answers import SAMPLING
from ...dialects.mcp_callers import Question, Refused
from ...errors import TinyhostError, cut
from ...host import Host
from ...outcomes import Session
from ...permissions import Action, Origin
from . import asking
from .asking import APPROVAL, elicit_here
from .requests import Put, request_of
from .text import sound

_log = logging.getLogger(__name__)

_MOST = 32  # questions in one call
_REJECTED = -1  # MCP's code for a sampling that the person did not want
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)

# Decides whether a plugin may ask something, and with what params. Raises Refused.
Allow = Callable[[str, Question], Awaitable[Question]]


class CallingClient:
    """Implements dialects.mcp_callers.Client for one call, until `close`.

    who: stands for the client. offered: what may be asked of it. put: how. may_elicit:
    whether the host's own questions can be put to it, too.
    """

    def __init__(
        self,
        who: object,
        offered: Mapping[str, Any],
        put: Put,
        allow: Allow,
        *,
        may_elicit: bool,
        modern: bool,
    ) -> None:
        self.who = who
        self.offered = offered
        self._put, self._allow = put, allow
        self._may_elicit, self._modern = may_elicit, modern
        self._asked = 0
        self._over = False
        self._scopes: set[trio.CancelScope] = set()

    async def ask(self, plugin: str, questions: Mapping[str, Question]) -> Mapping[str, Any]:
        """The client's answers. Raises Refused, also when the call ends meanwhile."""
        self._asked += len(questions)
        if self._over:
            raise Refused(names.INTERNAL_ERROR, "the call that this is about is over")
        if self._asked > _MOST:
            raise Refused(names.INTERNAL_ERROR, f"more than {_MOST} questions in one call")
        # This may be a task of the plugin's, which has no way to the person of its own.
        token = elicit_here.set(self._put if self._may_elicit else None)
        scope = trio.CancelScope()
        self._scopes.add(scope)
        try:
            with scope:
                return await self._answers(plugin, questions)
        finally:
            self._scopes.discard(scope)
            elicit_here.reset(token)
        raise Refused(names.INTERNAL_ERROR, "the call that this is about is over")

    async def _answers(self, plugin: str, questions: Mapping[str, Question]) -> Mapping[str, Any]:
        allowed = {key: await self._allow(plugin, asked) for key, asked in questions.items()}
        # No key of a plugin's is that of the host's question.
        prefix = f"{plugin}." if APPROVAL in allowed else ""
        requests = {
            prefix + key: request_of(plugin, asked, self.offered, modern=self._modern)
            for key, asked in allowed.items()
        }
        with trio.move_on_after(asking.PATIENCE):
            try:
                given = await self._put(requests)
            except MCPError as error:
                raise Refused(error.error.code, cut(error.error.message, 500)) from None
            except _GONE:
                raise Refused(names.INTERNAL_ERROR, "the client is gone") from None
            return {key: _plain(given[prefix + key]) for key in allowed}
        raise Refused(names.INTERNAL_ERROR, f"no answer within {asking.PATIENCE:g} s")

    def close(self) -> None:
        """The call is over: nothing is asked any more, and what is being asked is taken back."""
        self._over = True
        for scope in self._scopes:
            scope.cancel()


def _plain(answer: Any) -> Mapping[str, Any]:
    value = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    value.pop("_meta", None)
    plain: dict[str, Any] = sound(value)
    return plain


class Gate:
    """The person's guard before questions of plugins: rules, plugins that guard, the record.

    A question is judged as a call of the tool `sampling__<plugin>`, `elicitation__<plugin>` or
    `roots__<plugin>`. Where no rule covers it, the person is asked before their model is used;
    a form or an address is shown to them anyway. denials: what became of those that were not
    allowed, for the result of the call.
    """

    def __init__(self, host: Host, session: Session) -> None:
        self._host, self._session = host, session
        self.denials: list[str] = []

    async def __call__(self, plugin: str, question: Question) -> Question:
        """The question as it may be put. Raises Refused."""
        tool = tool_of(plugin, question.method)
        try:
            verdict = await self._host.judge(
                tool,
                dict(question.params),
                self._session_for(question.method),
                side_effects=question.method == SAMPLING,
            )
        except (TinyhostError, ValueError) as error:
            _log.warning("a question of plugin %s was not judged: %s", plugin, error)
            raise Refused(names.INTERNAL_ERROR, "the host could not answer") from error
        if verdict.action is not Action.ALLOW:
            # The way to allow it is for whoever made the call, and not for the plugin.
            self.denials.append(f"{tool} was denied: {verdict.reason}")
            raise Refused(_REJECTED, "it was not allowed")
        params = verdict.args
        return attrs.evolve(question, params=params if type(params) is dict else {})

    def _session_for(self, method: str) -> Session:
        caller = self._session.caller
        if method == SAMPLING or caller is None:
            return self._session
        # The person answers it themselves, or has set their client up to: that is consent.
        return attrs.evolve(self._session, caller=attrs.evolve(caller, origin=Origin.PERSON))


def tool_of(plugin: str, method: str) -> str:
    """The tool's id that rules and guards know a question by."""
    return f"{method.partition('/')[0]}__{plugin}"
