"""HTTP servers on this machine that a test answers with."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar


class LocalServer(ThreadingHTTPServer):
    """A server on a free port. Its threads have ended when it is closed."""

    daemon_threads = False

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    def use_tls(self, context: ssl.SSLContext) -> None:
        """Speak TLS; the handshake is made by the thread that answers."""
        self.scheme = "https"
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that went away, or does not trust the certificate


class QuietHandler(BaseHTTPRequestHandler):
    """Writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        pass


Server = TypeVar("Server", bound=LocalServer)


@contextmanager
def running() -> Iterator[Callable[[Server], Server]]:
    """start(server): the server, which answers until the end."""
    started: list[tuple[LocalServer, threading.Thread]] = []

    def start(server: Server) -> Server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        started.append((server, thread))
        return server

    try:
        yield start
    finally:
        for server, thread in started:
            server.shutdown()
            thread.join()
            server.server_close()
