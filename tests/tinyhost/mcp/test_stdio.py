"""The wire over standard input and output, with servers that we write as we like."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
from mcphelp import AddServer, load, settings, until

import tinyhost
from tinyhost import (
    CallTimeout,
    ClientCallbacks,
    InvalidCall,
    LoadError,
    OutcomeUncertain,
    ProtocolError,
    State,
)


def log_of(home: Path, name: str = "srv") -> str:
    return (home / "state" / "logs" / f"plugin-{name}.log").read_text()


# --- revisions


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_each_older_revision_is_spoken(
    home: Path, add_server: AddServer, version: str
) -> None:
    server = add_server(
        f"asked = legacy({version!r})['params']\n"
        "serve(call=lambda r: text(asked['protocolVersion'] + str('_meta' in r['params'])))"
    )
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert plugin.info.version == "1.5"
        # Only what asks for progress has a _meta in these revisions: every tool call does.
        assert (await plugin.call_tool("t")).content == "2025-11-25True"


async def test_the_newest_revision_is_spoken_with_all_that_requests_carry(
    home: Path, add_server: AddServer
) -> None:
    server = add_server(
        "import json\nmodern()\nserve(call=lambda r: text(json.dumps(r['params'])))"
    )
    async with tinyhost.open_manager(directory=home) as manager:
        plugin = await load(manager, server)
        params = json.loads((await plugin.call_tool("t", {"a": 1})).content)
        meta = params.pop("_meta")
        assert params == {"name": "t", "arguments": {"a": 1}}
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "tinyhost"
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {"roots": {}}


async def test_a_server_that_passes_over_what_it_does_not_know_is_asked_the_old_way(
    home: Path, add_server: AddServer
) -> None:
    server = add_server(
        "recv()\nrequest = recv()\nreply(request, {'protocolVersion': '2025-06-18',"
        " 'capabilities': {'tools': {}}, 'serverInfo': INFO})\nrecv()\nserve()"
    )
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server, config=settings(handshake="4s"))
        assert (await plugin.call_tool("t")).content == "ok"


async def test_a_slow_server_that_took_the_first_question_after_all_is_asked_again(
    home: Path, add_server: AddServer
) -> None:
    server = add_server(
        "time.sleep(1.7)\nmodern()\n"
        "request = recv()\n"
        "send({'jsonrpc': '2.0', 'id': request['id'], 'error': {'code': -32022, 'message': 'no',"
        " 'data': {'supported': [VERSION]}}})\nmodern()\nserve()"
    )
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server, config=settings(handshake="3s"))
        assert (await plugin.call_tool("t")).content == "ok"


@pytest.mark.parametrize(
    "body",
    [
        "request = recv()\nsend({'jsonrpc': '2.0', 'id': request['id'], 'error': {'code': -32022,"
        " 'message': 'no', 'data': {'supported': ['2031-01-01']}}})",
        "legacy('2031-01-01')",
    ],
)
async def test_a_server_of_another_time_is_refused_with_both_sides_revisions(
    home: Path, add_server: AddServer, body: str
) -> None:
    server = add_server(body + "\nserve()")
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match="it speaks MCP 2031-01-01, and this host 2026-07-28"):
            await load(manager, server)


@pytest.mark.parametrize(
    "body",
    [
        "fail(recv(), 1, 'x')\nfail(recv(), -5, 'not today')",
        "fail(recv(), 1, 'x')\nreply(recv(), 'text')",
        "fail(recv(), 1, 'x')\nreply(recv(), {'protocolVersion': '2025-11-25'})",
        "legacy()\nserve(tools_list=lambda r: {'tools': 3})",
        "legacy()\nserve(tools_list=lambda r: {'tools': [], 'nextCursor': 3})",
        "modern()\nserve(tools_list=lambda r: {'resultType': 'hologram', 'tools': []})",
    ],
)
async def test_a_handshake_of_the_wrong_form_fails_the_load(
    home: Path, add_server: AddServer, body: str
) -> None:
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match="failed to load at handshake"):
            await load(manager, add_server(body + "\nserve()"))


# --- lists of tools


async def test_a_list_in_pages_is_read_to_its_end(home: Path, add_server: AddServer) -> None:
    server = add_server("""
        legacy()
        def page(request):
            number = int(request["params"].get("cursor", 0))
            more = {"nextCursor": str(number + 1)} if number < 4 else {}
            return {"tools": [tool("t%d" % number)], **more}
        serve(tools_list=page)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert [tool.name for tool in plugin.info.tools] == ["t0", "t1", "t2", "t3", "t4"]


