"""How answers of several plugins become one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

import tinyhost
from tinyhost import InvalidCall, ProtocolError, RemoteError
from tinyhost.builtins.base import BuiltinPlugin
from tinyhost.dispatch import (
    CONTEXT_MAX,
    CONTEXT_SUFFIX,
    CONTEXT_TOTAL_MAX,
    Answer,
    Dispatcher,
)
from tinyhost.hooks import (
    PermissionAsk,
    SessionEnd,
    SessionStart,
    ShellEnv,
    ToolExecuteAfter,
    ToolExecuteBefore,
)


class Scripted(BuiltinPlugin):
    """Answers every hook with a fixed value in wire form, or raises it."""

    def __init__(self, name: str, answer: Any, delay: float = 0) -> None:
        super().__init__()
        self.name = name
        self.id = f"plg_{name}"
        self.answer = answer
        self.delay = delay
        self.seen: list[Mapping[str, Any] | None] = []

    async def invoke_hook(self, name: str, input: Mapping[str, Any] | None = None) -> Any:
        self.seen.append(input)
        await trio.sleep(self.delay)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def dispatcher(*plugins: Scripted) -> Dispatcher:
    return Dispatcher(lambda hook: plugins)


async def test_nobody_to_ask_is_no_opinion() -> None:
    nobody = dispatcher()
    assert (await nobody.permission_ask(PermissionAsk())).allowed is None
    assert (await nobody.session_start(SessionStart())).contexts == []
    assert (await nobody.session_end(SessionEnd())).answers == []
    assert (await nobody.tool_execute_before(ToolExecuteBefore(tool_args="{}"))).tool_args == "{}"
    after = await nobody.tool_execute_after(ToolExecuteAfter(output="x", is_error=True))
    assert (after.text, after.is_error, after.changed) == ("x", True, False)
    env = await nobody.shell_env(ShellEnv(env={"A": "1"}))
    assert (env.env, env.changes) == ({"A": "1"}, {})
    for hook in tinyhost.hooks.HOOKS:
        if hook != "dispose":
            assert (await nobody.dispatch(hook, {})).output() is None


async def test_contexts_come_in_load_order_however_long_each_takes(autojump_clock: Any) -> None:
    slow = Scripted("slow", {"additionalContext": ["one", "two"]}, delay=3)
    silent = Scripted("silent", None)
    quick = Scripted("quick", {"additionalContext": "three"}, delay=1)
    began = trio.current_time()
    result = await dispatcher(slow, silent, quick).session_start(
        SessionStart(session_id="ses_1", directory="/srv")
    )
    assert result.contexts == ["one", "two", "three"]
    assert trio.current_time() - began == pytest.approx(3)  # side by side
    assert slow.seen == [{"sessionId": "ses_1", "directory": "/srv"}]
    assert [answer.plugin for answer in result.answers] == ["slow", "silent", "quick"]
    assert [round(answer.ms) for answer in result.answers] == [3000, 0, 1000]


async def test_an_observer_that_fails_harms_nobody() -> None:
    broken = Scripted("broken", RemoteError("broken", "hook/invoke", -32000, "no", None))
    wrong = Scripted("wrong", {"additionalContext": 7})
    buggy = Scripted("buggy", ZeroDivisionError("oops"))
    fine = Scripted("fine", {"additionalContext": "hello"})
    result = await dispatcher(broken, wrong, buggy, fine).session_start(SessionStart())
    assert result.contexts == ["hello"]
    assert [failure.plugin for failure in result.failures] == ["broken", "wrong", "buggy"]
    assert isinstance(result.failures[1].error, ProtocolError)
    assert "additionalContext is not a list of strings" in str(result.failures[1].error)
    assert result.to_json()["plugins"][3] == {
        "name": "fine",
        "output": {"additionalContext": "hello"},
        "ms": pytest.approx(0, abs=1000),
    }


async def test_any_denial_wins_and_the_first_in_load_order_is_reported(
    autojump_clock: Any,
) -> None:
    plugins = [
        Scripted("yes", {"allowed": True}),
        Scripted("late-no", {"allowed": False, "reason": "first in order"}, delay=2),
        Scripted("no", {"allowed": False, "reason": "first in time"}),
    ]
    result = await dispatcher(*plugins).permission_ask(PermissionAsk(tool_name="bash"))
    assert (result.allowed, result.plugin, result.reason) == (False, "late-no", "first in order")
    assert result.output() == {"allowed": False, "reason": "first in order"}


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (None, None),
        ({"allowed": True}, True),
        ({"allowed": False}, False),
        ({}, False),
        ({"reason": "hm"}, False),
        ({"allowed": None}, False),
    ],
)
async def test_to_allow_has_to_be_said(answer: Any, allowed: bool | None) -> None:
    result = await dispatcher(Scripted("guard", answer)).permission_ask(PermissionAsk())
    assert result.allowed is allowed
    assert result.failures == []


@pytest.mark.parametrize(
    ("answers", "merged"),
    [
        ([{"ask": True, "reason": "a"}], {"ask": True, "reason": "a"}),
        ([{"ask": True, "allowed": True}], {"ask": True}),
        ([{"allowed": True}, {"ask": True, "reason": "b"}, {"ask": True}], {"ask": True}),
        ([{"ask": True, "allowed": False, "reason": "no"}], {"allowed": False, "reason": "no"}),
        ([{"ask": True, "reason": "a"}, {"reason": "no"}], {"allowed": False, "reason": "no"}),
        ([{"ask": False}], {"allowed": False}),
        ([{"ask": None, "allowed": True}], {"allowed": True}),
    ],
)
async def test_a_wish_to_ask_is_weaker_than_a_denial_and_stronger_than_a_yes(
    answers: list[Any], merged: dict[str, Any]
) -> None:
    plugins = [Scripted(f"p{number}", answer) for number, answer in enumerate(answers)]
    result = await dispatcher(*plugins).permission_ask(PermissionAsk())
    output = result.output()
    assert output is not None
    assert merged.items() <= output.items()
    assert result.ask is ("ask" in merged)
    assert result.allowed is merged.get("allowed")


@pytest.mark.parametrize("answer", ["no", 1, [], {"allowed": "yes"}, {"allowed": 1}, True])
async def test_an_answer_of_another_type_is_a_failure_and_no_answer(answer: Any) -> None:
    result = await dispatcher(Scripted("guard", answer)).permission_ask(PermissionAsk())
    assert result.allowed is None
    assert len(result.failures) == 1


async def test_a_failed_guard_does_not_silence_the_others() -> None:
    broken = Scripted("broken", tinyhost.CallTimeout("broken", "hook/invoke", 5, sent=True))
    result = await dispatcher(
        broken, Scripted("no", {"allowed": False, "reason": "nope"})
    ).permission_ask(PermissionAsk())
    assert result.allowed is False
    assert [failure.plugin for failure in result.failures] == ["broken"]


async def test_variables_accumulate_and_null_unsets() -> None:
    first = Scripted("first", {"env": {"A": "1", "B": "first"}})
    failing = Scripted("failing", {"env": {"A=B": "x"}})
    nothing = Scripted("nothing", None)
    second = Scripted("second", {"env": {"B": "second", "HOME": None, "MISSING": None}})
    result = await dispatcher(first, failing, nothing, second).shell_env(
        ShellEnv(session_id="s", directory="/d", env={"HOME": "/h", "PATH": "/bin"})
    )
    assert result.env == {"PATH": "/bin", "A": "1", "B": "second"}
    assert result.changes == {"A": "1", "B": "second", "HOME": None, "MISSING": None}
    assert second.seen[0] is not None
    assert second.seen[0]["env"] == {"HOME": "/h", "PATH": "/bin", "A": "1", "B": "first"}
    assert [failure.plugin for failure in result.failures] == ["failing"]


async def test_a_gate_passes_rewritten_arguments_on() -> None:
    first = Scripted("first", {"toolArgs": '{"a":2}', "additionalContext": "rewrote"})
    second = Scripted("second", {"toolArgs": None})
    silent = Scripted("silent", None)
    result = await dispatcher(first, second, silent).tool_execute_before(
        ToolExecuteBefore(session_id="s", tool_name="t", tool_args='{"a":1}')
    )
    assert result.tool_args == '{"a":2}'
    assert result.rewritten
    assert result.contexts == ["rewrote"]
    assert result.failures == []
    assert silent.seen == second.seen
    assert second.seen == [{"sessionId": "s", "toolName": "t", "toolArgs": '{"a":2}'}]
    assert result.output() == {"additionalContext": ["rewrote"], "toolArgs": '{"a":2}'}


async def test_a_gates_first_error_stops_the_tool_and_the_walk() -> None:
    first = Scripted("first", {"additionalContext": "lost"})
    second = Scripted("second", RemoteError("second", "hook/invoke", -32000, "not today", None))
    third = Scripted("third", None)
    result = await dispatcher(first, second, third).tool_execute_before(ToolExecuteBefore())
    assert (result.blocked_by, result.reason) == ("second", "not today")
    assert result.contexts == ()
    assert third.seen == []


async def test_a_gate_that_gives_no_reason_is_named_with_its_error() -> None:
    mute = Scripted("mute", RemoteError("mute", "hook/invoke", -32000, "", None))
    result = await dispatcher(mute).tool_execute_before(ToolExecuteBefore())
    assert result.reason == str(mute.answer) != ""


async def test_a_chain_hands_each_plugin_the_last_ones_output() -> None:
    plugins = [
        Scripted("shout", {"output": "HELLO", "isError": False}),
        Scripted("silent", {}),
        Scripted("broken", ValueError("oops")),
        Scripted("flag", {"isError": True}),
        Scripted("context", {"additionalContext": ["note"]}),
        Scripted("last", None),
    ]
    result = await dispatcher(*plugins).tool_execute_after(
        ToolExecuteAfter(tool_name="t", tool_args="{}", output="hello")
    )
    assert (result.text, result.is_error, result.changed) == ("HELLO", True, True)
    assert result.contexts == ["note"]
    assert plugins[-1].seen == [
        {"sessionId": "", "toolName": "t", "toolArgs": "{}", "output": "HELLO", "isError": True}
    ]


async def test_absent_output_is_unchanged_and_empty_output_is_emptied() -> None:
    for answer, text in (({"output": ""}, ""), ({"output": None}, "secret"), ({}, "secret")):
        result = await dispatcher(Scripted("p", answer)).tool_execute_after(
            ToolExecuteAfter(output="secret")
        )
        assert result.text == text


async def test_long_contexts_are_cut_at_characters_one_by_one_and_together() -> None:
    long = "\N{GRINNING FACE}" * (CONTEXT_MAX + 1)
    result = await dispatcher(Scripted("p", {"additionalContext": [long]})).session_start(
        SessionStart()
    )
    assert result.contexts == ["\N{GRINNING FACE}" * CONTEXT_MAX + CONTEXT_SUFFIX]
    flood = Scripted("p", {"additionalContext": [long] * 100})
    result = await dispatcher(flood, flood).session_start(SessionStart())
    assert sum(map(len, result.contexts)) <= CONTEXT_TOTAL_MAX + len(CONTEXT_SUFFIX)


async def test_contexts_that_just_fit_are_whole_and_what_is_beyond_them_is_dropped() -> None:
    full = "x" * CONTEXT_MAX
    plugin = Scripted("p", {"additionalContext": [full] * 6})
    result = await dispatcher(plugin).session_start(SessionStart())
    assert result.contexts == [full] * 5
    nearly = Scripted("p", {"additionalContext": [full] * 4 + [full[1:], "ab"]})
    result = await dispatcher(nearly).session_start(SessionStart())
    assert result.contexts == [*[full] * 4, full[1:], "a" + CONTEXT_SUFFIX]


async def test_what_it_all_came_to_is_told_in_wire_form() -> None:
    env = Scripted("p", {"env": {"A": "1", "B": None}})
    assert (await dispatcher(env).shell_env(ShellEnv())).output() == {"env": {"A": "1", "B": None}}
    note = Scripted("p", {"additionalContext": "note"})
    after = await dispatcher(note).tool_execute_after(ToolExecuteAfter(output="x"))
    assert (after.changed, after.output()) == (False, {"additionalContext": ["note"]})
    both = Scripted("p", {"additionalContext": "note", "output": "y"})
    after = await dispatcher(both).tool_execute_after(ToolExecuteAfter(output="x", is_error=True))
    expected = {"additionalContext": ["note"], "output": "y", "isError": True}
    assert (after.changed, after.output()) == (True, expected)
    before = await dispatcher(note).tool_execute_before(ToolExecuteBefore(tool_args="{}"))
    assert (before.rewritten, before.output()) == (False, {"additionalContext": ["note"]})


async def test_a_hook_may_be_dispatched_without_input() -> None:
    plugin = Scripted("p", None)
    result = await dispatcher(plugin).dispatch("session.start")
    other = await dispatcher(plugin).dispatch("my.event")
    assert plugin.seen == [{"sessionId": "", "directory": ""}, None]
    assert result.failures == other.failures == []


def test_limits_and_times_are_those_that_are_documented() -> None:
    assert (CONTEXT_MAX, CONTEXT_TOTAL_MAX) == (10_000, 50_000)
    answer = Answer("p", "plg_1", None, {"a": 1}, None, 1.23456)
    assert answer.to_json() == {"name": "p", "output": {"a": 1}, "ms": 1.235}


async def test_custom_events_go_to_those_that_declared_them_and_dispose_to_nobody() -> None:
    plugin = Scripted("p", {"any": "thing"})
    result = await dispatcher(plugin).dispatch("my.event", {"x": 1})
    assert plugin.seen == [{"x": 1}]
    assert result.answers[0].raw == {"any": "thing"}
    assert result.failures == []
    with pytest.raises(InvalidCall, match="dispose"):
        await dispatcher(plugin).dispatch("dispose")


@pytest.mark.parametrize(
    ("hook", "input"),
    [
        ("permission.ask", {"toolName": 3}),
        ("shell.env", {"env": {"A": None}}),
        ("tool.execute.after", {"isError": "false"}),
    ],
)
async def test_input_that_does_not_fit_its_hook_is_the_callers_mistake(
    hook: str, input: dict[str, Any]
) -> None:
    with pytest.raises(InvalidCall, match=f"does not fit hook {hook}"):
        await dispatcher(Scripted("p", None)).dispatch(hook, input)


VERDICTS = st.sampled_from([None, {"allowed": True}, {"allowed": False}, {}, "junk"])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(VERDICTS, st.floats(0, 3)), max_size=6))
def test_a_query_agrees_with_the_rule_in_one_line(said: list[tuple[Any, float]]) -> None:
    plugins = [Scripted(f"p{i}", answer, delay) for i, (answer, delay) in enumerate(said)]

    async def run() -> Any:
        return await dispatcher(*plugins).permission_ask(PermissionAsk())

    result = trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
    opinions = [a.get("allowed", False) for a, _ in said if isinstance(a, dict)]
    assert result.allowed is (None if not opinions else all(opinions))
    assert len(result.failures) == sum(a == "junk" for a, _ in said)


async def test_real_processes_are_asked_in_load_order(
    add_plugin: Callable[[str, str], Path], home: Path
) -> None:
    body = "handshake(hooks=['tool.execute.after', 'permission.ask'])\nserve(on_hook=answer)\n"
    for name in ("b", "a", "c"):
        add_plugin(
            name,
            "def answer(params):\n"
            "    if params['name'] == 'permission.ask': return {'output': {'allowed': True}}\n"
            f"    return {{'output': {{'output': params['input']['output'] + {name!r}}}}}\n" + body,
        )
    async with tinyhost.open_manager() as manager:
        await manager.load_all(["b", "a", "c"])
        walk = Dispatcher(manager.with_hook)
        result = await walk.tool_execute_after(ToolExecuteAfter(output="-"))
        assert result.text == "-bac"
        asked = await walk.permission_ask(PermissionAsk(tool_name="bash", tool_args="{}"))
        assert asked.allowed is True
        await manager.unload("a")
        result = await walk.tool_execute_after(ToolExecuteAfter(output="-"))
        assert result.text == "-bc"
