"""Hook points as the host's hooks, and outcomes as its answers, with a link in memory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tinyhost import hooks as host_hooks
from tinyhost.bingo.hooks import BY_POINT
from tinyhost.bingo.judging import Stopped
from tinyhost.errors import CallTimeout, PluginError, ProtocolError
from tinyhost_sdk import names

GUARD = {"id": "guard", "points": ["beforeTool"]}
ARGS = '{"command":"ls"}'
ASKED = {"sessionId": "ses_1", "toolName": "bash", "toolArgs": ARGS}


def outcome(kind: str, **more: Any) -> dict[str, Any]:
    return {"outcome": {"kind": kind, **more}}


def rewriting(input: Any, kind: str = "continue", **call: Any) -> Any:
    """An answer that gives a call another input."""

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        made = {**params["payload"]["call"], "input": input, **call}
        return {**outcome(kind, reason="r"), "value": {"kind": "call", "call": made}}

    return answer


async def declared(link: Any, *hooks: dict[str, Any], **more: Any) -> Any:
    return await link.shake_hands(hooks=list(hooks), **more)


@pytest.mark.parametrize(
    ("points", "hooks"),
    [
        (["beforeTool"], {names.PERMISSION_ASK, names.TOOL_EXECUTE_BEFORE}),
        (["afterTool"], {names.TOOL_EXECUTE_AFTER}),
        (["session"], set()),
        (["submit", "stop"], {"prompt.submit", "turn.stop"}),
        (["turn"], {"turn.start", "turn.end"}),
        (["compact"], {"compact.start", "compact.end"}),
        (["event"], {"session.event"}),
        ([], {hook for found in BY_POINT.values() for hook in found}),
    ],
)
async def test_each_point_is_one_or_two_hooks_of_the_host(
    link: Any, points: list[str], hooks: set[str]
) -> None:
    await declared(link, {"id": "a", "points": points})
    assert set(link.manifest.hooks) == hooks | {names.SESSION_START, names.SESSION_END}


async def test_a_question_about_a_call_says_which_and_where(link: Any) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = outcome("continue")
    await dialect.invoke_hook(link, names.SESSION_START, {"sessionId": "ses_1", "directory": "/w"})
    assert await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED) is None
    [(_, params, how)] = [sent for sent in link.sent if sent[0] == "hook/decide"]
    assert params["payload"]["call"].pop("callId").startswith("call_")
    assert params == {
        "id": "guard",
        "site": {"session": "ses_1", "cwd": "/w"},
        "point": "beforeTool",
        "payload": {"call": {"name": "Bash", "input": {"command": "ls"}}},
    }
    assert (how["timeout"], how["hook"]) == (link.timeouts.hook, True)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (outcome("continue"), None),
        (outcome("redirect", session="ses_2"), None),
        (outcome("deny", reason="no"), {"allowed": False, "reason": "hook stub:guard: no"}),
        (outcome("block", reason="no"), {"allowed": False, "reason": "hook stub:guard: no"}),
        (outcome("ask", reason="hm"), {"ask": True, "reason": "hook stub:guard: hm"}),
    ],
)
async def test_an_outcome_becomes_an_answer_to_permission_ask(
    link: Any, said: Any, answer: Any
) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = said
    found = await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)
    assert found == answer
    if found is not None:
        output = host_hooks.from_wire(host_hooks.PermissionOutput, found)
        assert not output.allowed
        assert output.denies is ("ask" not in found)


@pytest.mark.parametrize("word", ["allow", "Allow", "allowOnce", "approve", "allowed", "yes", ""])
async def test_no_word_allows(link: Any, word: str) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = outcome(word)
    with pytest.raises(ProtocolError, match="is not one of continue, deny, ask, block, redirect"):
        await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)


async def test_a_call_is_asked_about_once_and_rewritten_in_the_second_hook(
    link: Any,
) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = rewriting({"command": "ls -l"})
    assert await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED) is None
    before = await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, ASKED)
    assert json.loads(before["toolArgs"]) == {"command": "ls -l"}
    # The host asks again about what became of it.
    again = {**ASKED, "toolArgs": before["toolArgs"]}
    assert await dialect.invoke_hook(link, names.PERMISSION_ASK, again) is None
    assert len(link.params("hook/decide")) == 1


async def test_a_wish_to_ask_counts_for_the_rewritten_call_too(link: Any) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = rewriting({"command": "ls -l"}, "ask")
    ask = {"ask": True, "reason": "hook stub:guard: r"}
    assert await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED) == ask
    before = await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, ASKED)
    again = {**ASKED, "toolArgs": before["toolArgs"]}
    assert await dialect.invoke_hook(link, names.PERMISSION_ASK, again) == ask


async def test_what_another_plugin_made_of_the_call_is_a_new_question(link: Any) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = rewriting({"command": "ls -l"})
    await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)
    await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, ASKED)
    other = {**ASKED, "toolArgs": '{"command":"rm"}'}
    await dialect.invoke_hook(link, names.PERMISSION_ASK, other)
    assert len(link.params("hook/decide")) == 2


@pytest.mark.parametrize("said", [outcome("deny", reason="no"), outcome("ask", reason="no")])
async def test_where_permission_was_not_asked_an_objection_stops_the_call(
    link: Any, said: Any
) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = said
    with pytest.raises(Stopped, match="hook stub:guard: no"):
        await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, ASKED)


async def test_a_hook_without_an_answer_is_a_failed_guard_and_is_not_asked_twice(
    link: Any,
) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = CallTimeout("stub", "hook/decide", 5, sent=True)
    with pytest.raises(CallTimeout):
        await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)
    assert await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, ASKED) is None
    assert len(link.params("hook/decide")) == 1


async def test_a_rewrite_into_another_tool_is_a_failure_of_the_hook(link: Any) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = rewriting({}, name="Write")
    with pytest.raises(ProtocolError, match="rewrote a call of Bash into one of 'Write'"):
        await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)


async def test_another_call_id_does_not_count_and_is_logged(link: Any) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = rewriting({"a": 1}, callId="x")
    await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)
    assert "changed the id of a call" in link.logged[-1]


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [("1", True, True), ("1", 1.0, True), ("1", 1, False), ('{"a":1}', {"a": True}, True)],
)
async def test_a_rewrite_counts_when_the_text_differs(
    link: Any, old: str, new: Any, counts: bool
) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = rewriting(new)
    asked = {**ASKED, "toolArgs": old}
    await dialect.invoke_hook(link, names.PERMISSION_ASK, asked)
    before = await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, asked)
    assert (before is not None) is counts


async def test_hooks_are_asked_in_order_until_one_objects(link: Any) -> None:
    dialect = await declared(link, *({"id": id, "points": ["beforeTool"]} for id in "abc"))
    first = rewriting({"command": "new"})

    def answer(params: Any) -> Any:
        return first(params) if params["id"] == "a" else outcome("deny", reason="no")

    link.answers["hook/decide"] = answer
    said = await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED)
    assert said["reason"] == "hook stub:b: no"
    asked = link.params("hook/decide")
    assert [params["id"] for params in asked] == ["a", "b"]
    assert asked[1]["payload"]["call"]["input"] == {"command": "new"}


async def test_a_value_of_another_kind_is_ignored(link: Any) -> None:
    dialect = await declared(link, GUARD)
    value = {"kind": "input", "input": {"kind": "text", "text": "", "origin": {"surface": "x"}}}
    link.answers["hook/decide"] = {**outcome("continue"), "value": value}
    assert await dialect.invoke_hook(link, names.PERMISSION_ASK, ASKED) is None
    assert await dialect.invoke_hook(link, names.TOOL_EXECUTE_BEFORE, ASKED) is None


async def test_a_hook_that_is_ruled_out_is_never_written_to(link: Any) -> None:
    dialect = await declared(link, {**GUARD, "tool": "Write"})
    for hook in (names.PERMISSION_ASK, names.TOOL_EXECUTE_BEFORE):
        assert await dialect.invoke_hook(link, hook, ASKED) is None
    assert link.params("hook/decide") == []


async def test_answers_that_nobody_comes_for_do_not_pile_up(link: Any) -> None:
    dialect = await declared(link, GUARD)
    link.answers["hook/decide"] = outcome("continue")
    for number in range(600):
        asked = {**ASKED, "toolArgs": str(number % 300)}
        await dialect.invoke_hook(link, names.PERMISSION_ASK, asked)
    kept = dialect._hooks._judge._said
    assert len(kept) == 256
    assert max(map(len, kept.values())) <= 16


async def test_after_a_tool_only_a_block_says_something(link: Any) -> None:
    dialect = await declared(link, {"id": "late", "points": ["afterTool"]})
    done = {**ASKED, "output": "out", "isError": True}
    for kind in ("continue", "deny", "ask"):
        link.answers["hook/decide"] = outcome(kind, reason="r")
        assert await dialect.invoke_hook(link, names.TOOL_EXECUTE_AFTER, done) is None
    link.answers["hook/decide"] = outcome("block", reason="enough")
    assert await dialect.invoke_hook(link, names.TOOL_EXECUTE_AFTER, done) == {
        "additionalContext": ["hook stub:late asks to end the turn: enough"]
    }
    payload = link.params("hook/decide")[0]["payload"]
    assert payload["call"]["input"] == {"command": "ls"}
    assert payload["output"] == {"parts": [{"type": "text", "text": "out"}], "isError": True}


async def test_a_prompt_is_rewritten_with_all_that_it_holds(link: Any) -> None:
    dialect = await declared(link, {"id": "prefix", "points": ["submit"]})

    def answer(params: Any) -> Any:
        given = params["payload"]["input"]
        value = {"kind": "input", "input": {**given, "text": "please " + given["text"]}}
        return {**outcome("continue"), "value": value}

    link.answers["hook/decide"] = answer
    given = {"kind": "text", "text": "go", "origin": {"surface": "tui", "x": 1}, "new": [1]}
    made = {**given, "text": "please go"}
    said = await dialect.invoke_hook(link, "prompt.submit", {"sessionId": "s", "input": given})
    assert said == {"input": made, "prompt": "please go"}
    plain = await dialect.invoke_hook(link, "prompt.submit", {"prompt": "go"})
    assert plain["prompt"] == "please go"
    assert plain["input"]["origin"] == {"surface": "tinyhost"}


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (outcome("continue"), None),
        (outcome("ask", reason="r"), None),
        (outcome("deny", reason="r"), {"allowed": False, "reason": "hook stub:p: r"}),
        (outcome("block", reason="r"), {"allowed": False, "reason": "hook stub:p: r"}),
        (outcome("redirect", session="ses_9"), {"redirect": "ses_9"}),
    ],
)
async def test_an_outcome_becomes_an_answer_to_a_prompt(link: Any, said: Any, answer: Any) -> None:
    dialect = await declared(link, {"id": "p", "points": ["submit"]})
    link.answers["hook/decide"] = said
    assert await dialect.invoke_hook(link, "prompt.submit", {"prompt": "go"}) == answer


async def test_a_stop_hook_keeps_a_turn_going_and_gets_no_payload(link: Any) -> None:
    dialect = await declared(link, *({"id": id, "points": ["stop"]} for id in "ab"))
    link.answers["hook/decide"] = outcome("block", reason="tests fail")
    assert await dialect.invoke_hook(link, "turn.stop", {"sessionId": "s", "model": "m"}) == {
        "block": True,
        "reason": "tests fail",
        "surface": "hook:stub:a",
    }
    [params] = link.params("hook/decide")
    assert "payload" not in params
    assert params["site"] == {"session": "s", "cwd": "/project", "model": "m"}
    link.answers["hook/decide"] = outcome("deny", reason="no")
    assert await dialect.invoke_hook(link, "turn.stop", {}) is None


@pytest.mark.parametrize(
    ("hook", "input", "point", "payload"),
    [
        (names.SESSION_START, {}, "session", {"phase": "start"}),
        (names.SESSION_END, {}, "session", {"phase": "end"}),
        ("turn.start", {"turn": "trn_1"}, "turn", {"phase": "start", "turn": "trn_1", "items": []}),
        ("turn.end", {"turn": "trn_1"}, "turn", {"phase": "end", "turn": "trn_1", "items": []}),
        ("compact.start", {}, "compact", {"phase": "start"}),
        ("compact.end", {}, "compact", {"phase": "end"}),
        ("session.event", {"frame": {"seq": 1}}, "event", {"frame": {"seq": 1}}),
    ],
)
async def test_an_observation_is_told_and_not_waited_for(
    link: Any, hook: str, input: Any, point: str, payload: Any
) -> None:
    dialect = await declared(link, {"id": "watch"}, {"id": "not", "tool": "Bash"})
    assert await dialect.invoke_hook(link, hook, {"sessionId": "ses_1", **input}) is None
    [params] = link.params("hook/observe")
    assert (params["id"], params["point"], params["payload"]) == ("watch", point, payload)
    assert params["site"]["session"] == "ses_1"


def contributor(id: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "placement": {"kind": kind, **more}}


async def test_contributions_are_contexts_of_the_session_and_after_tools(link: Any) -> None:
    sources = [
        contributor("system", "system", order=1),
        contributor("round", "roundStart"),
        contributor("after", "barrier"),
    ]
    dialect = await link.shake_hands(contributors=sources)
    assert set(link.manifest.hooks) == {
        names.SESSION_START,
        names.SESSION_END,
        names.TOOL_EXECUTE_AFTER,
    }

    def answer(params: Any) -> Any:
        part = {"type": "text", "text": "more"}
        user = {"kind": "user", "parts": [part], "label": "notes"}
        return {"pieces": [{"kind": "system", "text": params["id"]}, user]}

    link.answers["context/contribute"] = answer
    start = {"sessionId": "ses_1", "directory": "/w"}
    said = await dialect.invoke_hook(link, names.SESSION_START, start)
    assert said == {"additionalContext": ["system", "notes: more", "round", "notes: more"]}
    after = await dialect.invoke_hook(link, names.TOOL_EXECUTE_AFTER, {**ASKED, "output": ""})
    assert after == {"additionalContext": ["after", "notes: more"]}
    [query, *_] = [params["query"] for params in link.params("context/contribute")]
    assert (query["session"]["id"], query["cwd"], query["items"]) == ("ses_1", "/w", [])
    assert query["usage"]["window"] > 0
    assert all(how["timeout"] == 3 for sent, _, how in link.sent if sent == "context/contribute")


async def test_a_contributor_that_fails_says_nothing_and_holds_up_nobody(link: Any) -> None:
    sources = [contributor("a", "roundStart"), contributor("b", "roundStart")]
    dialect = await link.shake_hands(contributors=sources)
    late = CallTimeout("stub", "context/contribute", 3, sent=True)
    pieces = {"pieces": [{"kind": "system", "text": "b"}]}
    link.answers["context/contribute"] = lambda params: late if params["id"] == "a" else pieces
    said = await dialect.invoke_hook(link, names.SESSION_START, {"sessionId": "s"})
    assert said == {"additionalContext": ["b"]}
    assert "contributor stub:a gives nothing" in link.logged[0]
    assert "within 3 s" in link.logged[0]


async def test_a_hook_that_nobody_declared_is_no_opinion(link: Any) -> None:
    dialect = await declared(link, GUARD)
    assert await dialect.invoke_hook(link, names.SHELL_ENV, {}) is None
    assert await dialect.invoke_hook(link, names.SESSION_END, None) is None
    with pytest.raises(PluginError):
        link.answers["hook/decide"] = outcome("nonsense")
        await dialect.invoke_hook(link, names.PERMISSION_ASK, {"toolName": "t", "toolArgs": "1"})