async def test_a_cursor_that_repeats_ends_the_list_with_a_warning(
    home: Path, add_server: AddServer
) -> None:
    server = add_server(
        "legacy()\nserve(tools_list=lambda r: {'tools': [tool('t')], 'nextCursor': 'again'})"
    )
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert [tool.name for tool in plugin.info.tools] == ["t"]
    assert "warning: tools/list was cut after 2 entries: it repeats a cursor" in log_of(home)


async def test_pages_without_end_are_cut(home: Path, add_server: AddServer) -> None:
    server = add_server("""
        legacy()
        def page(request):
            number = int(request["params"].get("cursor", 0))
            return {"tools": [tool("t%d" % number)], "nextCursor": str(number + 1)}
        serve(tools_list=page)
        """)
    async with tinyhost.open_manager() as manager:
        assert len((await load(manager, server)).info.tools) == 100
    assert "warning: tools/list was cut after 100 entries: it is too long" in log_of(home)


async def test_a_tool_that_cannot_be_offered_is_left_out_with_a_warning(
    home: Path, add_server: AddServer
) -> None:
    server = add_server(
        "legacy()\nserve([tool('good'), {'name': 'bad'}, tool('a.b'), tool('a b')],"
        " call=lambda r: text(r['params']['name']))"
    )
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert [tool.name for tool in plugin.info.tools] == ["good", "a_b"]
        assert (await manager.call_tool("srv", "plugin__srv__a_b")).content == "a.b"
    log = log_of(home)
    assert "a tool is left out: the inputSchema of 'bad' does not describe an object" in log
    assert "a tool is left out: its name 'a b' is the same as 'a.b' here" in log


@pytest.mark.parametrize("start", ["legacy(tools={'listChanged': True})", "modern()"])
async def test_a_changed_list_is_read_anew(home: Path, add_server: AddServer, start: str) -> None:
    server = add_server(f"""
        {start}
        tools = [tool("t")]
        def call(request):
            tools.append(tool("u"))
            notify("notifications/tools/list_changed")
            return text("ok")
        serve(tools_list=lambda r: {{"tools": tools}}, call=call)
        """)
    seen = []
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        manager.observers.append(lambda kind, _plugin, _text: seen.append(kind))
        await plugin.call_tool("t")
        await until(lambda: len(plugin.info.tools) == 2)
        assert seen == ["changed"]
        assert manager.owner("plugin__srv__u") is plugin
        assert (await plugin.call_tool("u")).content == "ok"


async def test_modern_servers_are_asked_to_tell_of_changes(
    home: Path, add_server: AddServer
) -> None:
    server = add_server("""
        modern(tools={"listChanged": True})
        tools = [tool("t")]
        def listen(request):
            assert request["params"]["notifications"] == {"toolsListChanged": True}
            tools.append(tool("u"))
            meta = {"io.modelcontextprotocol/subscriptionId": request["id"]}
            notify("notifications/subscriptions/acknowledged", _meta=meta)
            notify("notifications/tools/list_changed", _meta=meta)
        serve(tools_list=lambda r: {"tools": tools}, subscriptions_listen=listen)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        await until(lambda: len(plugin.info.tools) == 2)
        assert plugin.state is State.READY


async def test_a_storm_of_changes_costs_one_reading_at_a_time(
    home: Path, add_server: AddServer
) -> None:
    server = add_server("""
        legacy(tools={"listChanged": True})
        listed = []
        def page(request):
            listed.append(1)
            for _ in range(200):
                notify("notifications/tools/list_changed")
            return {"tools": [tool("t")]}
        serve(tools_list=page, call=lambda r: text(str(len(listed))))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        await trio.sleep(0.2)
        assert int((await plugin.call_tool("t")).content) <= 3


# --- calls


async def test_arguments_must_be_an_object(home: Path, add_server: AddServer) -> None:
    server = add_server("legacy()\nserve(call=lambda r: text(str(r['params'].get('arguments'))))")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert (await plugin.call_tool("t")).content == "None"
        with pytest.raises(InvalidCall, match="not an object"):
            await plugin.call_tool("t", [1])


@pytest.mark.parametrize(
    "result",
    ["'text'", "{'content': 'text'}", "{'content': [{'type': 'text'}]}", "{'isError': 1}"],
)
async def test_an_answer_of_the_wrong_form_is_an_error(
    home: Path, add_server: AddServer, result: str
) -> None:
    server = add_server(f"legacy()\nserve(call=lambda r: {result})")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        with pytest.raises(ProtocolError, match="bad answer to tool t"):
            await plugin.call_tool("t")
        assert plugin.state is State.READY


async def test_many_calls_are_under_way_at_once(home: Path, add_server: AddServer) -> None:
    server = add_server("""
        legacy()
        waiting = []
        def call(request):
            waiting.append(request)
            if len(waiting) == 20:
                for each in reversed(waiting):
                    reply(each, text(str(each["params"]["arguments"]["n"])))
        serve(call=call)
        """)
    answers = {}
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)

        async def call(number: int) -> None:
            answers[number] = (await plugin.call_tool("t", {"n": number})).content

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(call, number)
    assert answers == {number: str(number) for number in range(20)}


