"""Calls whose questions are answered by the client's next request.

Since revision 2026-07-28 a server sends no requests of its own: it answers a call with what
it has to know, and the client makes the call again with the answers. The call itself goes
on here meanwhile, so that it is judged, run and recorded once.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import mcp_types as types
import trio
from mcp.shared.exceptions import MCPError

from .asking import Elicit
from .exchange import Context, Exchange

_QUESTION = "approval"
_MOST = 256  # calls that wait for an answer

Result = dict[str, Any] | types.InputRequiredResult
Body = Callable[[Elicit], Awaitable[dict[str, Any]]]


@attrs.frozen
class _End:
    """How a call ended."""

    result: dict[str, Any] | None
    error: Exception | None = None


class _Call:
    """One call, over however many requests the client makes of it."""

    def __init__(self, waiting: dict[str, _Call], exchange: Exchange) -> None:
        self.question: types.InputRequiredResult | None = None
        self.exchange = exchange
        self._waiting = waiting
        self._scope = trio.CancelScope()
        self._say, self._said = trio.open_memory_channel[types.InputRequiredResult | _End](1)
        self._answer, self._answers = trio.open_memory_channel[types.ElicitResult](1)

    async def run(self, body: Body) -> None:
        with self._scope:
            try:
                end = _End(await body(self._ask))
            except Exception as error:
                end = _End(None, error)
            await self._say.send(end)

    async def _ask(self, message: str, form: dict[str, Any]) -> types.ElicitResult:
        if len(self._waiting) >= _MOST:
            raise MCPError(types.INTERNAL_ERROR, "too many calls wait for an answer")
        state = secrets.token_urlsafe(32)
        asked = types.ElicitRequestFormParams(message=message, requested_schema=form)
        request = types.ElicitRequest(params=asked)
        self.question = types.InputRequiredResult(
            input_requests={_QUESTION: request}, request_state=state
        )
        self._waiting[state] = self
        try:
            await self._say.send(self.question)
            return await self._answers.receive()
        finally:
            self._waiting.pop(state, None)

    def answered(self, answer: types.ElicitResult) -> None:
        self._answer.send_nowait(answer)

    async def step(self, context: Context) -> Result:
        """The next question, or the result. A request that is cancelled takes the call along."""
        self.exchange.context = context
        try:
            said = await self._said.receive()
        except BaseException:
            self._scope.cancel()
            raise
        if isinstance(said, types.InputRequiredResult):
            return said
        if said.result is None:
            assert said.error is not None
            raise said.error
        return said.result


class Rounds:
    """The calls that wait for answers. nursery: where calls go on between requests."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._waiting: dict[str, _Call] = {}

    async def begin(self, exchange: Exchange, body: Body) -> Result:
        """Start a call; its result, or its first question."""
        call = _Call(self._waiting, exchange)
        self._nursery.start_soon(call.run, body)
        return await call.step(exchange.context)

    async def go_on(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """Take a call up again with an answer. Raises MCPError when there is none of that state.

        The state is a random word that is good for one answer to the very same call.
        """
        state = params.request_state or ""
        call = self._waiting.get(state)
        if call is None or (params.name, params.arguments or {}) != call.exchange.call:
            raise MCPError(types.INVALID_PARAMS, "no call waits with that requestState")
        answer = (params.input_responses or {}).get(_QUESTION)
        if not isinstance(answer, types.ElicitResult):
            assert call.question is not None
            return call.question
        del self._waiting[state]
        call.answered(answer)
        return await call.step(context)
