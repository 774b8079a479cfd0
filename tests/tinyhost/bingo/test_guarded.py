"""What a bingo plugin has to say, heard through a host: hooks, contributions, notices, questions."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import CallDenied, ToolResult
from tinyhost.asking import Question, Reply
from tinyhost.host import Command
from tinyhost.model import ClientCallbacks
from tinyhost.permissions import Origin

Add = Callable[..., Path]

REWRITES = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        hooks = [{"id": "dry", "points": ["beforeTool"], "tool": "Bash"}]
        tools = [{"name": "echo", "description": "", "inputSchema": {}}]
        result = {"protocol": 6, "name": "rewriter", "version": "1", "hooks": hooks, "tools": tools}
    elif message["method"] == "hook/decide":
        call = message["params"]["payload"]["call"]
        call["input"]["command"] += " --dry-run"
        result = {"outcome": {"kind": "continue"}, "value": {"kind": "call", "call": call}}
    elif message["method"] == "tool/call":
        result = {"output": {"parts": [{"type": "text", "text": "[]"}]}}
    else:
        continue
    print(json.dumps({"id": message["id"], "result": result, "jsonrpc": "2.0"}), flush=True)
"""


def content(result: ToolResult) -> Any:
    return json.loads(result.content)


async def shown(manager: tinyhost.Manager, what: str) -> Any:
    return content(await manager.call_tool("stub", "echo", {"show": what}))


# --- hooks and contributions, the guarded way


async def ran(command: Command) -> ToolResult:
    return ToolResult(" ".join(command.argv))


def deciding(**answers: Any) -> dict[str, Any]:
    return {"kinds": ["tools", "hooks"], "decide": answers}


def outcome(kind: str, **more: Any) -> dict[str, Any]:
    return {"outcome": {"kind": kind, **more}}


async def run_as(config: Any, command: str = "echo hi", **host: Any) -> tuple[str, list[str]]:
    """What a command comes to, and the contexts, with the plugins of a configuration."""
    async with tinyhost.open_host(config, origin=Origin.PERSON, **host) as host_:
        results = await host_.load_all()
        assert [result.error for result in results] == [None]
        session = await host_.session_start()
        result = await host_.run_command(command.split(), session, ran)
        seen = await shown(host_.manager, "observed")
        await host_.session_end(session)
        points = [params["point"] for params in seen]
        return result.content, [*session.contexts, *result.contexts, *points]


async def test_a_hook_that_has_no_objection_is_asked_once(add_stub: Add, configured: Any) -> None:
    add_stub()
    content, seen = await run_as(configured(stub=deciding()))
    assert content == "echo hi"
    assert seen == ["session", "beforeTool", "afterTool"]


@pytest.mark.parametrize("kind", ["deny", "block"])
async def test_a_denial_stops_a_command_whatever_rule_allows_it(
    add_stub: Add, configured: Any, kind: str
) -> None:
    add_stub()
    config = configured(stub=deciding(guard=outcome(kind, reason="not today")))
    with pytest.raises(CallDenied, match="plugin stub denies it: hook stub:guard: not today"):
        await run_as(config)


