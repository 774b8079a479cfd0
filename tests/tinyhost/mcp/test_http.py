"""Servers behind streamable HTTP: real ones, and one that we write as we like."""

from __future__ import annotations

import gzip
import json
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from mcphelp import StartHttp, load, settings, until

import tinyhost
from tinyhost import (
    CallTimeout,
    ClientCallbacks,
    ConfigError,
    FrameTooLarge,
    LoadError,
    McpServer,
    OutcomeUncertain,
    PluginDied,
    ProtocolError,
    State,
)
from tinyhost.config import parse_config
from tinyhost.dialects.mcp_callers import Question, client_here

HERE = Path(__file__).parent
AddHttp = Callable[[str], str]


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """What the servers of add_http were sent, a line for each."""
    file = tmp_path / "seen"
    file.touch()
    return file


@pytest.fixture
def add_http(tmp_path: Path, start_http: StartHttp, seen: Path) -> AddHttp:
    """add_http(body): start a server in Python that has the words of httpwords.py."""

    def add(body: str, name: str = "http_server.py") -> str:
        script = tmp_path / name
        prelude = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nfrom httpwords import *\n"
        script.write_text(prelude + textwrap.dedent(body))
        return start_http([sys.executable, str(script)], SEEN=str(seen))

    return add


PLAIN = "run(lambda http: legacy(http, lambda http: http.result(text('ok')), 'session-1'))"


# --- real servers


async def test_the_everything_server_of_npm_behind_http(
    home: Path, node_servers: Path, start_http: StartHttp
) -> None:
    program = str(node_servers / ".bin" / "mcp-server-everything")
    server = McpServer(url=start_http(["node", program, "streamableHttp"]))
    lines: list[str] = []
    async with tinyhost.open_manager(directory=home) as manager:
        plugin = await load(manager, server)
        assert (plugin.info.dialect, plugin.info.pid) == ("mcp", None)
        assert plugin.info.path == server.url
        assert (await plugin.call_tool("echo", {"message": "hi"})).content == "Echo: hi"
        args = {"duration": 0.2, "steps": 2}
        await plugin.call_tool("trigger-long-running-operation", args, on_progress=lines.append)
        assert lines == ["1 of 2", "2 of 2"]
        # The server asks for them on its own stream.
        roots = await plugin.call_tool("get-roots-list")
        assert f"URI: file://{home}" in roots.content
        assert len(await plugin.capabilities["resources"].list()) > 0
        await plugin.capabilities["ping"]()


PYTHON_SERVER = """
import os
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("python", version="2.5")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool()
async def slow(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half")
    return "done"

@server.resource("note://{name}")
def note(name: str) -> str:
    return "about " + name

@server.prompt()
def greet(name: str) -> str:
    return "Greet " + name

if "PORT" in os.environ:
    server.run("streamable-http", host="127.0.0.1", port=int(os.environ["PORT"]))
else:
    server.run("stdio")
"""


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_server_made_with_the_python_sdk(
    home: Path, tmp_path: Path, start_http: StartHttp, transport: str
) -> None:
    script = tmp_path / "sdk_server.py"
    script.write_text(PYTHON_SERVER)
    argv = [sys.executable, str(script)]
    server = McpServer(url=start_http(argv)) if transport == "http" else McpServer(command=argv)
    lines: list[str] = []
    async with tinyhost.open_manager(directory=home) as manager:
        plugin = await load(manager, server)
        assert plugin.info.version == "2.5"
        result = await plugin.call_tool("add", {"a": 2, "b": 3})
        assert result.content == "5"
        assert result.details["structuredContent"] == {"result": 5}
        assert (await plugin.call_tool("slow", on_progress=lines.append)).content == "done"
        assert lines == ["half"]
        [template] = await plugin.capabilities["resources"].templates()
        assert template.uri == "note://{name}"
        [found] = await plugin.capabilities["resources"].read("note://x")
        assert found.text == "about x"
        [message] = await plugin.capabilities["prompts"].get("greet", {"name": "Ada"})
        assert message.text == "Greet Ada"


# --- sessions and headers


