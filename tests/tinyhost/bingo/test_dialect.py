"""The handshake and tool calls, with a link in memory."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.bingo.matching import hooks_of
from tinyhost.bingo.types import HookPoint, HookSpec
from tinyhost.errors import CallTimeout, InvalidCall, ProtocolError
from tinyhost.model import CallContext, ToolResult
from tinyhost_sdk import wire

TOOL = {"name": "echo", "description": "Says it", "inputSchema": {"required": ["x"]}}
VIEW = {"kind": "badge", "text": "ok"}


async def test_the_handshake_says_who_and_where(link: Any) -> None:
    link.options = {"a": 1}
    await link.shake_hands()
    assert link.params("initialize") == [
        {
            "protocol": 6,
            "pluginRoot": "/plugins/stub",
            "config": {"a": 1},
            "env": {"home": "/home", "configDir": "/config", "dataDir": "/data"},
        }
    ]
    assert link.sent[0][2]["timeout"] == link.timeouts.handshake


async def test_without_options_the_config_is_null(link: Any) -> None:
    await link.shake_hands()
    assert link.params("initialize")[0]["config"] is None


async def test_a_plugin_may_declare_nothing(link: Any) -> None:
    dialect = await link.shake_hands(services=None, unknown=1)
    assert (link.manifest.tools, link.manifest.hooks, dialect.capabilities()) == ((), (), {})
    assert link.manifest.concurrency > 1


@pytest.mark.parametrize("protocol", [5, 6])
async def test_protocols_5_and_6_are_spoken(link: Any, protocol: int) -> None:
    await link.shake_hands(protocol=protocol, tools=[TOOL])
    assert [tool.id for tool in link.manifest.tools] == ["plugin__stub__echo"]


@pytest.mark.parametrize("protocol", [4, 7, 99, "6", True, 6.0, None])
async def test_another_protocol_is_refused_with_both_numbers(link: Any, protocol: Any) -> None:
    with pytest.raises(ValueError, match=rf"speaks protocol {protocol!r}.* speaks 5 and 6"):
        await link.shake_hands(protocol=protocol)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"contributors": [{"id": "a", "placement": {"kind": "middle"}}]}, r"placement.kind: 'mid"),
        ({"hooks": [{"id": "a", "points": ["nowhere"]}]}, r"hooks\[0\].points\[0\]: 'nowhere'"),
        ({"tools": [{"name": "a", "description": ""}]}, r"tools\[0\].inputSchema is missing"),
        ({"tools": [{**TOOL, "name": "a b"}]}, r"tools\[0\].name: the tool id"),
        ({"hooks": [{"id": "a", "tool": "(a*)*"}]}, r"hooks\[0\].tool: .* too complicated"),
        ({"hooks": [{"id": "a", "tool": "a("}]}, r"hooks\[0\].tool: .* no expression"),
        ({"services": {"kv": 3}}, "services.kv is a number"),
    ],
)
async def test_one_bad_declaration_refuses_the_plugin_and_names_its_path(
    link: Any, declared: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        await link.shake_hands(**declared)


async def test_another_name_or_version_than_in_the_manifest_is_logged(link: Any) -> None:
    await link.shake_hands(name="other", version="2")
    assert len(link.logged) == 2
    assert "calls itself 'other'" in link.logged[0]
    assert "'2'" in link.logged[1]


async def test_what_a_tool_claims_of_itself_does_not_count(link: Any) -> None:
    claims = {**TOOL, "meta": {"trusted": True}, "permission": "read", "readOnly": True}
    await link.shake_hands(tools=[claims, {**TOOL, "description": "again"}])
    [tool] = link.manifest.tools
    assert (tool.permission, tool.description, tool.plugin) == (None, "Says it", "stub")
    assert tool.input_schema == {"type": "object", "properties": {}, "required": ["x"]}


async def call(link: Any, dialect: Any, args: str = "{}", **extra: Any) -> ToolResult:
    [tool] = link.manifest.tools
    context = extra.pop("context", CallContext(session_id="ses_1", directory="/work"))
    result: ToolResult = await dialect.call_tool(
        link, tool, args, context, extra.pop("on_progress", None)
    )
    return result


async def test_a_call_says_who_calls_from_where(link: Any) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    link.answers["tool/call"] = {"output": {"parts": [{"type": "text", "text": "hi"}]}}
    assert await call(link, dialect, '{"n": 1.10}') == ToolResult("hi")
    [(_, params, how)] = link.sent[1:]
    assert params.pop("callId").startswith("call_")
    assert params.pop("turn").startswith("trn_")
    assert params == {"name": "echo", "input": {"n": 1.1}, "cwd": "/work", "session": "ses_1"}
    assert (how["timeout"], how["cap"]) == (link.timeouts.tool, link.timeouts.tool_cap)


async def test_a_call_without_a_directory_is_in_the_project(link: Any) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    link.answers["tool/call"] = {"output": {"parts": []}}
    for directory in ("", "/plugins/stub"):
        await call(link, dialect, context=CallContext(directory=directory))
    assert [params["cwd"] for params in link.params("tool/call")] == ["/project", "/project"]


async def test_a_directory_that_is_no_text_fails_the_call_in_words(link: Any) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    with pytest.raises(InvalidCall, match="is not UTF-8 text"):
        await call(link, dialect, context=CallContext(directory="/\udcff"))


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"parts": [], "isError": True}, ToolResult("", True)),
        (
            {"parts": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            ToolResult("a\nb"),
        ),
        (
            {"parts": [], "display": VIEW},
            ToolResult("[ok]", False, {"display": {**VIEW, "tone": "neutral"}}),
        ),
        (
            {"parts": [{"type": "image", "mediaType": "image/png", "data": "AA=="}]},
            ToolResult(
                "[image: image/png]",
                False,
                {"parts": [{"type": "image", "mediaType": "image/png", "data": "AA=="}]},
            ),
        ),
        ({"parts": [], "display": {"kind": "new", "fold": "flat"}}, None),
    ],
)
async def test_an_output_becomes_text_and_details(
    link: Any, output: Any, expected: ToolResult | None
) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    link.answers["tool/call"] = {"output": output}
    result = await call(link, dialect)
    assert result == expected if expected else result.content == "flat"


@pytest.mark.parametrize("result", [None, {}, {"output": {"parts": [{"type": "new"}]}}])
async def test_an_output_of_the_wrong_form_is_an_error(link: Any, result: Any) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    link.answers["tool/call"] = result
    with pytest.raises(ProtocolError, match="bad answer to tool/call"):
        await call(link, dialect)


def progress(call_id: object, tail: object = "half") -> wire.Notification:
    return wire.Notification("tool/progress", {"callId": call_id, "tail": tail})


async def test_progress_reaches_its_own_call_while_it_runs(link: Any) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    ids: list[str] = []

    def answer(params: Any) -> Any:
        ids.append(params["callId"])
        dialect.notified(link, progress("call_other"))
        dialect.notified(link, progress(params["callId"]))
        dialect.notified(link, progress(params["callId"], 3))
        return {"output": {"parts": []}}

    link.answers["tool/call"] = answer
    await call(link, dialect)
    dialect.notified(link, progress(ids[0]))
    assert link.extended == [(2, "half")]
    assert "tail is a number" in link.logged[0]


@pytest.mark.parametrize("sent", [True, False])
async def test_a_timeout_tells_the_plugin_if_it_saw_the_call(link: Any, sent: bool) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    link.answers["tool/call"] = CallTimeout("stub", "tool/call", 30, sent=sent)
    with pytest.raises(CallTimeout):
        await call(link, dialect)
    [params] = link.params("tool/call")
    assert link.params("tool/cancel") == ([{"callId": params["callId"]}] if sent else [])


async def test_a_cancelled_call_is_named_to_the_plugin(link: Any) -> None:
    dialect = await link.shake_hands(tools=[TOOL])
    link.answers["tool/call"] = link.for_ever
    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, link, dialect)
        await trio.testing.wait_all_tasks_blocked()
        dialect.cancelled(link, 7, "tool/call")
        dialect.cancelled(link, 2, "hook/decide")
        assert link.params("tool/cancel") == []
        dialect.cancelled(link, 2, "tool/call")
        nursery.cancel_scope.cancel()
    assert link.params("tool/cancel") == [{"callId": link.params("tool/call")[0]["callId"]}]


@pytest.mark.parametrize(
    ("pattern", "tool", "covered"),
    [
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("plugin__kv__*", "plugin__kv__set", True),
        ("plugin__kv__*", "plugin__k__set", False),
        ("*", "anything", True),
        ("Edit|Write", "Write", True),
        ("Edit|Write", "WriteAll", False),
        ("mcp__.*", "mcp__x__y", True),
        ("[A-Z][a-z]+", "Bash", True),
        ("[A-Z][a-z]+", "bash", False),
        (".", "a", True),
    ],
)
def test_a_tool_is_an_exact_name_a_prefix_or_an_expression(
    pattern: str, tool: str, covered: bool
) -> None:
    [hook] = hooks_of([HookSpec(id="a", tool=pattern)])
    assert hook.takes(HookPoint.BEFORE_TOOL, tool) is covered
    assert not hook.takes(HookPoint.STOP, None)


@given(st.text(max_size=12), st.text(max_size=40))
def test_a_pattern_is_used_or_refused_and_matches_its_own_text(pattern: str, tool: str) -> None:
    try:
        [hook] = hooks_of([HookSpec(id="a", tool=pattern)])
    except ValueError:
        return
    assert hook.takes(HookPoint.BEFORE_TOOL, pattern)
    hook.takes(HookPoint.BEFORE_TOOL, tool)


def test_no_points_are_all_points() -> None:
    [hook] = hooks_of([HookSpec(id="a")])
    assert all(hook.takes(point, "t") for point in HookPoint)
    [few] = hooks_of([HookSpec(id="a", points=(HookPoint.STOP,))])
    assert [point for point in HookPoint if few.takes(point, "t")] == [HookPoint.STOP]
