"""Commands, compactors, providers and services, with a link in memory."""

from __future__ import annotations

import math
from typing import Any

import pytest
import trio
import trio.lowlevel
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.bingo.commands import outcome_text
from tinyhost.bingo.context_messages import CompactorContext, ReasonManual
from tinyhost.bingo.errors import CompactionFailed, ProviderFailed
from tinyhost.bingo.forms import read_any, write
from tinyhost.bingo.messages import CommandOutcome, OutcomeApplied
from tinyhost.bingo.model_types import (
    ContextUsage,
    ModelCapabilities,
    ModelEvent,
    ModelRequest,
    ModelTextDelta,
)
from tinyhost.bingo.refusal import ServiceRefused
from tinyhost.errors import CallTimeout, InvalidCall, PluginDied, ProtocolError, RemoteError
from tinyhost.model import ClientCallbacks
from tinyhost_sdk import wire

COMMAND = {
    "name": "stub",
    "hint": "h",
    "args": {"kind": "none"},
    "family": "plugin",
    "aliases": ["st"],
}
REQUEST = ModelRequest(model="m-1", max_tokens=10)
CONTEXT = CompactorContext(
    items=(),
    usage=ContextUsage(used=9, window=10, trigger=8),
    capabilities=ModelCapabilities(context_window=10, max_output=1),
    request=REQUEST,
    failures=0,
    keep_budget=3,
)
COMPACTION = {"summary": "s", "boundary": "itm_1", "before": 10, "after": 4}


async def test_a_command_gets_its_arguments_as_typed(link: Any) -> None:
    dialect = await link.shake_hands(commands=[COMMAND, {**COMMAND, "hint": "second"}])
    command = dialect.capabilities()["commands"]["stub"]
    assert command.spec.hint == "h"
    link.answers["command/run"] = {"outcome": {"kind": "applied"}}
    outcome = await command.run("  a  b ", directory="/w", session="ses_1")
    assert outcome == OutcomeApplied()
    assert link.sent[-1][:2] == (
        "command/run",
        {"name": "stub", "args": "  a  b ", "cwd": "/w", "session": "ses_1"},
    )
    assert link.sent[-1][2]["timeout"] == link.timeouts.tool


async def test_completions_are_asked_for_with_a_short_deadline(link: Any) -> None:
    dialect = await link.shake_hands(commands=[COMMAND])
    command = dialect.capabilities()["commands"]["stub"]
    link.answers["command/complete"] = {
        "completions": [{"value": "a"}, {"value": "b", "label": "B"}]
    }
    found = await command.complete("x", directory="/w")
    assert [(c.value, c.label) for c in found] == [("a", None), ("b", "B")]
    assert link.sent[-1][1] == {"name": "stub", "partial": "x", "cwd": "/w"}
    assert link.sent[-1][2]["timeout"] == 5
    link.answers["command/complete"] = {}
    assert await command.complete("x", directory="/w") == ()
    with pytest.raises(InvalidCall, match="UTF-8"):
        await command.complete("x", directory="/\udc80")


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ({"kind": "applied"}, ""),
        ({"kind": "applied", "message": "done"}, "done"),
        ({"kind": "view", "view": {"kind": "list", "items": ["a"]}}, "- a"),
        ({"kind": "prompt", "text": "do it"}, "do it"),
        ({"kind": "record", "body": {"kind": "assistant", "text": "said"}}, "said"),
        (
            {
                "kind": "record",
                "body": {"kind": "shell", "command": "ls", "output": "a", "cwd": "/"},
            },
            "$ ls\na",
        ),
        ({"kind": "record", "body": {"kind": "rewind", "toTurn": "t"}}, "[rewind]"),
        (
            {
                "kind": "record",
                "body": {
                    "kind": "user",
                    "parts": [{"type": "text", "text": "me"}],
                    "origin": {"surface": "x"},
                },
            },
            "me",
        ),
    ],
)
def test_every_outcome_of_a_command_has_a_text(outcome: Any, text: str) -> None:
    assert outcome_text(read_any(CommandOutcome, outcome)) == text