async def test_a_session_is_named_in_each_request_and_ended(
    home: Path, add_http: AddHttp, seen: Path
) -> None:
    url = add_http("""
        def call(http):
            named = http.headers["mcp-session-id"], http.headers["mcp-protocol-version"]
            http.result(text(" ".join(named)))
        run(lambda http: legacy(http, call, "session-1"))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        assert (await plugin.call_tool("t")).content == "session-1 2025-11-25"
    assert seen.read_text().splitlines() == [
        "POST server/discover",
        "POST initialize",
        "POST notifications/initialized",
        "POST tools/list",
        "GET",
        "POST tools/call",
        "DELETE session-1",
    ]


async def test_modern_requests_say_in_headers_what_they_are(
    home: Path, add_http: AddHttp, seen: Path
) -> None:
    url = add_http("""
        def call(http):
            names = "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-where"
            http.result(text(" ".join(http.headers[name] for name in names)))
        run(lambda http: modern(http, call))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        assert [tool.name for tool in plugin.info.tools] == ["t"]
        result = await plugin.call_tool("t", {"where": "here"})
        assert result.content == "2026-07-28 tools/call t here"
    assert "GET" not in seen.read_text()
    assert "DELETE" not in seen.read_text()


async def test_configured_headers_are_sent_and_never_shown(
    home: Path, add_http: AddHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = add_http("""
        def call(http):
            http.error(-1, "no good: " + http.headers["authorization"])
        run(lambda http: legacy(http, call) if http.headers["authorization"] == "Bearer k3y-k3y"
            else http.status(401))
        """)
    monkeypatch.setenv("TOKEN", "k3y-k3y")
    server = McpServer(url=url + "?key=s3cret", headers={"Authorization": "Bearer ${TOKEN}"})
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, server)
        assert "s3cret" not in plugin.info.path
        assert "k3y" not in repr(server)
        with pytest.raises(LoadError, match="status 401: it wants credentials") as caught:
            await load(manager, McpServer(url=url + "?key=s3cret"), "other")
        assert "s3cret" not in str(caught.value)


async def test_a_variable_that_is_missing_is_named(home: Path) -> None:
    server = McpServer(url="http://127.0.0.1:9/", headers={"X": "${NO_SUCH_VARIABLE}"})
    async with tinyhost.open_manager() as manager:
        with pytest.raises(ConfigError, match=r"headers\.X: the variable NO_SUCH_VARIABLE"):
            await load(manager, server)


# --- redirects


async def test_a_redirect_to_another_server_is_not_followed(
    home: Path, add_http: AddHttp, seen: Path, start_http: StartHttp
) -> None:
    url = add_http("run(lambda http: http.status(307, location='http://localhost:9/mcp'))")
    server = McpServer(url=url, headers={"Authorization": "secret"})
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match="redirects to http://localhost, which is not followed"):
            await load(manager, server)


async def test_a_redirect_on_the_same_server_is_followed(home: Path, add_http: AddHttp) -> None:
    url = add_http("""
        def post(http):
            if http.path == "/mcp":
                http.status(308, location="/other")
            else:
                legacy(http, lambda http: http.result(text(http.path)))
        run(post)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        assert (await plugin.call_tool("t")).content == "/other"


async def test_redirects_in_a_circle_end(home: Path, add_http: AddHttp) -> None:
    url = add_http("run(lambda http: http.status(307, location=http.path))")
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match="redirects more than 3 times"):
            await load(manager, McpServer(url=url))


# --- sessions that end, servers that go away


@pytest.mark.parametrize("refusal", ["http.status(404)", "http.error(-32000, 'No session', 400)"])
async def test_a_session_that_was_forgotten_is_begun_anew_for_the_call(
    home: Path, add_http: AddHttp, seen: Path, refusal: str
) -> None:
    url = add_http(f"""
        sessions = []
        def post(http):
            if http.method == "initialize":
                sessions.append("s%d" % len(sessions))
            elif http.method == "tools/call" and len(sessions) == 1:
                return {refusal}
            legacy(http, lambda http: http.result(text(sessions[-1])), sessions[-1:][0] if sessions else None)
        run(post)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        assert (await plugin.call_tool("t")).content == "s1"
        assert plugin.info.counters.restarts == 1
    assert seen.read_text().count("POST tools/call") == 2


async def test_a_server_that_cannot_be_reached_fails_the_load_with_its_address(
    home: Path,
) -> None:
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=r"cannot be reached at http://127\.0\.0\.1:9/mcp"):
            await load(manager, McpServer(url="http://127.0.0.1:9/mcp?key=s3cret"))
        assert manager.plugins == []


