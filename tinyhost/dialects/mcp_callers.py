"""The MCP clients behind calls: whom a server may ask in the midst of one.

A question goes to the client whose call it is about, or to none. Servers of 2026-07-28 ask
in the answer to a call. Older ones send a request, and over a pipe it does not say which call
it is about: it is passed on only while all calls that can be meant are of one client.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Protocol

import attrs
import trio

from tinyhost_sdk import names


class Refused(Exception):
    """A server's question that gets no answer: the JSON-RPC error `code`, and why."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


@attrs.frozen
class Question:
    """What a server asks: a method, and its params as they came."""

    method: str
    params: Mapping[str, Any]


class Client(Protocol):
    """The client that makes a call, and can be asked while the call lasts."""

    @property
    def who(self) -> object:
        """The same object for all calls of one client."""

    @property
    def offered(self) -> Mapping[str, Any]:
        """What it can be asked, as MCP's client capabilities."""

    async def ask(self, plugin: str, questions: Mapping[str, Question]) -> Mapping[str, Any]:
        """Its answers, by the keys of the questions. Raises Refused."""


# The client that makes the call of this task; None where it is no MCP client.
client_here: ContextVar[Client | None] = ContextVar("client_here", default=None)


class Callers:
    """Whose calls a server is busy with.

    linger: seconds in which a server may still be at a call that nobody waits for.
    """

    def __init__(self, linger: float) -> None:
        self._linger = linger
        self._under_way: dict[int, Client | None] = {}
        self._given_up: list[tuple[float, Client | None]] = []  # until when, and whose

    def began(self, id: int, client: Client | None) -> None:
        """A call was sent. client: None when no MCP client makes it."""
        self._under_way[id] = client

    def ended(self, id: int, *, answered: bool) -> None:
        """Nobody waits for it any more; unless it was answered, the server may be at it yet."""
        client = self._under_way.pop(id, None)
        self._forget()
        if not answered:
            self._given_up.append((trio.current_time() + self._linger, client))

    def behind(self, call: int | None) -> Client | None:
        """The client that a question of the server's is for; None when there is none.

        call: the call that the question came with, where that is known. Raises Refused when
        it could be about calls of several.
        """
        if call is not None:
            return self._under_way.get(call)
        self._forget()
        clients = [*(client for _, client in self._given_up), *self._under_way.values()]
        if len({id(client.who) if client else None for client in clients}) > 1:
            reason = "it is busy with calls of several clients, and this does not say for which"
            raise Refused(names.INTERNAL_ERROR, reason)
        return clients[-1] if self._under_way else None

    def _forget(self) -> None:
        now = trio.current_time()
        self._given_up = [given for given in self._given_up if given[0] > now]
