"""Clients of a listening socket: how many there are, and how they are let go at the end.

Hypercorn would do most of it. But its sending is shielded from cancellation, so that one
client that does not read what it follows keeps the host from ever stopping; and it closes on a
client whose body it refuses before that has read the answer.
"""

from __future__ import annotations

import logging
import resource

import trio

from ..accepting import accept
from .connection import App, Connection, Patience

_log = logging.getLogger(__name__)

_CLIENTS = 256
_SHARE = 4  # one in so many of the descriptors that the process may have


def most_clients() -> int:
    """How many there may be, so that plugins and the control socket have descriptors, too."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _CLIENTS if limit < 0 else max(4, min(_CLIENTS, limit // _SHARE))


class HttpServer:
    """Answers clients with an ASGI app."""

    def __init__(
        self,
        listener: trio.SocketListener,
        app: App,
        patience: Patience | None = None,
        most: int | None = None,
    ) -> None:
        self._listener, self._app = listener, app
        self._most = most_clients() if most is None else most
        self._patience = patience or Patience()
        self._accepting = trio.CancelScope()
        self._clients: dict[Connection, None] = {}
        self._none_left = trio.Event()
        self._draining = False
        self._crowded = False  # the last one that came was turned away

    @property
    def clients(self) -> int:
        """How many connections there are."""
        return len(self._clients)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Answer clients until cancelled, or until drained and the last one is gone."""
        async with trio.open_nursery() as nursery, self._listener:
            task_status.started()
            with self._accepting:
                while True:
                    client = await accept(self._listener.socket)
                    nursery.start_soon(self._serve, trio.SocketStream(client))

    async def _serve(self, stream: trio.SocketStream) -> None:
        if len(self._clients) >= self._most and not self._make_room():
            self._tell_of_crowd()
            await trio.aclose_forcefully(stream)
            return
        self._crowded = False
        client = Connection(stream, self._app, self._patience, lambda: self._draining)
        self._clients[client] = None
        try:
            await client.serve()
        except Exception:
            _log.exception("an HTTP connection failed")
        finally:
            self._clients.pop(client, None)
            if self._draining and not self._clients:
                self._none_left.set()

    def _tell_of_crowd(self) -> None:
        """Once for each time that there are too many: anyone can come again and again."""
        if not self._crowded:
            words = "there are %d HTTP clients, which is the most; others are turned away"
            _log.warning(words, self._most)
        self._crowded = True

    def _make_room(self) -> bool:
        """Close the connection that was idle first: those who only hold one give way."""
        for client in self._clients:
            if client.idle:
                client.leave()
                del self._clients[client]
                return True
        return False

    async def drain(self) -> None:
        """Take no new client, and return when every request has been answered."""
        self._draining = True
        self._accepting.cancel()
        for client in self._clients:
            client.leave()
        if self._clients:
            await self._none_left.wait()
