"""Real bingo plugins, in Python and JavaScript, behind a manager and a host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import (
    CallTimeout,
    LoadError,
    OutcomeUncertain,
    PluginDied,
    RemoteError,
    State,
    ToolResult,
)
from tinyhost.bingo.errors import CompactionFailed, ProviderFailed
from tinyhost.bingo.forms import write
from tinyhost.bingo.messages import OutcomeApplied, OutcomeView
from tinyhost.bingo.model_types import (
    Message,
    ModelEvent,
    ModelFinish,
    ModelRequest,
    ModelTextDelta,
    Role,
)
from tinyhost.bingo.refusal import ServiceRefused
from tinyhost.bingo.types import PartText
from tinyhost.offers import NotOffered

Add = Callable[..., Path]
BOTH = pytest.mark.parametrize("protocol", [5, 6])


def content(result: ToolResult) -> Any:
    return json.loads(result.content)


async def shown(manager: tinyhost.Manager, what: str, name: str = "stub") -> Any:
    return content(await manager.call_tool(name, "echo", {"show": what}))


@BOTH
async def test_a_plugin_of_either_protocol_is_loaded_with_all_that_it_offers(
    add_stub: Add, configured: Any, protocol: int
) -> None:
    add_stub()
    async with tinyhost.open_manager(configured(stub={"protocol": protocol})) as manager:
        info = (await manager.load("stub")).info
        assert (info.dialect, info.version, info.state) == ("bingo", "1.0", State.READY)
        assert [tool.id for tool in info.tools] == ["plugin__stub__echo"]
        assert info.capabilities == {
            "commands": ["stub"],
            "contributors": ["notes", "after"],
            "compactors": ["cut"],
            "providers": ["stub"],
            "services": ["kv"],
        }
        assert info.counters.junk_lines == 1


@pytest.mark.parametrize("protocol", [4, 7, 99])
async def test_a_plugin_of_another_protocol_is_refused_with_both_numbers(
    add_stub: Add, configured: Any, protocol: int
) -> None:
    add_stub()
    async with tinyhost.open_manager(configured(stub={"protocol": protocol})) as manager:
        with pytest.raises(LoadError, match=f"protocol {protocol}, and tinyhost speaks 5 and 6"):
            await manager.load("stub")
        assert manager.tools() == []


async def test_one_bad_declaration_refuses_the_plugin(add_stub: Add, configured: Any) -> None:
    add_stub()
    bad = {"declare": {"hooks": [{"id": "a", "points": ["nowhere"]}]}}
    async with tinyhost.open_manager(configured(stub=bad)) as manager:
        with pytest.raises(LoadError, match="nowhere"):
            await manager.load("stub")


async def test_progress_reaches_its_call_in_order(add_stub: Add) -> None:
    add_stub()
    seen: list[str] = []
    async with tinyhost.open_manager() as manager:
        await manager.load("stub")
        args = {"progress": ["one", "two"], "isError": True}
        result = await manager.call_tool("stub", "echo", args, on_progress=seen.append)
    assert seen == ["one", "two"]
    assert result.is_error
    assert content(result)["input"] == args


async def test_a_death_in_a_call_is_uncertain_and_the_next_call_starts_it_again(
    add_stub: Add,
) -> None:
    add_stub()
    told: list[str] = []
    async with tinyhost.open_manager() as manager:
        manager.observers.append(lambda event, plugin, text: told.append(event))
        await manager.load("stub")
        with trio.fail_after(10), pytest.raises(OutcomeUncertain, match="status 7"):
            await manager.call_tool("stub", "echo", {"die": 7})
        assert told == ["loaded", "died"]
        assert await shown(manager, "cancelled") == []
        assert told == ["loaded", "died", "restarted"]


async def test_a_plugin_that_keeps_dying_is_left_alone_and_its_services_say_so(
    add_stub: Add,
) -> None:
    add_stub()
    async with tinyhost.open_manager() as manager:
        await manager.load("stub")
        for _ in range(2):
            with trio.fail_after(10), pytest.raises(OutcomeUncertain):
                await manager.call_tool("stub", "echo", {"die": 7})
        with pytest.raises(PluginDied, match="may be started again in"):
            await manager.offers.call_service("kv", "get", {"name": "a"})
        with pytest.raises(PluginDied):
            await manager.offers.run_command("/stub", "", directory="/")


async def test_a_call_that_is_given_up_is_named_to_the_plugin_which_goes_on(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    config = configured({"stub": {"timeouts": {"tool": "200ms"}}}, stub={})
    async with tinyhost.open_manager(config) as manager:
        await manager.load("stub")
        with trio.fail_after(10), pytest.raises(CallTimeout):
            await manager.call_tool("stub", "echo", {"silent": True})
        with trio.move_on_after(0.05):
            await manager.call_tool("stub", "echo", {"silent": True})
        cancelled = await shown(manager, "cancelled")
    assert len(cancelled) == 2
    assert all(params["callId"].startswith("call_") for params in cancelled)


async def test_a_request_that_the_host_does_not_know_is_answered(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    async with tinyhost.open_manager(configured(stub={"idPrefix": "r-"})) as manager:
        await manager.load("stub")
        with trio.fail_after(10):
            answer = content(await manager.call_tool("stub", "echo", {"method": "session/open"}))
    assert answer["error"]["code"] == -32601


# --- commands


async def test_a_command_runs_where_the_person_is(add_stub: Add, tmp_path: Path) -> None:
    add_stub()
    (tmp_path / "notes.txt").touch()
    async with tinyhost.open_manager() as manager:
        await manager.load("stub")
        where = str(tmp_path)
        offers = manager.offers
        for name in ("stub", "/stub", "/st"):
            outcome = await offers.run_command(name, " a  b", directory=where, session="ses_1")
            assert isinstance(outcome, OutcomeView)
            assert write(outcome.view)["rows"] == [
                ["name", "stub"],
                ["args", " a  b"],
                ["cwd", where],
                ["session", "ses_1"],
            ]
        assert await offers.run_command("stub", "applied", directory=where) == OutcomeApplied(
            message="done"
        )
        with pytest.raises(RemoteError, match="it will not"):
            await offers.run_command("stub", "fail", directory=where)
        with pytest.raises(NotOffered, match="the command 'nope'; there are: stub"):
            await offers.run_command("/nope", "", directory=where)
        names = await offers.complete("/s", directory=where)
        assert [completion.value for completion in names] == ["/stub"]
        files = await offers.complete("/stub note", directory=where)
        assert [completion.value for completion in files] == ["notes.txt"]
        assert await offers.complete("/stub x", directory=where) == ()


# --- compaction and providers


@BOTH
async def test_a_compactor_is_asked_in_the_words_of_its_protocol(
    add_stub: Add, configured: Any, protocol: int
) -> None:
    from tinyhost.bingo.context_messages import CompactorContext, ReasonThreshold
    from tinyhost.bingo.model_types import ContextUsage, ModelCapabilities

    def context(model: str) -> CompactorContext:
        return CompactorContext(
            items=(),
            usage=ContextUsage(used=9, window=10, trigger=8),
            capabilities=ModelCapabilities(context_window=10, max_output=1),
            request=ModelRequest(model=model, max_tokens=10),
            failures=0,
            keep_budget=3,
        )

    add_stub()
    async with tinyhost.open_manager(configured(stub={"protocol": protocol})) as manager:
        await manager.load("stub")
        compactor = await manager.offers.compactor("cut")
        compaction = await compactor.compact(context("m"), ReasonThreshold())
        assert (compaction.summary, compaction.after) == ("m", 4)
        with pytest.raises(CompactionFailed) as caught:
            await compactor.compact(context("useless"), ReasonThreshold())
        assert caught.value.useless
        if protocol == 6:
            with pytest.raises(CompactionFailed, match="OFFLINE: no net") as caught:
                await compactor.compact(context("fail"), ReasonThreshold())
            assert caught.value.usage is not None
            assert caught.value.usage.cache_read_tokens == 23
        asked = (await shown(manager, "store"))["compact"]
        assert ("request" in asked, "model" in asked) == (protocol == 6, protocol == 5)


def prompt(text: str) -> ModelRequest:
    message = Message(role=Role.USER, parts=(PartText(text=text),))
    return ModelRequest(model="stub-1", max_tokens=10, messages=(message,))


async def test_a_response_is_streamed_from_its_first_event_to_its_last(add_stub: Add) -> None:
    add_stub()
    events: list[ModelEvent] = []
    async with tinyhost.open_manager() as manager:
        await manager.load("stub")
        provider = await manager.offers.provider("stub")
        assert provider.endpoint("stub-1").images
        words = [str(number) for number in range(500)]
        with trio.fail_after(10):
            await provider.stream(prompt(" ".join(words)), events.append)
        assert [e.delta for e in events if isinstance(e, ModelTextDelta)] == words
        assert isinstance(events[-1], ModelFinish)
        with pytest.raises(ProviderFailed) as caught:
            await provider.stream(prompt("fail"), events.append)
        assert write(caught.value.error) == {"kind": "rateLimited", "retryAfterMs": 1500}


async def test_a_stream_that_is_left_is_cancelled_and_one_whose_plugin_dies_breaks(
    add_stub: Add,
) -> None:
    add_stub()
    events: list[ModelEvent] = []
    async with tinyhost.open_manager() as manager:
        await manager.load("stub")
        provider = await manager.offers.provider("stub")
        with trio.CancelScope() as scope:

            def take(event: ModelEvent) -> None:
                if isinstance(event, ModelTextDelta):
                    scope.cancel()

            await provider.stream(prompt("a hold"), take)
        assert await shown(manager, "cancelled") == [{"call": "call-1"}]
        with trio.fail_after(10), pytest.raises(ProviderFailed) as caught:
            await provider.stream(prompt("a die"), events.append)
        assert caught.value.retryable
        assert write(caught.value.error)["message"].startswith("stub: ")
        assert any(isinstance(event, ModelTextDelta) for event in events)


# --- services


async def test_two_plugins_meet_at_a_service_and_a_person_can_call_it_too(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    add_stub("other")
    config = configured(
        stub={"kinds": ["tools", "services"]}, other={"kinds": ["tools"], "name": "other"}
    )
    async with tinyhost.open_manager(config) as manager:
        await manager.load_all()

        async def call(key: str, method: str, plugin: str = "other", **params: Any) -> Any:
            asked = {"call": {"key": key, "method": method, "params": params}}
            return content(await manager.call_tool(plugin, "echo", asked))

        assert await call("kv", "set", name="a", value=[1]) == {"result": {"result": None}}
        assert await call("kv", "get", name="a") == {"result": {"result": [1]}}
        assert await manager.offers.call_service("kv", "get", {"name": "a"}) == [1]
        refused = [
            await call("nope", "get"),
            await call("kv", "del"),
            await call("kv", "get", name="b"),
        ]
        errors = [(answer["error"]["code"], answer["error"]["message"]) for answer in refused]
        assert errors == [
            (-32601, "no plugin offers the service 'nope'; there are: kv"),
            (-32603, "stub: the service kv has no method 'del'; it has: get, set"),
            (-32603, "stub: no value b"),
        ]
        # A service outlives the process that offers it.
        with pytest.raises(OutcomeUncertain):
            await manager.call_tool("stub", "echo", {"die": 1})
        assert await call("kv", "set", name="a", value=2) == {"result": {"result": None}}
        with pytest.raises(ServiceRefused, match="no plugin offers the service 'x'"):
            await manager.offers.call_service("x", "get")


async def test_the_second_claimant_of_a_name_is_told_once_and_the_first_keeps_it(
    add_stub: Add, configured: Any
) -> None:
    add_stub()
    add_stub("other")
    heard: list[tuple[str, str, str]] = []
    own = {"declare": {"services": {"bingo.host": {"methods": {"ask": {}}}}}}
    config = configured(
        stub={"kinds": ["tools", "services"]},
        other={"kinds": ["tools", "services"], "name": "other", **own},
    )
    async with tinyhost.open_manager(config) as manager:
        manager.offers.listeners.append(lambda *said: heard.append(said))
        await manager.load("stub")
        await manager.load("other")
        assert list(manager.offers.of("services")) == ["kv"]
        assert heard == [
            ("other", "warn", "its service bingo.host is not used: the host has that name"),
        ]
        await manager.unload("other")
        await manager.load("other")
        assert len(heard) == 2


# --- plugins in other hands


@BOTH
@pytest.mark.parametrize("language", ["python", "node"])
async def test_word_count_runs_as_it_is(
    home: Path, tmp_path: Path, language: str, protocol: int
) -> None:
    from tinyhost.bingo.commands import outcome_text

    folder = home / "config" / "plugins" / "wordcount"
    folder.mkdir()
    command, file = {"python": ("python3", "wordcount.py"), "node": ("node", "wordcount.js")}[
        language
    ]
    text = Path(__file__).with_name(file).read_text()
    (folder / file).write_text(text.replace("PROTOCOL = 6", f"PROTOCOL = {protocol}"))
    entry = {"command": command, "args": ["${PLUGIN_ROOT}/" + file]}
    manifest = {"name": "wordcount", "version": "0.1.0", "entry": entry}
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (tmp_path / "notes.txt").write_text("one two three\nfour\n")
    seen: list[str] = []
    async with tinyhost.open_manager(directory=tmp_path) as manager:
        await manager.load("wordcount")
        tool = "plugin__wordcount__count"
        result = await manager.owner(tool).call_tool(
            tool, {"path": "notes.txt"}, on_progress=seen.append
        )
        assert (result.content, seen) == ("4 words in notes.txt", ["reading notes.txt"])
        bad = await manager.call_tool("wordcount", "count", {"path": "none"})
        assert bad.is_error
        where = str(tmp_path)
        view = await manager.offers.run_command("/wordcount", "notes.txt", directory=where)
        assert outcome_text(view) == "file · words\nnotes.txt · 4"
        files = await manager.offers.complete("/wordcount no", directory=where)
        assert [completion.value for completion in files] == ["notes.txt"]
        with pytest.raises(RemoteError, match="cannot read"):
            await manager.offers.run_command("wordcount", "none", directory=where)
