"""Tools called by the official client over HTTP, in both ways of speaking: with a handshake and without."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcphost import Tools, hosting

from tinyhost.builtins.base import BuiltinPlugin
from tinyhost.hooks import (
    PermissionAsk,
    PermissionOutput,
    ToolExecuteAfter,
    ToolExecuteAfterOutput,
    ToolExecuteBefore,
    ToolExecuteBeforeOutput,
)
from tinyhost.surfaces.mcp import asking

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
ASK = {"permissions": {"ask": ["plugin__mine__*"]}}
ALLOW = {"permissions": {"allow": ["plugin__*"]}}


async def say(args: Mapping[str, Any], _context: Any) -> str:
    return f"said {json.dumps(args)}"


class Person:
    """Answers questions: `answers` in turn, the last of them for ever."""

    def __init__(self, *answers: types.ElicitResult) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    async def __call__(self, _context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def answer(word: str) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"answer": word})


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


@MODES
async def test_tools_are_listed_by_their_ids_with_careful_annotations(
    mode: str, home: Path
) -> None:
    async with (
        hosting(home, ALLOW, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode=mode) as client,
    ):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"plugin__mine__say", "plugin__notify__notify"} <= listed.keys()
        tool = listed["plugin__mine__say"]
        assert tool.description == "Runs say."
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is False
        assert tool.annotations.destructive_hint is True
        assert client.server_capabilities.tools == types.ToolsCapability(list_changed=True)


@MODES
async def test_a_call_takes_the_guarded_path(mode: str, home: Path) -> None:
    class Meddler(BuiltinPlugin):
        name = "meddler"

        async def tool_execute_before(self, event: ToolExecuteBefore) -> ToolExecuteBeforeOutput:
            return ToolExecuteBeforeOutput(tool_args='{"a": 2}', additional_context=["look out"])

        async def tool_execute_after(self, event: ToolExecuteAfter) -> ToolExecuteAfterOutput:
            return ToolExecuteAfterOutput(output=event.output.upper())

    plugins = (Tools("mine", {"say": say}), Meddler())
    async with hosting(home, ALLOW, *plugins) as (_, url), Client(url, mode=mode) as client:
        result = await client.call_tool("plugin__mine__say", {"a": 1})
        assert text_of(result) == 'SAID {"A": 2}\n[Hook Context]\nlook out'
        assert result.is_error is False


@MODES
async def test_a_denied_call_is_an_error_with_the_reason(mode: str, home: Path) -> None:
    config = {"permissions": {"deny": ["plugin__mine__*"]}}
    async with (
        hosting(home, config, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode=mode, elicitation_callback=Person(answer("once"))) as client,
    ):
        result = await client.call_tool("plugin__mine__say", {})
        assert result.is_error is True
        assert 'plugin__mine__say was denied: the rule "plugin__mine__*"' in text_of(result)


@MODES
async def test_the_person_is_asked_and_yes_lets_the_call_run_once(mode: str, home: Path) -> None:
    person, calls = Person(answer("once")), []

    async def count(args: Mapping[str, Any], _context: Any) -> str:
        calls.append(args)
        return "ran"

    async with (
        hosting(home, ASK, Tools("mine", {"count": count})) as (_, url),
        Client(url, mode=mode, elicitation_callback=person) as client,
    ):
        result = await client.call_tool("plugin__mine__count", {"a": 1})
        assert (text_of(result), result.is_error) == ("ran", False)
    assert calls == [{"a": 1}]
    [question] = person.asked
    assert f'plugin__mine__count is to run in {home} with {{"a":1}}' in question.message
    assert 'Asked because the rule "plugin__mine__*"' in question.message
    field = question.requested_schema["properties"]["answer"]
    assert field["enum"] == ["once", "session", "no"]


@MODES
@pytest.mark.parametrize(
    "said",
    [
        answer("no"),
        answer("sure"),
        types.ElicitResult(action="accept"),
        types.ElicitResult(action="decline"),
        types.ElicitResult(action="cancel", content={"answer": "once"}),
    ],
    ids=["no", "another word", "nothing", "declined", "cancelled"],
)
async def test_whatever_is_not_a_yes_denies_the_call(
    mode: str, said: types.ElicitResult, home: Path
) -> None:
    async with (
        hosting(home, ASK, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode=mode, elicitation_callback=Person(said)) as client,
    ):
        result = await client.call_tool("plugin__mine__say", {})
        assert result.is_error is True
        assert "the person did not allow it (asked because the rule" in text_of(result)


async def test_a_client_whose_asking_fails_is_no_fault_of_the_host(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_context: Any, _params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32603, message="no window")

    caplog.set_level("INFO", "tinyhost")
    async with (
        hosting(home, ASK, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode="legacy", elicitation_callback=fail) as client,
    ):
        result = await client.call_tool("plugin__mine__say", {})
        assert result.is_error is True
    told = [one for one in caplog.records if one.name == "tinyhost.asking"]
    assert [(one.levelname, one.exc_info) for one in told] == [("INFO", None)]
    assert "no window" in told[0].getMessage()


@MODES
async def test_a_question_that_stays_open_too_long_is_a_denial(
    mode: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.05)

    async def never(_context: Any, _params: Any) -> types.ElicitResult:
        await trio.sleep(0.5 if mode == "auto" else 5)
        return answer("once")

    async with (
        hosting(home, ASK, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode=mode, elicitation_callback=never) as client,
    ):
        # A client of today comes back with its answer, too late, and is told what happened.
        result = await client.call_tool("plugin__mine__say", {})
        assert result.is_error is True
        assert "the person did not allow it" in text_of(result)


async def test_an_answer_for_the_session_is_good_until_it_ends(home: Path) -> None:
    person = Person(answer("session"))
    async with hosting(home, ASK, Tools("mine", {"say": say})) as (_, url):
        for _ in range(2):
            async with Client(url, mode="legacy", elicitation_callback=person) as client:
                for _ in range(2):
                    assert not (await client.call_tool("plugin__mine__say", {})).is_error
    assert len(person.asked) == 2


async def test_calls_side_by_side_are_asked_about_one_after_the_other(home: Path) -> None:
    asked: list[str] = []
    at_once = most = 0

    async def elicit(_context: Any, params: Any) -> types.ElicitResult:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        asked.append(params.message)
        await trio.sleep(0.05)
        at_once -= 1
        return answer("session")

    async with (
        hosting(home, ASK, Tools("mine", {"a": say, "b": say})) as (_, url),
        Client(url, mode="legacy", elicitation_callback=elicit) as client,
        trio.open_nursery() as nursery,
    ):
        for name in "abab":
            nursery.start_soon(client.call_tool, f"plugin__mine__{name}", {})
    assert (len(asked), most) == (2, 1)


async def test_an_answer_for_the_project_writes_a_rule(home: Path) -> None:
    file = home / "config" / "config.json"
    file.write_text("{}")
    person = Person(answer("project"))
    mode = {"permissions": {"mode": "strict"}}
    async with (
        hosting(home, mode, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode="auto", elicitation_callback=person) as client,
    ):
        for _ in range(2):
            assert not (await client.call_tool("plugin__mine__say", {})).is_error
    assert len(person.asked) == 1
    assert "plugin__mine__say" in file.read_text()


@MODES
async def test_without_elicitation_a_question_is_a_denial_with_the_way_out(
    mode: str, home: Path
) -> None:
    async with (
        hosting(home, ASK, Tools("mine", {"say": say})) as (_, url),
        Client(url, mode=mode) as client,
    ):
        result = await client.call_tool("plugin__mine__say", {})
        assert result.is_error is True
        assert "Nobody can be asked here, so it is denied. To allow it:" in text_of(result)


@MODES
async def test_a_guard_that_fails_makes_a_question(mode: str, home: Path) -> None:
    class Guard(BuiltinPlugin):
        name = "guard"

        async def permission_ask(self, event: PermissionAsk) -> PermissionOutput:
            raise RuntimeError("broken")

    person = Person(answer("once"))
    plugins = (Tools("mine", {"say": say}), Guard())
    async with (
        hosting(home, ALLOW, *plugins) as (_, url),
        Client(url, mode=mode, elicitation_callback=person) as client,
    ):
        assert not (await client.call_tool("plugin__mine__say", {})).is_error
    assert "guard" in person.asked[0].message


@MODES
async def test_images_and_structured_content_are_kept(
    mode: str, home: Path, add_server: Callable[[str], Mapping[str, Any]]
) -> None:
    server = add_server(
        """
        legacy()
        image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        serve(["draw"], lambda r: {"content": [image], "structuredContent": {"x": [1, None]}})
        """
    )
    config = {"mcpServers": {"pen": server}, **ALLOW}
    async with hosting(home, config) as (_, url), Client(url, mode=mode) as client:
        result = await client.call_tool("plugin__pen__draw", {})
        [part] = result.content
        assert (part.type, part.data, part.mime_type) == ("image", "AAAA", "image/png")
        assert result.structured_content == {"x": [1, None]}


@MODES
async def test_progress_comes_in_order_and_before_the_result(
    mode: str, home: Path, add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin(
        "slow",
        """
        handshake(tools=["work"], protocol={"progress": True})
        request = recv()
        for word in ("one", "two", "three"):
            params = {"id": request["id"], "message": word}
            send({"jsonrpc": "2.0", "method": "tool/progress", "params": params})
        reply(request, {"content": "done"})
        serve()
        """,
    )
    heard: list[tuple[float, str | None]] = []

    async def progress(number: float, _total: float | None, message: str | None) -> None:
        heard.append((number, message))

    config = {"plugins": ["slow"], **ALLOW}
    async with hosting(home, config) as (_, url), Client(url, mode=mode) as client:
        result = await client.call_tool("plugin__slow__work", {}, progress_callback=progress)
        assert text_of(result) == "done"
    assert heard == [(1, "one"), (2, "two"), (3, "three")]


@MODES
@pytest.mark.parametrize("asked", [False, True])
async def test_a_call_that_the_client_gives_up_is_cancelled(
    mode: str, asked: bool, home: Path
) -> None:
    began, ended = trio.Event(), trio.Event()

    async def hang(_args: Mapping[str, Any], _context: Any) -> str:
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    person = Person(answer("once")) if asked else None
    async with (
        hosting(home, ASK if asked else ALLOW, Tools("mine", {"hang": hang})) as (_, url),
        Client(url, mode=mode, elicitation_callback=person) as client,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(client.call_tool, "plugin__mine__hang", {})
        await began.wait()
        nursery.cancel_scope.cancel()
        with trio.fail_after(5), trio.CancelScope(shield=True):
            await ended.wait()
    assert ended.is_set()


@MODES
async def test_errors_of_tools_are_results_and_unknown_tools_are_not(
    mode: str, home: Path, add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("bad", "handshake(tools=['fail'])\nfail(recv(), -32000, 'it broke')\nserve()")
    config = {"plugins": ["bad"], **ALLOW}
    async with hosting(home, config) as (_, url), Client(url, mode=mode) as client:
        result = await client.call_tool("plugin__bad__fail", {})
        assert result.is_error is True
        assert "it broke" in text_of(result)
        with pytest.raises(MCPError, match="Unknown tool: plugin__bad__gone") as caught:
            await client.call_tool("plugin__bad__gone", {})
        assert caught.value.code == types.INVALID_PARAMS


@MODES
async def test_a_long_list_comes_in_pages(mode: str, home: Path) -> None:
    plugin = Tools("mine", {f"t{number}": say for number in range(7)})
    async with (
        hosting(home, ALLOW, plugin, page_size=3) as (running, url),
        Client(url, mode=mode) as client,
    ):
        found, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            assert len(page.tools) <= 3
            found += [tool.name for tool in page.tools]
            if (cursor := page.next_cursor) is None:
                break
        assert found == [tool.id for tool in running.host.manager.tools()]
        with pytest.raises(MCPError, match="bad cursor") as caught:
            await client.list_tools(cursor="made up")
        assert caught.value.code == types.INVALID_PARAMS


async def test_a_list_asked_for_early_waits_for_the_plugins(
    home: Path, add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("late", "time.sleep(0.3)\nhandshake(tools=['t'])\nserve()")
    config = {"plugins": ["late"], **ALLOW}
    found: list[str] = []

    async def ask(url: str) -> None:
        async with Client(url) as client:
            found.extend(tool.name for tool in (await client.list_tools()).tools)

    async with trio.open_nursery() as nursery:
        early = lambda url: nursery.start_soon(ask, url)  # noqa: E731
        async with hosting(home, config, on_address=early):
            while not found:
                await trio.sleep(0.01)
    assert "plugin__late__t" in found