class Person:
    """Answers every question the same way, and keeps what it was asked."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        return self.reply

    def refusal(self, question: Question) -> str:
        return "the person said no"


async def test_a_wish_to_ask_puts_the_question_to_the_person(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    config = configured(stub=deciding(guard=outcome("ask", reason="sure?")))
    yes = Person(Reply.ONCE)
    assert (await run_as(config, asker=yes))[0] == "echo hi"
    assert [str(reason) for reason in yes.asked[0].reasons] == [
        "plugin stub wants the person asked: hook stub:guard: sure?"
    ]
    with pytest.raises(CallDenied, match="the person said no"):
        await run_as(config, asker=Person(Reply.NO))
    with pytest.raises(CallDenied, match=r"Nobody can be asked here.*unload plugin stub"):
        await run_as(config)


async def test_a_rewritten_command_is_what_runs(add_stub: Add, configured: Any) -> None:
    add_stub()
    (add_stub("rewriter", version="1") / "main.py").write_text(REWRITES)
    async with tinyhost.open_host(configured(rewriter={}), origin=Origin.PERSON) as host:
        await host.load_all()
        session = await host.session_start()
        result = await host.run_command(["git", "push"], session, ran)
    assert result.content == "/bin/sh -c git push --dry-run"


async def test_a_hook_that_answers_nonsense_is_a_failed_guard(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    for answer in (outcome("allow"), {"outcome": None}, []):
        with pytest.raises(CallDenied, match="guard stub failed"):
            await run_as(configured(stub=deciding(guard=answer)))
    skip = {"stub": {"onGuardFailure": "skip"}}
    config = configured(skip, stub=deciding(guard=outcome("allow")))
    assert (await run_as(config))[0] == "echo hi"


async def test_a_hook_that_does_not_answer_is_a_failed_guard(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    config = configured({"stub": {"timeouts": {"hook": "100ms"}}}, stub=deciding(guard="silent"))
    with (
        trio.fail_after(10),
        pytest.raises(CallDenied, match=r"no answer to hook/decide within 0.1 s"),
    ):
        await run_as(config)


async def test_contributions_are_contexts_of_the_session_and_behind_a_tool(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    config = configured(
        stub={
            "kinds": ["tools", "contributors", "hooks"],
            "decide": {"late": outcome("block", reason="enough")},
        }
    )
    _, seen = await run_as(config)
    assert seen[0].startswith("notes of ses_")
    assert seen[1] == "notes: more"
    assert seen[2] == "hook stub:late asks to end the turn: enough"
    assert seen[3].startswith("after of ses_")


async def test_points_that_the_host_has_no_hook_for_are_events_that_can_be_sent(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    config = configured(stub=deciding(last=outcome("block", reason="tests fail")))
    async with tinyhost.open_host(config) as host:
        await host.load_all()
        submit = await host.dispatcher.dispatch("prompt.submit", {"prompt": "go"})
        assert submit.answers[0].raw["prompt"] == "please go"
        stop = await host.dispatcher.dispatch("turn.stop", {})
        assert stop.answers[0].raw["reason"] == "tests fail"
        await host.dispatcher.dispatch("turn.start", {"turn": "trn_1"})
        await host.dispatcher.dispatch("turn.end", {"turn": "trn_1"})
        seen = await shown(host.manager, "observed")
        assert [(p["point"], (p.get("payload") or {}).get("phase")) for p in seen[-2:]] == [
            ("turn", "start"),
            ("turn", "end"),
        ]


# --- the host's own service


NOTICE = {"key": "bingo.host", "method": "notice", "params": {"level": "warn", "message": "old"}}


async def test_a_notice_from_before_the_handshake_is_heard_once_the_plugin_is_loaded(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    heard: list[tuple[str, ...]] = []
    callbacks = ClientCallbacks(notice=lambda *said: heard.append(said))
    config = configured(stub={"announce": NOTICE})
    async with tinyhost.open_manager(config, callbacks=callbacks) as manager:
        await manager.load("stub")
        assert heard == [("stub", "warn", "old")]
        answer = content(await manager.call_tool("stub", "echo", {"call": NOTICE}))
        assert answer == {"result": {"result": {}}}
        assert heard == [("stub", "warn", "old")] * 2


async def test_of_many_early_notices_the_newest_are_kept_in_order(add_stub: Add) -> None:
    add_stub()
    heard: list[str] = []
    async with tinyhost.open_manager() as manager:
        manager.offers.listeners.append(lambda plugin, level, text: heard.append(text))
        for number in range(19):
            manager.offers.notice("stub", "info", str(number))
        assert heard == []
        await manager.load("stub")
    assert heard == [str(number) for number in range(3, 19)]


async def test_a_notice_that_nobody_listens_for_is_in_the_log(
    add_stub: Add, configured: Any, caplog: pytest.LogCaptureFixture
) -> None:
    add_stub()
    with caplog.at_level(logging.WARNING, "tinyhost"):
        async with tinyhost.open_manager(configured(stub={"announce": NOTICE})) as manager:
            await manager.load("stub")
    assert "plugin stub: old" in caplog.text


QUESTION = {
    "kind": "question",
    "question": "Which?",
    "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B", "role": "refusing"}],
}


async def test_a_question_is_put_to_the_person_for_a_call_that_runs(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    asked: list[Any] = []

    async def person(plugin: str, question: Any) -> Any:
        asked.append((plugin, question["question"]))
        # Longer than the call's own deadline.
        await trio.sleep(0.4)
        return {"kind": "choice", "ids": ["b"]}

    config = configured({"stub": {"timeouts": {"tool": "200ms", "toolCap": "20s"}}}, stub={})
    callbacks = ClientCallbacks(question=person)
    async with tinyhost.open_manager(config, callbacks=callbacks) as manager:
        await manager.load("stub")
        with trio.fail_after(10):
            answer = content(await manager.call_tool("stub", "echo", {"question": QUESTION}))
        assert answer == {"result": {"result": {"answer": {"kind": "choice", "ids": ["b"]}}}}
        other = await manager.call_tool("stub", "echo", {"question": QUESTION, "of": "call_1"})
        assert "not running a call of that id" in content(other)["error"]["message"]
    assert asked == [("stub", "Which?")]
