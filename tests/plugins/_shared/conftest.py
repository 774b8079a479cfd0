"""Servers on this machine that answer as they are told, and a client that asks them."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from local_server import LocalServer, QuietHandler, running

from tinyhost_plugins._shared.http import (
    Client,
    HttpError,
    Limits,
)

TOKEN = "s3cret-t0ken-value"
QUICK = Limits(seconds=20, pause=0.001)


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Reply(NamedTuple):
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012
    body: bytes = b"{}"
    wait: float = 0.0


class Server(LocalServer):
    """Answers with its replies in turn, the last one again and again; None breaks a connection."""

    def __init__(self, *replies: Reply | None) -> None:
        super().__init__(Handler)
        self.replies = list(replies) or [Reply()]
        self.requests: list[Request] = []
        self.released = threading.Event()


class Handler(QuietHandler):
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        reply = server.replies[min(len(server.requests), len(server.replies) - 1)]
        server.requests.append(Request(self.command, self.path, headers, body))
        if reply is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        server.released.wait(reply.wait)
        self.send_response(reply.status)
        given = {"Content-Length": str(len(reply.body)), "Content-Type": "application/json"}
        for name, value in {**given, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(reply, ...): a server that answers with them in turn."""
    with running() as start:
        servers: list[Server] = []

        def serve(*replies: Reply | None, tls: ssl.SSLContext | None = None) -> Server:
            server = Server(*replies)
            servers.append(server)
            if tls is not None:
                server.use_tls(tls)
            return start(server)

        yield serve
        for server in servers:
            server.released.set()


def client(server: Server, **options: Any) -> Client:
    given = {"credentials": {"authorization": f"Bearer {TOKEN}"}, "limits": QUICK}
    return Client(server.url, **{**given, **options})


def fails(server: Server, method: str = "GET", **options: Any) -> HttpError:
    with pytest.raises(HttpError) as caught:
        client(server, **options).request(method, "/x", json={"a": 1} if method != "GET" else None)
    assert TOKEN not in str(caught.value)
    return caught.value


def to_json(value: object) -> bytes:
    return json.dumps(value).encode()