@pytest.mark.parametrize(
    ("protocol", "answer"),
    [
        (5, {"compaction": COMPACTION}),
        (6, {"kind": "completed", "compaction": COMPACTION}),
    ],
)
async def test_each_protocol_has_its_own_form_of_compaction(
    link: Any, protocol: int, answer: Any
) -> None:
    dialect = await link.shake_hands(protocol=protocol, compactors=[{"id": "cut"}])
    link.answers["compactor/compact"] = answer
    compactor = dialect.capabilities()["compactors"]["cut"]
    compaction = await compactor.compact(CONTEXT, ReasonManual(instructions="short"))
    assert (compaction.summary, compaction.after, compaction.usage.input_tokens) == ("s", 4, 0)
    [params] = link.params("compactor/compact")
    assert params["reason"] == {"kind": "manual", "instructions": "short"}
    sent = params["context"]
    common = {"items", "usage", "capabilities", "failures", "keepBudget"}
    if protocol == 5:
        assert set(sent) == {*common, "model"}
        assert sent["model"] == "m-1"
    else:
        assert set(sent) == {*common, "request"}
        assert sent["request"] == write(REQUEST)
    assert link.sent[-1][2]["timeout"] == 60


FAILED = {
    "kind": "failed",
    "error": {
        "error": {"code": "OFFLINE", "message": "no net"},
        "usage": {"inputTokens": 101, "outputTokens": 17, "cacheReadTokens": 23},
    },
}


@pytest.mark.parametrize(
    ("protocol", "answer", "code", "billed"),
    [
        (6, FAILED, "OFFLINE", 101),
        (6, {"kind": "completed", "compaction": {**COMPACTION, "after": 10}}, "INTERNAL", 0),
        (6, {"compaction": COMPACTION}, "INTERNAL", None),
        (5, {"kind": "completed"}, "INTERNAL", None),
        (5, RemoteError("stub", "compactor/compact", 1, "no", None), "INTERNAL", None),
        (6, CallTimeout("stub", "compactor/compact", 60, sent=True), "TIMEOUT", None),
    ],
)
async def test_a_compaction_that_fails_says_why_and_what_it_used(
    link: Any, protocol: int, answer: Any, code: str, billed: int | None
) -> None:
    dialect = await link.shake_hands(protocol=protocol, compactors=[{"id": "cut"}])
    link.answers["compactor/compact"] = answer
    with pytest.raises(CompactionFailed) as caught:
        await dialect.capabilities()["compactors"]["cut"].compact(CONTEXT, ReasonManual())
    assert caught.value.code == code
    assert (caught.value.usage.input_tokens if caught.value.usage else None) == billed
    assert caught.value.useless is (billed == 0)


# --- providers


def delta(call: object, event: Any) -> wire.Notification:
    return wire.Notification("provider/delta", {"call": call, "event": event})


def said(text: str) -> dict[str, Any]:
    return {"type": "textDelta", "id": "1", "delta": text}


async def provider(link: Any, **more: Any) -> tuple[Any, Any]:
    spec = {"id": "stub", "models": [{"id": "m-1"}], "endpoint": {"images": True}, **more}
    dialect = await link.shake_hands(providers=[spec])
    return dialect, dialect.capabilities()["providers"]["stub"]


async def test_a_provider_can_do_nothing_for_a_model_that_it_did_not_name(
    link: Any,
) -> None:
    _, found = await provider(link)
    assert found.endpoint("m-1").images
    assert not found.endpoint("m-2").images
    assert found.family == "stub"
    _, other = await provider(link, family="f")
    assert other.family == "f"


async def test_a_response_comes_event_by_event_and_two_do_not_mix(link: Any) -> None:
    dialect, found = await provider(link)
    seen: dict[str, list[str]] = {"a": [], "b": []}

    async def answer(params: Any) -> Any:
        await trio.lowlevel.checkpoint()
        for word in ("x", "y"):
            text = f"{params['request']['model']}{word}"
            dialect.notified(link, delta(params["call"], said(text)))
            await trio.lowlevel.checkpoint()
        return {}

    link.answers["provider/stream"] = answer
    async with trio.open_nursery() as nursery:
        for name, words in seen.items():
            request = ModelRequest(model=name, max_tokens=1)
            nursery.start_soon(
                found.stream, request, lambda event, to=words: to.append(event.delta)
            )
    assert seen == {"a": ["ax", "ay"], "b": ["bx", "by"]}
    calls = [params["call"] for params in link.params("provider/stream")]
    assert sorted(calls) == ["call-1", "call-2"]
    assert link.sent[-1][2]["timeout"] == 120
    assert link.sent[-1][2]["cap"] == math.inf
    assert {text for _, text in link.extended} == {""}
    dialect.notified(link, delta("call-1", said("late")))
    dialect.notified(link, delta(None, said("late")))
    assert seen["a"] == ["ax", "ay"]