async def test_progress_extends_a_call_and_is_told(home: Path, add_server: AddServer) -> None:
    server = add_server("""
        legacy()
        def call(request):
            token = request["params"]["_meta"]["progressToken"]
            for step in range(4):
                time.sleep(0.15)
                notify("notifications/progress", progressToken=token, progress=step, total=4)
            notify("notifications/progress", progressToken=token, progress=4, message="nearly")
            notify("notifications/progress", progressToken="other", progress=4)
            notify("notifications/progress", progressToken=True, progress=4)
            return text("done")
        serve(call=call)
        """)
    lines: list[str] = []
    async with tinyhost.open_manager(settings(tool="0.3s")) as manager:
        plugin = await load(manager, server, config=settings(tool="0.3s"))
        result = await plugin.call_tool("t", on_progress=lines.append)
    assert result.content == "done"
    assert lines == ["0 of 4", "1 of 4", "2 of 4", "3 of 4", "nearly"]


@pytest.mark.parametrize("start", ["legacy()", "modern()"])
@pytest.mark.parametrize("ends", ["by its caller", "by its deadline"])
async def test_a_call_that_ends_early_is_cancelled_at_the_server(
    home: Path, add_server: AddServer, start: str, ends: str
) -> None:
    server = add_server(f"""
        {start}
        calls, cancelled = [], []
        def call(request):
            calls.append(request["id"])
            if len(calls) == 1:
                return None
            return text("yes" if cancelled == calls[:1] else "no: %r" % cancelled)
        def noted(note):
            if note["method"] == "notifications/cancelled":
                cancelled.append(note["params"]["requestId"])
        serve(call=call, noted=noted)
        """)
    tool = "0.2s" if ends == "by its deadline" else "10s"
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server, config=settings(tool=tool))
        with trio.move_on_after(0.2 if ends == "by its caller" else 5):
            with contextlib.suppress(CallTimeout):
                await plugin.call_tool("t")
        assert (await plugin.call_tool("t")).content == "yes"


async def test_a_death_in_a_call_is_uncertain_and_the_next_call_starts_anew(
    home: Path, add_server: AddServer
) -> None:
    server = add_server("modern()\nserve(call=lambda r: sys.exit(3))")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        with pytest.raises(OutcomeUncertain):
            await plugin.call_tool("t")
        with pytest.raises(OutcomeUncertain):
            await plugin.call_tool("t")
        assert plugin.info.counters.restarts == 1


# --- what servers ask


async def ask(plugin: tinyhost.Plugin, method: str, **params: Any) -> Any:
    result = await plugin.call_tool("t", {"method": method, "params": params})
    return json.loads(result.content)


ASKING = """
import json
legacy()
asked = {}
def call(request):
    wanted = request["params"]["arguments"]
    asked["q-1"] = request
    send({"jsonrpc": "2.0", "id": "q-1", "method": wanted["method"], "params": wanted["params"]})
while (message := recv()) is not None:
    if message.get("method") == "tools/list":
        reply(message, {"tools": [tool("t")]})
    elif message.get("method") == "tools/call":
        call(message)
    elif "method" not in message:
        reply(asked.pop(message["id"]), text(json.dumps(message.get("result", message.get("error")))))
"""


async def test_roots_are_the_project_and_pings_are_answered(
    home: Path, add_server: AddServer, tmp_path: Path
) -> None:
    project = tmp_path / "the project"
    project.mkdir()
    async with tinyhost.open_manager(directory=project) as manager:
        plugin = await load(manager, add_server(ASKING))
        root = {"uri": f"file://{tmp_path}/the%20project", "name": "the project"}
        assert await ask(plugin, "roots/list") == {"roots": [root]}
        assert await ask(plugin, "ping") == {}


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create", "tasks/list"])
async def test_what_the_host_does_not_offer_is_refused(
    home: Path, add_server: AddServer, method: str
) -> None:
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, add_server(ASKING))
        refusal = await ask(plugin, method)
        assert refusal == {"code": -32601, "message": f"this host does not offer {method}"}
        assert plugin.state is State.READY


async def test_callbacks_of_the_host_answer_and_defaults_fill_a_form(
    home: Path, add_server: AddServer
) -> None:
    async def sample(plugin: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"role": "assistant", "model": plugin, "content": params["messages"]}

    async def elicit(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "accept", "content": {"a": 1}}

    callbacks = ClientCallbacks(sampling=sample, elicitation=elicit)
    async with tinyhost.open_manager(callbacks=callbacks) as manager:
        plugin = await load(manager, add_server(ASKING))
        sampled = await ask(plugin, "sampling/createMessage", messages=["m"])
        assert sampled == {"role": "assistant", "model": "srv", "content": ["m"]}
        fields = {"a": {"default": 0}, "b": {"default": "x"}, "c": {}}
        given = await ask(plugin, "elicitation/create", requestedSchema={"properties": fields})
        assert given == {"action": "accept", "content": {"a": 1, "b": "x"}}


