"""The control socket: a unix socket that only the person's own processes may use."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

import trio

from .. import runtime
from ..errors import TinyhostError
from .accepting import accept
from .place import Place
from .rpc_connection import Handler, RpcConnection

_log = logging.getLogger(__name__)

_CLIENTS = 256
_LOOK = 2.0  # seconds between looks whether the socket is still there


class ControlServer:
    """Answers clients at a place. A client of another person is turned away."""

    def __init__(self, place: Place, methods: Mapping[str, Handler]) -> None:
        self._place = place
        self._methods = methods
        self._clients: set[RpcConnection] = set()
        self._accepting = trio.CancelScope()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Answer clients until cancelled, or until drained and the last one is gone."""
        async with trio.open_nursery() as nursery:
            task_status.started()
            with self._accepting:
                while True:
                    await self._accept(nursery)
                    await self._return()

    async def _accept(self, nursery: trio.Nursery) -> None:
        """Take clients, for as long as they find us. They are served in the nursery.

        Who comes once this has ended goes on as where no host is running.
        """
        with trio.socket.from_stdlib_socket(self._place.listener) as listener:
            async with trio.open_nursery() as taking:
                taking.start_soon(self._take, listener, nursery)
                while not self._place.is_lost():  # noqa: ASYNC110 (nobody tells of it)
                    await trio.sleep(_LOOK)
                taking.cancel_scope.cancel()

    async def _take(self, listener: trio.socket.SocketType, nursery: trio.Nursery) -> None:
        while True:
            client = await accept(listener)
            if len(self._clients) >= _CLIENTS:
                _log.warning("more than %d clients; one was turned away", _CLIENTS)
                client.close()
            elif (uid := runtime.peer_of(client)[1]) not in (os.geteuid(), 0):
                _log.warning("a process of user %d was turned away", uid)
                client.close()
            else:
                nursery.start_soon(self._serve, client)

    async def _return(self) -> None:
        """Listen again where somebody has deleted the socket, or all of its folder."""
        told = ""
        while True:
            try:
                self._place.take()
            except (OSError, TinyhostError) as error:
                if str(error) != told:
                    told = str(error)
                    _log.error(
                        "%s was deleted, and cannot be made anew: %s", self._place.path, told
                    )
                await trio.sleep(_LOOK)
            else:
                _log.warning("%s was deleted, and has been made anew", self._place.path)
                return

    async def _serve(self, client: trio.socket.SocketType) -> None:
        connection = RpcConnection(trio.SocketStream(client), self._methods)
        self._clients.add(connection)
        try:
            await connection.serve()
        except Exception:
            _log.exception("a connection to the control socket failed")  # and no other with it
        finally:
            self._clients.discard(connection)

    async def drain(self) -> None:
        """Take nothing new, and return when everything that was asked has been answered."""
        self._accepting.cancel()
        for client in self._clients:
            client.refuse("the host is stopping")
        for client in list(self._clients):
            await client.idle()