@pytest.mark.parametrize(
    ("answer", "error", "retryable"),
    [
        (
            {"error": {"kind": "rateLimited", "retryAfterMs": 1500}},
            {"kind": "rateLimited", "retryAfterMs": 1500},
            True,
        ),
        ({"error": {"kind": "auth", "message": "who"}}, {"kind": "auth", "message": "who"}, False),
        (CallTimeout("stub", "provider/stream", 120, sent=True), {"kind": "timeout"}, True),
        (PluginDied("stub", "exited"), {"kind": "transport"}, True),
        (RemoteError("stub", "provider/stream", 1, "no", None), {"kind": "stream"}, False),
        ({"error": {"kind": "new"}}, {"kind": "stream"}, False),
    ],
)
async def test_a_stream_that_breaks_says_how(
    link: Any, answer: Any, error: dict[str, Any], retryable: bool
) -> None:
    _, found = await provider(link)
    link.answers["provider/stream"] = answer
    with pytest.raises(ProviderFailed) as caught:
        await found.stream(REQUEST, lambda event: None)
    told = write(caught.value.error)
    assert told == error or (told["kind"] == error["kind"] and told["message"].startswith("stub: "))
    assert caught.value.retryable is retryable
    cancelled = [{"call": "call-1"}] if error["kind"] == "timeout" else []
    assert link.params("provider/cancel") == cancelled


async def test_a_stream_that_is_cancelled_is_named_to_the_plugin(link: Any) -> None:
    dialect, found = await provider(link)
    link.answers["provider/stream"] = link.for_ever
    async with trio.open_nursery() as nursery:
        nursery.start_soon(found.stream, REQUEST, print)
        await trio.testing.wait_all_tasks_blocked()
        dialect.cancelled(link, 2, "provider/stream")
        nursery.cancel_scope.cancel()
    assert link.params("provider/cancel") == [{"call": "call-1"}]


@pytest.mark.parametrize("event", [{"type": "newDelta"}, {"type": "textDelta"}, 3, None])
async def test_an_event_that_is_not_understood_ends_its_stream_and_no_other(
    link: Any, event: Any
) -> None:
    dialect, found = await provider(link)
    good: list[Any] = []

    async def answer(params: Any) -> Any:
        bad = params["request"]["model"] == "bad"
        dialect.notified(link, delta(params["call"], event if bad else said("a")))
        if bad:
            await trio.sleep_forever()
        return {}

    link.answers["provider/stream"] = answer
    with trio.fail_after(5), pytest.raises(ProviderFailed, match="is not understood"):
        await found.stream(ModelRequest(model="bad", max_tokens=1), print)
    await found.stream(ModelRequest(model="good", max_tokens=1), good.append)
    assert good == [ModelTextDelta(id="1", delta="a")]


async def test_what_the_taker_of_events_raises_ends_the_stream_and_comes_out(
    link: Any,
) -> None:
    dialect, found = await provider(link)

    async def answer(params: Any) -> Any:
        dialect.notified(link, delta(params["call"], said("a")))
        dialect.notified(link, delta(params["call"], said("b")))
        await trio.sleep_forever()

    def take(event: ModelEvent) -> None:
        raise KeyError("taker")

    link.answers["provider/stream"] = answer
    with trio.fail_after(5), pytest.raises(KeyError, match="taker"):
        await found.stream(REQUEST, take)


# --- services


async def test_a_service_is_called_and_its_refusal_comes_in_words(link: Any) -> None:
    dialect = await link.shake_hands(services={"kv": {"methods": {"set": {}, "get": {}}}, "no": {}})
    services = dialect.capabilities()["services"]
    link.answers["service/call"] = {"result": [1]}
    assert await services["kv"].call("get", {"a": 1}) == [1]
    assert link.sent[-1][1] == {"key": "kv", "method": "get", "params": {"a": 1}}
    assert link.sent[-1][2]["timeout"] == 30
    link.answers["service/call"] = {}
    assert await services["kv"].call("get") is None
    sent = len(link.sent)
    with pytest.raises(ServiceRefused, match="has no method 'del'; it has: get, set"):
        await services["kv"].call("del")
    with pytest.raises(ServiceRefused, match="it has none"):
        await services["no"].call("get")
    assert len(link.sent) == sent
    for error, words in (
        (RemoteError("stub", "service/call", -32603, "no value", None), "^stub: no value$"),
        (CallTimeout("stub", "service/call", 30, sent=True), "^stub: .* within 30 s"),
        (PluginDied("stub", "was stopped"), "^stub: .*was stopped"),
    ):
        link.answers["service/call"] = error
        with pytest.raises(ServiceRefused, match=words):
            await services["kv"].call("get")
    link.answers["service/call"] = 3
    with pytest.raises(ProtocolError):
        await services["kv"].call("get")