async def test_an_answer_that_is_broken_off_is_uncertain_and_the_next_call_connects_anew(
    home: Path, add_http: AddHttp
) -> None:
    url = add_http("""
        calls = []
        def call(http):
            calls.append(1)
            if len(calls) % 2:
                http.open_stream()
                http.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
            else:
                http.result(text("ok"))
        run(lambda http: legacy(http, call))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        with pytest.raises(OutcomeUncertain, match="ended its stream before it answered"):
            await plugin.call_tool("t")
        assert (await plugin.call_tool("t")).content == "ok"


async def test_a_connection_that_breaks_counts_as_a_death_and_too_many_need_a_person(
    home: Path, add_http: AddHttp
) -> None:
    url = add_http("""
        import socket
        def call(http):
            http.connection.shutdown(socket.SHUT_RDWR)
        run(lambda http: legacy(http, call))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        with pytest.raises(OutcomeUncertain, match="not known"):
            await plugin.call_tool("t")
        assert plugin.state is State.RESTARTING
        # The first time it is connected again at once, then after a pause.
        with pytest.raises(OutcomeUncertain):
            await plugin.call_tool("t")
        with pytest.raises(PluginDied, match=r"may be connected again in 1\.0 s"):
            await plugin.call_tool("t")
        await plugin.restart()  # type: ignore[attr-defined]
        assert plugin.state is State.READY
        assert plugin.info.counters.deaths == 2


async def test_a_call_without_an_answer_times_out_and_three_end_the_session(
    home: Path, add_http: AddHttp
) -> None:
    url = add_http("""
        def call(http):
            time.sleep(60)
        run(lambda http: legacy(http, call))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url), config=settings(tool="0.1s"))
        for state in (State.SLOW, State.SLOW, State.RESTARTING):
            with pytest.raises(CallTimeout):
                await plugin.call_tool("t")
            assert plugin.state is state
        assert "3 timeouts in a row" in plugin.info.message


async def test_progress_on_a_stream_extends_a_call(home: Path, add_http: AddHttp) -> None:
    url = add_http("""
        def call(http):
            token = http.message["params"]["_meta"]["progressToken"]
            http.open_stream()
            for step in range(4):
                time.sleep(0.15)
                params = {"progressToken": token, "progress": step}
                http.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            http.answer_event(text("done"))
        run(lambda http: legacy(http, call))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url), config=settings(tool="0.35s"))
        assert (await plugin.call_tool("t")).content == "done"


async def test_a_cancelled_call_is_told_to_older_servers(
    home: Path, add_http: AddHttp, seen: Path
) -> None:
    url = add_http("run(lambda http: legacy(http, lambda http: time.sleep(60)))")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        with trio.move_on_after(0.2):
            await plugin.call_tool("t")
        await until(lambda: "POST notifications/cancelled" in seen.read_text())


async def test_a_cancelled_call_to_a_newer_server_closes_its_stream(
    home: Path, add_http: AddHttp, seen: Path
) -> None:
    url = add_http("""
        def call(http):
            http.open_stream()
            while True:
                try:
                    http.event({"jsonrpc": "2.0", "method": "x"})
                except OSError:
                    return see("closed")
                time.sleep(0.02)
        run(lambda http: modern(http, call))
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        with trio.move_on_after(0.2):
            await plugin.call_tool("t")
        await until(lambda: "closed" in seen.read_text())
    assert "cancelled" not in seen.read_text()


async def test_stopping_ends_calls_under_way(home: Path, add_http: AddHttp) -> None:
    url = add_http("run(lambda http: legacy(http, lambda http: time.sleep(60)))")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))

        async def call() -> None:
            with pytest.raises(OutcomeUncertain, match="was stopped"):
                await plugin.call_tool("t")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.sleep(0.1)
            await manager.unload("srv")
        assert plugin.state is State.STOPPED
        with pytest.raises(PluginDied, match="was stopped"):
            await plugin.call_tool("t")


# --- what servers ask


async def test_a_question_on_the_stream_of_a_call_is_answered(
    home: Path, add_http: AddHttp
) -> None:
    async def elicit(_plugin: str, _params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": "accept", "content": {"name": "Ada"}}

    url = add_http("""
        import queue
        answers = queue.Queue()
        def call(http):
            http.open_stream()
            http.event({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}})
            http.answer_event(text(json.dumps(answers.get(timeout=10))))
        def post(http):
            if http.method == "answer":
                answers.put(http.message)
            legacy(http, call)
        run(post)
        """)
    async with tinyhost.open_manager(callbacks=ClientCallbacks(elicitation=elicit)) as manager:
        plugin = await load(manager, McpServer(url=url))
        answer = json.loads((await plugin.call_tool("t")).content)
        assert answer["id"] == "q"
        assert answer["result"]["content"] == {"name": "Ada"}


@attrs.define
class Asked:
    """A client that makes calls, and answers with its name."""

    name: str
    offered: Mapping[str, Any] = {"elicitation": {"form": {}}}
    plugins: list[str] = attrs.Factory(list)

    @property
    def who(self) -> object:
        return self.name

    async def ask(self, plugin: str, questions: Mapping[str, Question]) -> Mapping[str, Any]:
        self.plugins.append(plugin)
        return {key: {"action": "accept", "content": {"name": self.name}} for key in questions}


async def test_a_question_is_for_the_client_on_whose_stream_it_comes(
    home: Path, add_http: AddHttp
) -> None:
    """Each of two clients has a call under way, and a question comes with each."""
    url = add_http("""
        import queue, threading
        answers = {}
        both = threading.Barrier(2)
        def call(http):
            id = str(http.id)
            answers[id] = queue.Queue()
            http.open_stream()
            both.wait(30)
            http.event({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {}})
            http.answer_event(text(json.dumps(answers[id].get(timeout=30))))
        def post(http):
            if http.method == "answer":
                answers[http.message["id"]].put(http.message)
            legacy(http, call)
        run(post)
        """)
    clients = [Asked("one"), Asked("other")]
    given: dict[str, Any] = {}

    async with tinyhost.open_manager(callbacks=ClientCallbacks(clients=True)) as manager:
        plugin = await load(manager, McpServer(url=url))

        async def call(client: Asked) -> None:
            client_here.set(client)
            given[client.name] = json.loads((await plugin.call_tool("t")).content)["result"]

        async with trio.open_nursery() as nursery:
            for client in clients:
                nursery.start_soon(call, client)
    assert [client.plugins for client in clients] == [["srv"], ["srv"]]
    assert {name: answer["content"]["name"] for name, answer in given.items()} == {
        "one": "one",
        "other": "other",
    }


async def test_an_answer_on_the_servers_own_stream_counts(home: Path, add_http: AddHttp) -> None:
    url = add_http("""
        import queue
        waiting = queue.Queue()
        def call(http):
            waiting.put(http.id)
            time.sleep(60)
        def get(http):
            http.open_stream()
            http.id = waiting.get(timeout=30)
            http.answer_event(text("from elsewhere"))
        run(lambda http: legacy(http, call), get)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        assert (await plugin.call_tool("t")).content == "from elsewhere"


