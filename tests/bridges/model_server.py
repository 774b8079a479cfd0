"""A model on loopback that plays a script to real agents.

A script is a list of tool calls. The model asks for them one after the other; when the results
of all of them are in the conversation it answers with the text of the last one, so that what
the agent prints at the end is what the model was told. Requests that do not offer the
script's tools (an agent asks for titles and such) get a fixed text.

The server is also the proxy that the agents are told to use: a CONNECT, or a request for
another host, is an attempt to leave loopback. It is refused and kept in `escapes`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from model_formats import Format, Request, ToolCall, format_of

REPORT = "The tool answered: "


class Model:
    """What the server knows: its script, and what was asked of it."""

    def __init__(self, script: Sequence[ToolCall]) -> None:
        self.script = tuple(script)
        self.results: Sequence[str] = ()  # of tools, as the model has been told them
        self.sent: list[str] = []  # the text of each request
        self.escapes: list[str] = []
        self.url = ""

    def answer(self, format: Format, request: Request) -> Iterator[str]:
        """The events of the answer to a request."""
        offered = set(format.tools(request))
        if not any(call.name in offered for call in self.script):
            return format.stream("ok", 0)
        results = list(format.results(request))
        self.results = max(self.results, results, key=len)
        if len(results) < len(self.script):
            return format.stream(self.script[len(results)], len(results))
        return format.stream(REPORT + results[-1], len(results))

    def was_told(self, text: str) -> bool:
        """Whether a text was in any request."""
        return any(json.dumps(text)[1:-1] in sent for sent in self.sent)


@contextmanager
def serving(script: Sequence[ToolCall]) -> Iterator[Model]:
    """Serve a script on a free port of loopback; `url` says where."""
    model = Model(script)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
    # All connections are closed at the end, so that no descriptor is left to the next test.
    server.daemon_threads, server.block_on_close = False, True
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    model: Model
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds that an idle connection may hold up the end

    def log_message(self, format: str, *args: object) -> None:
        """Keep the requests off standard error."""

    def handle(self) -> None:
        """Serve a connection; an agent that is done closes it as it likes."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def do_CONNECT(self) -> None:
        """Refuse to be a way out."""
        self._refuse()

    def do_HEAD(self) -> None:
        """Be there, for agents that look first."""
        self._refuse() if self._leaves() else self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        """Have nothing."""
        self._refuse() if self._leaves() else self._nothing()

    def do_POST(self) -> None:
        """Answer what is asked of the model."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        format = format_of(self.path.partition("?")[0])
        if self._leaves():
            self._refuse()
        elif format is None:
            self._nothing()
        else:
            request: dict[str, Any] = json.loads(body)
            self.model.sent.append(json.dumps(request))
            events = "".join(self.model.answer(format, request))
            self._send(200, events.encode(), "text/event-stream")

    def _leaves(self) -> bool:
        return not self.path.startswith("/")

    def _refuse(self) -> None:
        self.model.escapes.append(f"{self.command} {self.path}")
        self.close_connection = True
        self._send(403, b"", "text/plain")

    def _nothing(self) -> None:
        self._send(404, b"{}", "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