async def ask(link: Any, params: Any, callbacks: ClientCallbacks | None = None, **more: Any) -> Any:
    """What the plugin is answered when it calls the host."""
    dialect = await link.shake_hands(callbacks=callbacks, **more)
    dialect.requested(link, wire.Request("a-1", "service/call", params))
    await trio.testing.wait_all_tasks_blocked()
    [response] = link.responses
    assert (response.pop("jsonrpc"), response.pop("id")) == ("2.0", "a-1")
    return response


async def test_a_plugins_call_of_a_service_is_passed_on(link: Any) -> None:
    async def service(*given: Any) -> Any:
        assert given == ("stub", "kv", "get", {"n": 1})
        return {"v": 2**70}

    params = {"key": "kv", "method": "get", "params": {"n": 1}}
    assert await ask(link, params, ClientCallbacks(service=service)) == {
        "result": {"result": {"v": 2**70}}
    }


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (ServiceRefused("no such", -32601), -32601, "no such"),
        (ServiceRefused("no"), -32603, "no"),
        (PluginDied("kv", "exited"), -32603, "plugin kv exited"),
        (RuntimeError("secret"), -32603, "the host failed: RuntimeError"),
    ],
)
async def test_every_failure_of_a_service_is_answered(
    link: Any, failure: Exception, code: int, words: str
) -> None:
    async def service(*given: Any) -> Any:
        raise failure

    params = {"key": "kv", "method": "get"}
    answer = await ask(link, params, ClientCallbacks(service=service))
    assert answer == {"error": {"code": code, "message": words}}


@pytest.mark.parametrize("params", [None, [], {"key": "kv"}, {"key": 1, "method": "m"}])
async def test_params_of_the_wrong_form_are_refused(link: Any, params: Any) -> None:
    assert (await ask(link, params))["error"]["code"] == -32602


async def test_a_host_without_services_says_so(link: Any) -> None:
    answer = await ask(link, {"key": "kv", "method": "get"})
    assert answer["error"] == {"code": -32601, "message": "this host has no services"}


async def test_another_request_is_answered_that_there_is_no_such_method(link: Any) -> None:
    dialect = await link.shake_hands()
    assert dialect.requested(link, wire.Request(3, "session/open", {}))
    [response] = link.responses
    assert (response["id"], response["error"]["code"]) == (3, -32601)


async def test_a_plugin_that_asks_too_much_at_once_is_refused(link: Any) -> None:
    enough = trio.Event()

    async def service(*given: Any) -> Any:
        await enough.wait()

    dialect = await link.shake_hands(callbacks=ClientCallbacks(service=service))
    for number in range(65):
        dialect.requested(link, wire.Request(number, "service/call", {"key": "k", "method": "m"}))
    await trio.testing.wait_all_tasks_blocked()
    [response] = link.responses
    assert (response["id"], response["error"]["code"]) == (64, -32000)
    enough.set()
    await trio.testing.wait_all_tasks_blocked()
    assert len(link.responses) == 65


def door(method: str, **params: Any) -> dict[str, Any]:
    return {"key": "bingo.host", "method": method, "params": params}


async def test_a_notice_is_heard_under_the_plugins_name(link: Any) -> None:
    heard: list[Any] = []
    callbacks = ClientCallbacks(notice=lambda *given: heard.append(given))
    assert await ask(link, door("notice", message="hello"), callbacks) == {"result": {"result": {}}}
    assert heard == [("stub", "info", "hello")]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (door("notice"), "message is missing"),
        (door("notice", message="a", level="WARN"), "level: 'WARN' is not one of info"),
        (door("notice", message=3), "message is a number"),
        (door("open"), "has no method 'open'; it has: ask, notice"),
        (door("ask"), "call is not a string"),
        (door("ask", call="c", question={"kind": "permission"}), "only a question can be asked"),
        (door("ask", call="c", question={"kind": "form", "questions": []}), "only a question"),
        (door("ask", call="c", question={"kind": "question"}), "question is missing"),
        (
            door("ask", call="c", question={"kind": "question", "question": "?", "options": []}),
            "plugin stub is not running a call of that id",
        ),
    ],
)
async def test_the_hosts_own_service_refuses_in_words(link: Any, params: Any, words: str) -> None:
    answer = await ask(link, params)
    assert answer["error"]["code"] == -32603
    assert words in answer["error"]["message"]


