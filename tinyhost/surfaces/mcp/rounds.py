"""Calls whose questions are answered by the client's next request.

Since revision 2026-07-28 a server sends no requests of its own: it answers a call with what
it has to know, and the client makes the call again with the answers. The call itself goes
on here meanwhile, so that it is judged, run and recorded once.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import mcp_types as types
import trio
from mcp.shared.exceptions import MCPError

from .exchange import Context, Exchange
from .requests import Answer, Put, Request, answers_of

_MOST = 256  # calls that wait for their clients
_KEPT = 60.0  # seconds that a result waits for a client which was asked something before

Result = dict[str, Any] | types.InputRequiredResult
Body = Callable[[Put], Awaitable[dict[str, Any]]]


@attrs.frozen
class _End:
    """How a call ended."""

    result: dict[str, Any] | None
    error: Exception | None = None


class _Call:
    """One call, over however many requests the client makes of it."""

    def __init__(self, waiting: dict[str, _Call], exchange: Exchange) -> None:
        self.exchange = exchange
        self.question: types.InputRequiredResult | None = None  # that has no answer yet
        self._state = ""  # the client's word for this call, once it was asked something
        self._waiting = waiting
        self._scope = trio.CancelScope()
        self._turn = trio.Lock()
        self._say, self._said = trio.open_memory_channel[types.InputRequiredResult | _End](0)
        self._answers: Mapping[str, Answer] | None = None
        self._answered = trio.Event()

    async def run(self, body: Body) -> None:
        try:
            with self._scope, self._say:
                try:
                    end = _End(await body(self._put))
                except Exception as error:
                    end = _End(None, error)
                with trio.move_on_after(_KEPT):
                    await self._say.send(end)
        finally:
            self._waiting.pop(self._state, None)

    async def _put(self, requests: Mapping[str, Request]) -> Mapping[str, Answer]:
        """The client's answers. What a call asks it asks one after the other."""
        async with self._turn:
            question = types.InputRequiredResult(
                input_requests=dict(requests), request_state=self._new_state()
            )
            self.question, self._answers, self._answered = question, None, trio.Event()
            try:
                await self._say.send(question)
                await self._answered.wait()
            finally:
                self.question = None
            assert self._answers is not None
            return self._answers

    def _new_state(self) -> str:
        """Another random word, good for one answer."""
        if self._waiting.pop(self._state, None) is None and len(self._waiting) >= _MOST:
            raise MCPError(types.INTERNAL_ERROR, "too many calls wait for an answer")
        self._state = secrets.token_urlsafe(32)
        self._waiting[self._state] = self
        return self._state

    def answer(self, given: Mapping[str, Any]) -> types.InputRequiredResult | None:
        """Take the answers to the question; the question itself when one of them is missing.

        What else is given is passed over, as are answers that come too late.
        """
        question = self.question
        if question is None:
            self._waiting.pop(self._state, None)
            return None
        requests = question.input_requests or {}
        if not all(isinstance(given.get(key), answers_of(r)) for key, r in requests.items()):
            return question
        self._waiting.pop(self._state, None)
        self._answers = {key: given[key] for key in requests}
        self._answered.set()
        return None

    async def step(self, context: Context) -> Result:
        """The next question, or the result. A request that is cancelled takes the call along."""
        self.exchange.context = context
        try:
            said = await self._said.receive()
        except trio.EndOfChannel:
            raise _no_call() from None
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
        call = self._waiting.get(params.request_state or "")
        if call is None or (params.name, params.arguments or {}) != call.exchange.call:
            raise _no_call()
        return call.answer(params.input_responses or {}) or await call.step(context)


def _no_call() -> MCPError:
    return MCPError(types.INVALID_PARAMS, "no call waits with that requestState")