async def test_a_changed_list_is_heard_of_on_the_servers_own_stream(
    home: Path, add_http: AddHttp
) -> None:
    url = add_http("""
        tools = ["t"]
        def post(http):
            if http.method == "tools/list":
                schema = {"type": "object"}
                return http.result({"tools": [{"name": n, "inputSchema": schema} for n in tools]})
            legacy(http, lambda http: http.result(text("ok")))
        def get(http):
            http.open_stream()
            time.sleep(0.1)
            tools.append("u")
            http.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            time.sleep(60)
        run(post, get)
        """)
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url))
        await until(lambda: [tool.name for tool in plugin.info.tools] == ["t", "u"])


# --- answers of the wrong form


PACKED = gzip.compress(b"{}")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ("http.status(200, 'hello', content_type='text/html')", ProtocolError, "text/html"),
        ("http.status(202)", ProtocolError, "status 202"),
        ("http.status(500, 'oops')", ProtocolError, r"HTTP status 500 .*oops"),
        ("http.status(403)", ProtocolError, "403: it wants credentials"),
        ("http.status(200, '[]', content_type='application/json')", ProtocolError, "no answer"),
        ("http.status(200, '{', content_type='application/json')", ProtocolError, "no answer"),
        (
            "http.status(200, '{}', content_type='application/json', content_encoding='gzip')",
            ProtocolError,
            "packed, as 'gzip'",
        ),
        ("http.result(text('x' * 5000))", ProtocolError, "longer than 4096"),
        ("http.open_stream(); http.answer_event(text('x' * 5000))", ProtocolError, "longer than"),
        ("http.result('text')", ProtocolError, "not an object"),
        ("http.error(-5, 'tool is out')", tinyhost.RemoteError, "error -5: tool is out"),
        ("http.error(-5, 'tool is out', 500)", tinyhost.RemoteError, "error -5: tool is out"),
    ],
)
async def test_an_answer_that_is_none_is_an_error_and_the_session_goes_on(
    home: Path, add_http: AddHttp, answer: str, error: type[Exception], words: str
) -> None:
    url = add_http(f"""
        calls = []
        def call(http):
            calls.append(1)
            if len(calls) > 1:
                return http.result(text("ok"))
            {answer}
        run(lambda http: legacy(http, call))
        """)
    config = parse_config('{"settings": {"*": {"maxLineBytes": 4096}}}', "/none/config.json")
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=url), config=config)
        with pytest.raises(error, match=words):
            await plugin.call_tool("t")
        assert (await plugin.call_tool("t")).content == "ok"
        assert plugin.info.counters.deaths == 0


async def test_what_is_too_long_is_not_sent(home: Path, add_http: AddHttp) -> None:
    async with tinyhost.open_manager() as manager:
        plugin = await load(manager, McpServer(url=add_http(PLAIN)))
        with pytest.raises(FrameTooLarge, match="was not sent"):
            await plugin.call_tool("t", {"a": "x" * 11 * 1024 * 1024})
