"""Requests to an MCP server, in the revision that was agreed on with it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import trio

from .. import codec
from ..errors import CallTimeout, PluginError, cut
from .base import Link
from .mcp_answers import Answers
from .mcp_callers import Callers, Client, Question, Refused
from .mcp_revisions import Spoken

CANCELLED = "notifications/cancelled"
MAX_PAGES = 100
MAX_ENTRIES = 10_000
_MAX_ROUNDS = 10
_MAX_INPUTS = 32  # questions in one result
_PAUSE = 0.05  # seconds, before a request is repeated that nothing was asked for
# The requests whose results may be questions.
_MAY_ASK = ("tools/call", "resources/read", "prompts/get")


class Talk:
    """One server, over one link. Its methods raise ValueError for results of a wrong form."""

    def __init__(self, link: Link, spoken: Spoken, answers: Answers) -> None:
        self.link = link
        self.spoken = spoken
        self.callers = Callers(link.timeouts.tool)
        self._answers = answers
        self._tokens = itertools.count(1)
        self._calls: dict[int, int] = {}  # progress token -> request id

    async def request(
        self,
        method: str,
        params: Mapping[str, str],
        *,
        timeout: float | None = None,
        cap: float = 0.0,
        on_progress: Callable[[str], None] | None = None,
        client: Client | None = None,
    ) -> dict[str, Any]:
        """Send a request until it has a result that is no question, and return that.

        params: JSON text by key. timeout: of each sending, by default a tool call's.
        client: whoever is asked what the server wants to know.
        """
        questions: Mapping[str, str] = {}
        for _ in range(_MAX_ROUNDS):
            sent = {**params, **questions}
            result = await self._send(method, sent, timeout, cap, on_progress, client)
            if not self.spoken.modern or result.get("resultType", "complete") == "complete":
                return result
            if result["resultType"] != "input_required" or method not in _MAY_ASK:
                raise ValueError(f"its result is of the unknown type {result['resultType']!r:.80}")
            questions = await self._answer(result, client)
        raise ValueError(f"it asked for more input {_MAX_ROUNDS} times in a row")

    async def _send(
        self,
        method: str,
        params: Mapping[str, str],
        timeout: float | None,
        cap: float,
        on_progress: Callable[[str], None] | None,
        client: Client | None,
    ) -> dict[str, Any]:
        token, sent = next(self._tokens), []
        meta = self.spoken.meta(client.offered if client else {})
        if on_progress is not None or cap:
            meta["progressToken"] = token

        def on_sent(id: int) -> None:
            self._calls[token] = id
            sent.append(id)
            if method in _MAY_ASK:
                self.callers.began(id, client)

        answered = False
        try:
            result = await self.link.request(
                method,
                _text({**params, "_meta": codec.dumps(meta)} if meta else params),
                timeout=self.link.timeouts.tool if timeout is None else timeout,
                cap=cap,
                on_progress=on_progress,
                on_sent=on_sent,
            )
            answered = True
        except CallTimeout as error:
            if error.sent and sent:
                self.cancel(sent[0], "no answer in time")
            raise
        except PluginError:
            answered = True  # or it never will be
            raise
        finally:
            self._calls.pop(token, None)
            if sent and method in _MAY_ASK:
                self.callers.ended(sent[0], answered=answered)
        if type(result) is not dict:
            raise ValueError("the result is not an object")
        return result

    def cancel(self, id: int, reason: str) -> None:
        """Tell the server that nobody waits for the answer any more."""
        self.link.notify(CANCELLED, codec.dumps({"requestId": id, "reason": reason}))

    def progress(self, params: Mapping[str, Any]) -> None:
        """The server reported progress."""
        token = params.get("progressToken")
        id = self._calls.get(token) if type(token) is int else None
        if id is not None:
            self.link.extend(id, _progress_text(params))

    def keep_waiting(self, text: str) -> None:
        """The server waits for us: calls that report progress are given new time."""
        for id in list(self._calls.values()):
            self.link.extend(id, text)

    async def _answer(self, result: Mapping[str, Any], client: Client | None) -> dict[str, str]:
        """What the request is repeated with."""
        asked, state = result.get("inputRequests"), result.get("requestState")
        if asked is not None and type(asked) is not dict:
            raise ValueError("inputRequests is not an object")
        if state is not None and type(state) is not str:
            raise ValueError("requestState is not a string")
        if not asked and state is None:
            raise ValueError("it asks for input, and says not what for")
        given = {} if state is None else {"requestState": codec.dumps(state)}
        if asked:
            given["inputResponses"] = codec.dumps(await self._inputs(asked, client))
        else:
            await trio.sleep(_PAUSE)
        return given

    async def _inputs(self, asked: Mapping[str, Any], client: Client | None) -> Mapping[str, Any]:
        if len(asked) > _MAX_INPUTS:
            raise ValueError(f"it asks {len(asked)} things at a time")
        questions = {key: _question(key, value) for key, value in asked.items()}
        try:
            return await self._answers.answer_all(questions, client)
        except Refused as refused:
            methods = ", ".join(sorted({q.method[:80] for q in questions.values()}))
            raise ValueError(f"it asks for {methods}: {refused.reason}") from refused

    async def entries(self, method: str, key: str) -> list[Any]:
        """All of a list that comes in pages. One without end is cut, and that is logged."""
        found: list[Any] = []
        seen: set[str] = set()
        cursor: str | None = None
        why = "it is too long"
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": codec.dumps(cursor)}
            page = await self.request(method, params)
            if type(page.get(key)) is not list:
                raise ValueError(f"{key} is not an array")
            found += page[key]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found
            if type(cursor) is not str:
                raise ValueError("nextCursor is not a string")
            if cursor in seen:
                why = "it repeats a cursor"
            if cursor in seen or len(found) > MAX_ENTRIES:
                break
            seen.add(cursor)
        self.link.log(f"warning: {method} was cut after {len(found)} entries: {why}")
        return found[:MAX_ENTRIES]


def _question(key: str, value: Any) -> Question:
    method = value.get("method") if type(value) is dict else None
    if type(method) is not str:
        raise ValueError(f"inputRequests.{key[:80]} has no method")
    params = value.get("params")
    return Question(method, params if type(params) is dict else {})


def _text(params: Mapping[str, str]) -> str:
    members = (f"{codec.dumps(key)}:{value}" for key, value in params.items())
    return "{" + ",".join(members) + "}"


def _progress_text(params: Mapping[str, Any]) -> str:
    message = params.get("message")
    if type(message) is str and message:
        return cut(message)
    done, total = params.get("progress"), params.get("total")
    if type(done) not in (int, float):
        return ""
    return f"{done:g} of {total:g}" if type(total) in (int, float) else f"{done:g}"