TOOL = {"name": "echo", "description": "", "inputSchema": {}}
OPTIONS = [{"id": "y", "label": "Yes"}, {"id": "n", "label": "No"}]


async def asked(link: Any, callbacks: ClientCallbacks, question: dict[str, Any]) -> dict[str, Any]:
    """What a plugin is answered when it asks in the middle of a call."""
    dialect = await link.shake_hands(callbacks=callbacks, tools=[TOOL])

    async def answer(params: Any) -> Any:
        given = {"kind": "question", "question": "Go?", "options": OPTIONS, **question}
        request = door("ask", call=params["callId"], question=given)
        dialect.requested(link, wire.Request(1, "service/call", request))
        await trio.testing.wait_all_tasks_blocked()
        return {"output": {"parts": []}}

    link.answers["tool/call"] = answer
    from tinyhost.model import CallContext

    await dialect.call_tool(link, link.manifest.tools[0], "{}", CallContext(), None)
    await trio.testing.wait_all_tasks_blocked()
    [response] = link.responses
    return response


@pytest.mark.parametrize(
    ("question", "answer", "good"),
    [
        ({}, {"kind": "choice", "ids": ["y"]}, True),
        ({}, {"kind": "cancel"}, True),
        ({}, {"kind": "choice", "ids": ["z"]}, False),
        ({}, {"kind": "choice", "ids": []}, False),
        ({}, {"kind": "choice", "ids": ["y", "n"]}, False),
        ({"multi": True}, {"kind": "choice", "ids": ["y", "n"]}, True),
        ({}, {"kind": "text", "text": "maybe"}, False),
        ({"freeText": True}, {"kind": "text", "text": "maybe"}, True),
        ({"options": []}, {"kind": "text", "text": "maybe"}, True),
        ({}, {"kind": "allowOnce"}, False),
        ({}, {"kind": "new"}, False),
        ({}, None, False),
    ],
)
async def test_a_question_is_put_and_only_its_own_answers_come_back(
    link: Any, question: Any, answer: Any, good: bool
) -> None:
    async def put(plugin: str, given: Any) -> Any:
        assert (plugin, given["question"]) == ("stub", "Go?")
        return answer

    response = await asked(link, ClientCallbacks(question=put), question)
    if good:
        assert response["result"] == {"result": {"answer": answer}}
    else:
        assert response["error"]["code"] == -32603
    # The call's deadline is kept from passing meanwhile.
    assert (2, "") in link.extended


async def test_a_question_ends_with_its_call(link: Any) -> None:
    async def put(plugin: str, given: Any) -> Any:
        await trio.sleep_forever()

    response = await asked(link, ClientCallbacks(question=put), {})
    assert response["error"]["message"] == "the call that asked has ended"


async def test_where_nobody_can_be_asked_the_plugin_is_told(link: Any) -> None:
    response = await asked(link, ClientCallbacks(), {})
    assert response["error"]["message"] == "nobody can be asked here"


async def test_an_asker_that_breaks_does_not_break_the_call(link: Any) -> None:
    async def put(plugin: str, given: Any) -> Any:
        raise OSError("terminal")

    response = await asked(link, ClientCallbacks(question=put), {})
    assert response["error"]["message"] == "the host failed: OSError"


@given(st.lists(st.sampled_from(["a", "b", "c", "z"]), max_size=4), st.booleans(), st.booleans())
def test_a_choice_is_of_offered_options_and_of_one_unless_several_may_be(
    ids: list[str], multi: bool, free: bool
) -> None:
    from tinyhost.bingo.asking_types import Question, QuestionOption
    from tinyhost.bingo.services import _checked

    options = tuple(QuestionOption(id=id, label=id) for id in "abc")
    question = Question(question="?", options=options, multi=multi, free_text=free)
    good = bool(ids) and "z" not in ids and (multi or len(ids) == 1)
    said = {"kind": "choice", "ids": ids}
    if good:
        assert write(_checked(question, said)) == said
    else:
        with pytest.raises(ServiceRefused):
            _checked(question, said)