async def test_a_callback_that_fails_tells_the_server_nothing(
    home: Path, add_server: AddServer
) -> None:
    async def fail(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError("secret")

    async def nonsense(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "perhaps"}

    callbacks = ClientCallbacks(sampling=fail, elicitation=nonsense)
    async with tinyhost.open_manager(callbacks=callbacks) as manager:
        plugin = await load(manager, add_server(ASKING))
        for method in ("sampling/createMessage", "elicitation/create"):
            refusal = await ask(plugin, method)
            assert refusal == {"code": -32603, "message": "the host could not answer"}


async def test_a_call_that_waits_for_the_person_does_not_run_out_of_time(
    home: Path, add_server: AddServer
) -> None:
    async def elicit(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        await trio.sleep(0.8)
        return {"action": "decline"}

    callbacks = ClientCallbacks(elicitation=elicit)
    async with tinyhost.open_manager(callbacks=callbacks) as manager:
        plugin = await load(manager, add_server(ASKING), config=settings(tool="0.3s"))
        assert await ask(plugin, "elicitation/create") == {"action": "decline"}


MULTI_ROUND = """
import json
modern()
def call(request):
    params = request["params"]
    if "inputResponses" not in params:
        question = {"method": params["arguments"]["method"], "params": {"message": "?"}}
        return {"resultType": "input_required", "inputRequests": {"k": question},
                "requestState": "opaque"}
    return text(json.dumps([params["inputResponses"], params["requestState"]]))
serve(call=call)
"""


async def test_a_modern_server_asks_in_its_result_and_gets_the_call_again(
    home: Path, add_server: AddServer
) -> None:
    async def elicit(_plugin: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "accept", "content": {"said": params["message"]}}

    callbacks = ClientCallbacks(elicitation=elicit)
    async with tinyhost.open_manager(directory=home, callbacks=callbacks) as manager:
        plugin = await load(manager, add_server(MULTI_ROUND))
        answers, state = json.loads(
            (await plugin.call_tool("t", {"method": "elicitation/create"})).content
        )
        assert answers == {"k": {"action": "accept", "content": {"said": "?"}}}
        assert state == "opaque"
        answers, _ = json.loads((await plugin.call_tool("t", {"method": "roots/list"})).content)
        assert answers["k"]["roots"][0]["name"] == home.name
        with pytest.raises(ProtocolError, match="does not offer sampling/createMessage"):
            await plugin.call_tool("t", {"method": "sampling/createMessage"})


@pytest.mark.parametrize(
    "result",
    [
        "{'resultType': 'input_required'}",
        "{'resultType': 'input_required', 'inputRequests': []}",
        "{'resultType': 'input_required', 'inputRequests': {'k': {}}}",
        "{'resultType': 'input_required', 'requestState': 1}",
        "{'resultType': 'input_required', 'requestState': 'for ever'}",
        "{'resultType': 'task'}",
        "{'resultType': None}",
    ],
)
async def test_questions_of_the_wrong_form_or_without_end_fail_the_call(
    home: Path, add_server: AddServer, result: str
) -> None:
    server = add_server(f"modern()\nserve(call=lambda r: {result})")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        with pytest.raises(ProtocolError, match="bad answer to tool t"):
            await plugin.call_tool("t")


async def test_a_request_of_a_modern_server_is_junk(home: Path, add_server: AddServer) -> None:
    server = add_server("""
        modern()
        def call(request):
            send({"jsonrpc": "2.0", "id": "s", "method": "ping", "params": {}})
            return text("ok")
        serve(call=call)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert (await plugin.call_tool("t")).content == "ok"
        assert plugin.info.counters.junk_lines == 1


# --- the log


async def test_what_a_server_logs_is_in_the_plugins_log(home: Path, add_server: AddServer) -> None:
    server = add_server("""
        legacy(logging={})
        def call(request):
            notify("notifications/message", level="info", logger="db", data="two\\nlines")
            notify("notifications/message", level="error", data={"n": 1})
            return text("ok")
        levels = []
        serve(call=call, logging_setLevel=lambda r: levels.append(r["params"]) or {})
        """)
    async with tinyhost.open_manager() as manager:
        await (await load(manager, server)).call_tool("t")
    log = log_of(home)
    assert "[info db] two lines\n" in log
    assert '[error] {"n":1}\n' in log
