"""service/call, both ways, and what the reserved key bingo.host offers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import trio

from tinyhost.errors import CallTimeout, PluginDied, PluginError, RemoteError, cut
from tinyhost_sdk import names, wire

from .asking_types import Answer, AnswerCancel, AnswerChoice, AnswerText, Question
from .forms import read, read_any, write
from .messages import AskResult, NoticeParams, ServiceCallParams, ServiceCallResult
from .refusal import HOST, REFUSED, UNKNOWN_SERVICE, ServiceRefused
from .talk import Talk
from .tools import Running, Tools
from .types import ServiceSpec

_log = logging.getLogger(__name__)

CALL = "service/call"
_AT_ONCE = 64  # requests of one plugin that are being served
_BUSY = -32000


@attrs.frozen
class Service:
    """What other plugins can call. It dies with its process: get it anew for each use."""

    key: str
    spec: ServiceSpec
    _talk: Talk

    async def call(self, method: str, params: Any = None) -> Any:
        """Call a method. Raises ServiceRefused, also when there is no answer."""
        talk, known = self._talk, sorted(self.spec.methods)
        if method not in known:
            offers = f"it has: {', '.join(known)}" if known else "it has none"
            raise ServiceRefused(
                f"{talk.plugin}: the service {self.key} has no method {cut(method, 80)!r}; {offers}"
            )
        asked = ServiceCallParams(key=self.key, method=method, params=params)
        try:
            answer = await talk.call(CALL, asked, ServiceCallResult, timeout=talk.deadlines.service)
        except RemoteError as error:
            raise ServiceRefused(f"{talk.plugin}: {cut(error.remote_message)}") from error
        except (CallTimeout, PluginDied) as error:
            raise ServiceRefused(f"{talk.plugin}: {error}") from error
        return answer.result


class Serving:
    """Answers the requests of one life of a plugin."""

    def __init__(self, talk: Talk, tools: Tools) -> None:
        self._talk = talk
        self._tools = tools
        self._served = 0

    def request(self, message: wire.Request) -> None:
        """Answer a request, each in a task of its own; none is left without an answer."""
        if message.method != CALL:
            text = f"the host has no method {cut(message.method, 80)!r} for plugins"
            self._refuse(message, names.METHOD_NOT_FOUND, text)
        elif self._served >= _AT_ONCE:
            text = f"{_AT_ONCE} calls of this plugin are being served already"
            self._refuse(message, _BUSY, text)
        else:
            self._served += 1
            self._talk.link.spawn(lambda: self._serve(message))

    def _refuse(self, message: wire.Request, code: int, text: str) -> None:
        self._talk.link.respond(wire.failure(message.id, code, text))

    async def _serve(self, message: wire.Request) -> None:
        try:
            await self._answer(message)
        finally:
            self._served -= 1

    async def _answer(self, message: wire.Request) -> None:
        try:
            asked = read(ServiceCallParams, message.params)
        except ValueError as error:
            self._refuse(message, names.INVALID_PARAMS, str(error))
            return
        try:
            result = await self._route(asked)
            self._talk.link.respond(wire.success(message.id, {"result": result}))
        except ServiceRefused as error:
            self._refuse(message, error.code, str(error))
        except PluginError as error:
            self._refuse(message, REFUSED, cut(str(error)))
        except Exception as error:
            _log.exception("serving %s for plugin %s failed", asked.key, self._talk.plugin)
            self._refuse(message, REFUSED, f"the host failed: {type(error).__name__}")

    async def _route(self, asked: ServiceCallParams) -> Any:
        if asked.key == HOST:
            return await self._host(asked)
        service = self._talk.callbacks.service
        if service is None:
            raise ServiceRefused("this host has no services", UNKNOWN_SERVICE)
        return await service(self._talk.plugin, asked.key, asked.method, asked.params)

    # --- bingo.host

    async def _host(self, asked: ServiceCallParams) -> Any:
        doors: Mapping[str, Callable[[Any], Awaitable[Any]]] = {
            "ask": self._ask,
            "notice": self._notice,
        }
        door = doors.get(asked.method)
        if door is None:
            raise ServiceRefused(
                f"{HOST} has no method {cut(asked.method, 80)!r}; it has: {', '.join(doors)}"
            )
        return await door(asked.params)

    async def _notice(self, params: Any) -> Any:
        said = _read_params(NoticeParams, params)
        talk = self._talk
        talk.link.log(f"notice: {said.level}: {cut(said.message)}")
        if talk.callbacks.notice is not None:
            talk.callbacks.notice(talk.plugin, said.level.value, cut(said.message))
        return {}

    async def _ask(self, params: Any) -> Any:
        call, question = self._question(params)
        running = self._tools.running(call)
        if running is None:
            # The same words for a call that has ended, is another plugin's, or never was.
            raise ServiceRefused(f"plugin {self._talk.plugin} is not running a call of that id")
        ask = self._talk.callbacks.question
        if ask is None:
            raise ServiceRefused("nobody can be asked here")
        said = None
        with trio.CancelScope() as scope:
            running.asking.add(scope)
            try:
                said = await self._put(ask, question, running)
            finally:
                running.asking.discard(scope)
        if said is None:
            raise ServiceRefused("the call that asked has ended")
        return write(AskResult(answer=said))

    def _question(self, params: Any) -> tuple[str, Question]:
        call = params.get("call") if type(params) is dict else None
        if type(call) is not str:
            raise ServiceRefused("call is not a string: ask needs the id of a call that runs")
        kind = params.get("question")
        word = kind.get("kind") if type(kind) is dict else None
        if word != "question":
            raise ServiceRefused(
                f"only a question can be asked, not {str(word)[:80]!r}: the rest is the host's own"
            )
        return call, _read_params(Question, kind)

    async def _put(
        self,
        ask: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]],
        question: Question,
        running: Running,
    ) -> Answer:
        """Ask the person; meanwhile the call's own deadline does not pass, up to its cap."""
        said: Any = None
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_alive, running)
            try:
                said = await ask(self._talk.plugin, write(question))
            except Exception as error:  # so that it comes out alone, and in no group
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return _checked(question, said)

    async def _keep_alive(self, running: Running) -> None:
        link = self._talk.link
        while True:
            link.extend(running.request, "")
            await trio.sleep(link.timeouts.tool / 3)


def _read_params(kind: Any, params: Any) -> Any:
    try:
        return read_any(kind, params)
    except ValueError as error:
        raise ServiceRefused(str(error)) from None


def _checked(question: Question, said: Any) -> Answer:
    """An answer that the question allows. Raises ServiceRefused."""
    try:
        answer: Answer = read_any(Answer, said, "answer")
    except ValueError as error:
        raise ServiceRefused(f"the host's answer is not one: {error}") from None
    if isinstance(answer, AnswerCancel):
        return answer
    if isinstance(answer, AnswerText) and (question.free_text or not question.options):
        return answer
    known = {option.id for option in question.options}
    if isinstance(answer, AnswerChoice) and known and known >= set(answer.ids):
        few_enough = question.multi or len(answer.ids) <= 1
        if few_enough and (answer.ids or (answer.other and question.free_text)):
            return answer
    raise ServiceRefused("the host's answer is none that the question allows")
