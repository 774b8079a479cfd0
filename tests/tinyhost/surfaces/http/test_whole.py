"""The host as a whole over HTTP: events, metrics, reload, mounted apps, the page's files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from prometheus_client.parser import text_string_to_metric_families

from tinyhost import events as bus_module
from tinyhost.events import EventBus
from tinyhost.journal import FOLDER
from tinyhost.running import RunningHost
from tinyhost.surfaces.http import events as event_stream
from tinyhost.surfaces.http import http_surface
from tinyhost.surfaces.http.access import token_file
from tinyhost.surfaces.mcp import mcp_app

AddPlugin = Callable[[str, str], Path]

ECHO = "handshake(hooks=('session.start',))\nserve()"


async def test_what_happens_is_followed_live(served: Any, add_plugin: AddPlugin) -> None:
    add_plugin("echo", ECHO)
    async with served() as host, host.events() as found:
        loaded = await host.post("/plugin/load", {"name": "echo"})
        event = await found.next()
        await host.post("/session", {"sessionID": "s1"}, 201)
        while (later := await found.next())["event"] != "hook":
            pass
    data = json.loads(event["data"])
    assert event["event"] == data["kind"] == "plugin"
    assert int(event["id"]) == data["seq"]
    assert (data["id"], data["event"]) == (loaded["id"], "loaded")
    assert json.loads(later["data"])["session"] == "s1"


async def test_one_who_reads_at_once_misses_nothing_however_much_happens_at_a_time(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_module, "_PAST", 200)
    async with served() as host, host.events() as found, trio.open_nursery() as nursery:
        last = host.running.events.last
        nursery.start_soon(publish_ten_at_a_time, host.running.events, 3000)
        numbers = [int((await found.next())["id"]) for _ in range(3000)]
    assert numbers == list(range(last + 1, last + 3001))


async def publish_ten_at_a_time(bus: EventBus, count: int) -> None:
    for number in range(count):
        bus.publish("event", {"data": number})
        if number % 10 == 9:
            await trio.lowlevel.checkpoint()


async def test_a_client_that_connects_again_gets_what_it_missed(served: Any) -> None:
    async with served() as host:
        for number in range(3):
            await host.post("/plugin/event", {"event": "e", "data": number})
        last = host.running.events.last
        async with host.events("", f"Last-Event-ID: {last - 2}") as found:
            missed = [json.loads((await found.next())["data"])["data"] for _ in range(2)]
        async with host.events("?since=0") as found:
            first = await found.next()
    assert missed == [1, 2]
    assert first["id"] == "1"


async def test_who_followed_an_earlier_life_of_the_host_gets_all_of_this_one(served: Any) -> None:
    async with served() as host:
        await host.post("/plugin/event", {"event": "before it connected again"})
        async with host.events("", "Last-Event-ID: 999999") as found:
            first = await found.next()
    assert first["id"] == "1"
    assert json.loads(first["data"])["event"] == "before it connected again"


async def test_secrets_do_not_get_into_events(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hunter2-hunter2")
    async with served() as host, host.events() as found:
        await host.post("/plugin/event", {"event": "e", "data": {"x": "it is hunter2-hunter2"}})
        event = await found.next()
    assert "hunter2" not in event["data"]


async def test_a_silent_stream_says_that_it_lives(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT", 0.02)
    async with served() as host, host.events() as found:
        assert [await found.block() for _ in range(2)] == [": still here"] * 2


async def test_streams_end_when_the_host_stops(served: Any) -> None:
    with trio.fail_after(20):
        async with served(grace=60) as host, host.events() as found:
            host.running.stop()
            assert await found.next() is None


async def test_a_follower_that_reads_nothing_does_not_keep_the_host_from_stopping(
    served: Any,
) -> None:
    with trio.fail_after(30):
        async with served(grace=0.2) as host:
            stream = await trio.open_tcp_stream("127.0.0.1", host.port)
            head = "GET /events?since=0 HTTP/1.1\r\nHost: localhost\r\n"
            await stream.send_all(f"{head}Authorization: Bearer {host.token}\r\n\r\n".encode())
            await stream.receive_some(1)
            for _ in range(300):
                host.running.events.publish("event", {"data": "x" * 50_000})
                await trio.lowlevel.checkpoint()
    await stream.aclose()


async def test_an_event_that_is_cut_off_by_the_end_is_not_ended_as_if_it_were_whole(
    served: Any,
) -> None:
    with trio.fail_after(30):
        async with served(grace=20) as host:
            stream = await trio.open_tcp_stream("127.0.0.1", host.port)
            head = "GET /events HTTP/1.1\r\nHost: localhost\r\n"
            await stream.send_all(f"{head}Authorization: Bearer {host.token}\r\n\r\n".encode())
            await stream.receive_some(1)
            for _ in range(400):
                host.running.events.publish("event", {"data": "x" * 50_000})
                await trio.lowlevel.checkpoint()
            host.running.stop()
            for _ in range(20):
                await trio.lowlevel.checkpoint()
            async with stream:
                taken = b"".join([bytes(part) async for part in stream])
    assert 50_000 < len(taken) < 400 * 50_000, "the end came while an event was being sent"
    assert not taken.endswith(b"0\r\n\r\n")


async def test_a_follower_that_reads_sees_a_proper_end_though_events_go_on_to_the_last(
    served: Any,
) -> None:
    with trio.fail_after(30):
        async with served(grace=20) as host, trio.open_nursery() as nursery:
            taken: list[bytes] = []

            async def follow() -> None:
                head = "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                async with await trio.open_tcp_stream("127.0.0.1", host.port) as stream:
                    await stream.send_all(f"{head}{host.token}\r\n\r\n".encode())
                    taken.append(b"".join([bytes(part) async for part in stream]))

            for _ in range(8):
                nursery.start_soon(follow)
            for number in range(200):
                host.running.events.publish("event", {"data": number})
                await trio.lowlevel.checkpoint()
            host.running.stop()
    assert [one[-7:] for one in taken] == [b"\r\n0\r\n\r\n"] * 8


async def test_metrics_are_what_prometheus_reads(
    served: Any, add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("echo", ECHO)
    config = {"plugins": ["echo", "missing"], "permissions": {"allow": ["*"]}}
    (home / "config" / "config.json").write_text(json.dumps(config))
    async with served() as host:
        await host.post("/tool/plugin__echo__t/call")
        answer = await host.client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert all(family.documentation for family in families.values())
    values = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert values["tinyhost_ready",] == 1
    assert values["tinyhost_plugins_missing",] == 1
    assert values["tinyhost_plugin_state", "echo", "ready"] == 1
    assert values["tinyhost_plugin_state", "echo", "failed"] == 0
    assert values["tinyhost_plugin_calls_total", "echo"] >= 1
    assert values["tinyhost_plugin_memory_bytes", "echo"] > 0
    assert values["tinyhost_plugin_duration_seconds", "0.5", "echo"] > 0


async def test_records_that_the_journal_could_not_be_given_are_told(
    served: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served() as host:
        assert (await host.get("/status"))["problems"] == []
        state = token_file(os.environ).parent
        (state / FOLDER).touch()  # no folder, so nothing can be written into it
        await host.post("/session", {"sessionID": "s"}, 201)
        [problem] = (await host.get("/status"))["problems"]
        numbers = (await host.client.get("/metrics")).text
    [lost] = re.findall(r"^tinyhost_journal_lost_total ([1-9]\d*)$", numbers, re.MULTILINE)
    assert problem.startswith(f"the journal in {state / FOLDER} lacks {lost} records")


async def test_a_reload_swaps_what_has_changed(
    served: Any, add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("echo", ECHO)
    file = home / "config" / "config.json"
    async with served() as host:
        file.write_text('{"plugins": ["echo"]}')
        done = await host.post("/reload")
        file.write_text("{")
        refused = await host.post("/reload", None, 422)
        names = [plugin["name"] for plugin in await host.get("/plugin")]
    assert done["loaded"] == ["echo"]
    assert refused["detail"]["type"] == "ConfigError"
    assert "echo" in names


SLOW = """
while not os.path.exists(os.environ["HOME"] + "/go"): time.sleep(0.01)
handshake()
serve()
"""


@pytest.fixture
def slow(add_plugin: AddPlugin, home: Path) -> None:
    """A plugin that starts once there is a file `go`."""
    add_plugin("slow", SLOW)
    config = {"plugins": ["slow"], "permissions": {"allow": ["*"]}}
    (home / "config" / "config.json").write_text(json.dumps(config))


@pytest.mark.usefixtures("slow")
async def test_calls_wait_until_the_plugins_are_loaded(served: Any, home: Path) -> None:
    async with served(wait=False) as host:
        health = await host.get("/health")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.post, "/tool/plugin__slow__t/call")
            assert (await host.get("/status"))["ready"] is False
            (home / "go").touch()
    assert health == {"status": "loading"}


@pytest.mark.usefixtures("slow")
async def test_a_call_that_waits_when_the_host_stops_is_told_so(served: Any) -> None:
    with trio.fail_after(20):
        async with served(wait=False, grace=60) as host:
            stream = await trio.open_tcp_stream("127.0.0.1", host.port)
            head = "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            more = f"Expect: 100-continue\r\nAuthorization: Bearer {host.token}\r\n\r\n"
            await stream.send_all((head + more).encode())
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 100 ")
            await stream.send_all(b"{}")
            host.running.stop()
            async with stream:
                answer = b"".join([part async for part in stream])
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"stopping" in answer


async def test_an_address_that_is_taken_is_named_in_the_error(served: Any) -> None:
    async with served() as host:
        surface = http_surface(host.url.removeprefix("http://"))(host.running)
        with pytest.raises(OSError, match=f"127.0.0.1:{host.port}: Address already in use"):
            await surface()
        assert host.running.addresses["http"] == host.url


async def test_a_host_listens_at_ipv6_too(served: Any) -> None:
    async with served("[::1]:0") as host:
        health = await host.get("/health")
    assert host.url == f"http://[::1]:{host.port}"
    assert health == {"status": "ok"}


class Mounted:
    """An app that tells the path, and goes on for ever when asked to."""

    def __init__(self, running: RunningHost) -> None:
        self._running, self._entered = running, False

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self._entered = True
        yield
        self._entered = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert self._entered
        await send({"type": "http.response.start", "status": 200, "headers": []})
        body = f"{scope['path']} {self._running.ready.is_set()}".encode()
        forever = scope["path"].endswith("/forever")
        await send({"type": "http.response.body", "body": body, "more_body": forever})
        if forever:
            await trio.sleep_forever()


async def test_a_mounted_app_is_reached_with_the_token_only(served: Any) -> None:
    async with served(mounts={"/mcp": Mounted}) as host, host.new_client() as anyone:
        own = [(await host.client.post(path)).text for path in ("/mcp", "/mcp/x")]
        beside = await host.client.post("/mcpx")
        refused = await anyone.post("/mcp")
    assert own == ["/mcp True", "/mcp/x True"]
    assert (beside.status_code, refused.status_code) == (404, 401)


# The client library leaves generators to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_real_mcp_client_calls_tools_through_the_mount(
    served: Any, add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("echo", ECHO)
    config = {"plugins": ["echo"], "permissions": {"allow": ["*"]}}
    (home / "config" / "config.json").write_text(json.dumps(config))
    async with served(mounts={"/mcp": mcp_app}, grace=60) as host:
        url = f"{host.url}/mcp"
        async with (
            streamable_http_client(url, http_client=host.client) as (incoming, outgoing, *_),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            said = await session.call_tool("plugin__echo__t", {})
    assert "plugin__echo__t" in tools
    assert said.content[0].text == "ok"


async def test_streams_of_a_mounted_app_end_when_the_host_stops(served: Any) -> None:
    with trio.fail_after(20):
        async with served(mounts={"/mcp": Mounted}, grace=60) as host:
            stream = await trio.open_tcp_stream("127.0.0.1", host.port)
            head = "GET /mcp/forever HTTP/1.1\r\nHost: localhost\r\n"
            await stream.send_all(f"{head}Authorization: Bearer {host.token}\r\n\r\n".encode())
            text = await stream.receive_some()
            assert b"/mcp/forever True" in text
            host.running.stop()
            async with stream:
                text += b"".join([part async for part in stream])
    assert text.endswith(b"\r\n0\r\n\r\n")  # an end, and not a broken connection


async def test_the_pages_files_need_no_token_and_the_api_does(served: Any, home: Path) -> None:
    pages = home / "pages"
    pages.mkdir()
    (pages / "index.html").write_text("<p>hello")
    (pages / "app.js").write_text("1")
    (home / "outside.txt").write_text("secret")
    async with served(pages=str(pages)) as host, host.new_client() as anyone:
        page = await anyone.get("/")
        script = await anyone.get("/app.js")
        climbing = await anyone.get("/%2e%2e/outside.txt")
        missing = await anyone.get("/nosuch.js")
        api = await anyone.get("/plugin")
    assert (page.text, script.text) == ("<p>hello", "1")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert (climbing.status_code, missing.status_code, api.status_code) == (404, 404, 401)
    assert missing.json()["detail"]["type"] == "NotFound"
