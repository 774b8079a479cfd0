"""Spans of a real host's doings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import trio
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tinyhost.config import load_config
from tinyhost.errors import ToolNotFound
from tinyhost.running import RunningHost
from tinyhost.surfaces.otel import otel_surface
from tinyhost.surfaces.serving import Service, serve

PLUGIN = """
handshake(tools=("t", "bad"), hooks=("permission.ask",))
serve(
    on_tool=lambda p: {"content": "very secret", "isError": p["name"] == "bad"},
    on_hook=lambda p: {"output": {"allowed": True}},
)
"""


@pytest.fixture
def use_host(home: Path, add_plugin: Callable[[str, str], Path]) -> Any:
    """use_host(body, provider): run a host with a plugin, and the body with it."""
    add_plugin("p", PLUGIN)
    config = {"plugins": ["p"], "permissions": {"allow": ["*"]}}
    (home / "config" / "config.json").write_text(json.dumps(config))

    async def use(body: Callable[[RunningHost], Any], provider: TracerProvider | None) -> None:
        loaded = trio.Event()
        hosts: list[RunningHost] = []

        def ready(running: RunningHost) -> None:
            hosts.append(running)
            loaded.set()

        service = Service(
            read_config=load_config,
            directory=str(home),
            environ=dict(os.environ),
            surfaces=(otel_surface(provider),),
            on_ready=ready,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, service)
            await loaded.wait()
            await body(hosts[0])
            hosts[0].stop()

    return use


async def calls(running: RunningHost) -> None:
    session = await running.host.session_start(session_id="s1")
    await running.host.call("plugin__p__t", {"key": "very secret"}, session)
    await running.host.call("plugin__p__bad", {}, session)
    await running.host.session_end(session)


async def test_a_session_is_a_trace_of_hooks_decisions_and_calls(use_host: Any) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    await use_host(calls, provider)
    spans = exporter.get_finished_spans()
    [root] = [span for span in spans if span.name == "session"]
    inside = [
        span
        for span in spans
        if span.parent == root.context and span.attributes.get("tinyhost.plugin", "p") == "p"
    ]
    assert [span.name for span in inside] == [
        "hook permission.ask",
        "decide plugin__p__t",
        "execute_tool plugin__p__t",
        "hook permission.ask",
        "decide plugin__p__bad",
        "execute_tool plugin__p__bad",
    ]
    asked, decided, good, *_, bad = inside
    assert asked.attributes["tinyhost.plugin"] == "p"
    assert decided.attributes["tinyhost.decision"] == "allow"
    assert good.attributes["gen_ai.tool.name"] == "plugin__p__t"
    assert good.end_time > good.start_time
    assert (good.status.status_code, bad.status.status_code) == (StatusCode.UNSET, StatusCode.ERROR)
    assert all(span.attributes["session.id"] == "s1" for span in spans)
    assert "very secret" not in "".join(span.to_json() for span in spans)


async def test_sessions_that_go_on_end_with_the_host(use_host: Any) -> None:
    async def begin(running: RunningHost) -> None:
        await running.host.session_start(session_id="s1")
        with pytest.raises(ToolNotFound):
            await running.host.call("nosuch")

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    await use_host(begin, provider)
    assert exporter.get_finished_spans()[-1].name == "session"


async def test_spans_are_sent_by_otlp_before_the_host_ends(
    use_host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        address = f"http://127.0.0.1:{collector.server_port}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        monkeypatch.setenv("NO_PROXY", "*")
        Thread(target=collector.serve_forever).start()
        try:
            await use_host(calls, None)
        finally:
            await trio.to_thread.run_sync(collector.shutdown)
    assert {path for path, _ in sent} == {"/v1/traces"}
    data = b"".join(data for _, data in sent)
    assert b"execute_tool plugin__p__bad" in data
    assert b"tinyhost" in data
