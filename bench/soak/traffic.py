"""What well-meaning clients of a running host do: calls, hooks, sessions, following events.

Each counts what it asked for in a tally, and checks that the answer is to that and to nothing else.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import attrs
import trio

from .clients import LOST, Answer, HttpClient, SocketClient, follow_http, follow_socket
from .service import Service
from .tally import Tally

_BUSY, _CANCELLED, _INTERNAL = -32001, -32800, -32603
# Deed of the plugin -> of how many calls one is of this kind.
_DEEDS = {
    "junk": 50,
    "twice": 100,
    "error": 50,
    "bad": 200,
    "slow": 30,
    "child": 1_000,
    "late": 500,
    "hang": 1_000,
    "die": 1_000,
    "exit": 1_000,
}


@attrs.define
class Watched:
    """What a follower of events saw."""

    seen: int = 0
    gaps: int = 0
    disorder: int = 0
    last: int = 0

    def take(self, seq: int) -> None:
        """The next event."""
        self.seen += 1
        self.disorder += seq <= self.last
        self.gaps += bool(self.last) and seq > self.last + 1
        self.last = seq


@attrs.define
class Load:
    """One host, all that goes on with it, and what came of it.

    plugins: those that are always there; steady: those of them that answer. open: tokens of calls that
    have no answer.
    """

    service: Service
    status: dict[str, Any]
    plugins: list[str]
    steady: list[str]
    chance: random.Random
    tally: Tally = attrs.field(factory=Tally)
    measures: Counter[str] = attrs.field(factory=Counter)
    strays: int = 0
    over: bool = False
    stopping: bool = False
    open: set[str] = attrs.field(factory=set)
    _last: int = 0

    def token(self) -> str:
        """One that no other call has."""
        self._last += 1
        return f"t{self._last}"

    def deed(self) -> str:
        """Mostly none."""
        draw, edge = self.chance.random(), 0.0
        for name, rate in _DEEDS.items():
            edge += 1 / rate
            if draw < edge:
                return name
        return ""

    async def count(self, ask: Callable[[str, str], Awaitable[tuple[str, str]]]) -> str:
        """Make a call by ask(name, token), which gives the kind of its end and its text."""
        name, token = self.chance.choice(self.steady), self.token()
        self.tally["calls"] += 1
        self.open.add(token)
        kind, text = await ask(name, token)
        if kind == "cut off":
            kind += " by the stop" if self.stopping else ""
        else:
            self.open.discard(token)
        self.tally[kind] += 1
        if kind == "refused":
            await trio.sleep(0.05)  # a host that is ending has better things to do
        if kind == "answered" and f"{name} {token}" not in text:
            self.tally["crossed"] += 1
        return kind


# --- by the socket


async def by_socket(load: Load, at_once: int) -> None:
    """Calls and hooks over one connection, so many at once."""
    async with SocketClient.opened(load.service.path) as client, trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(_on_socket, load, client)
    load.strays += client.strays


async def _on_socket(load: Load, client: SocketClient) -> None:
    async def ask(name: str, token: str) -> tuple[str, str]:
        if load.chance.random() < 0.3:
            params = {"hook": "tell", "input": {"token": token}, "plugins": [name]}
            return socket_end(await client.request("hook/invoke", params))
        patience = load.chance.random() * 0.02 if load.chance.random() < 0.02 else 60.0
        return await call_by_socket(client, name, token, load.deed(), patience=patience)

    while not (load.over or client.closed):
        await load.count(ask)


async def call_by_socket(
    client: SocketClient, name: str, token: str, deed: str, *, patience: float = 60.0, **more: Any
) -> tuple[str, str]:
    """A tool call; the kind of its end, and its text."""
    params = {"tool": f"plugin__{name}__do", "args": {"token": token, "deed": deed}, **more}
    return socket_end(await client.request("tool/call", params, patience=patience))


def socket_end(answer: Answer | None) -> tuple[str, str]:
    """How a request ended, and what was said."""
    if answer is None:
        return "cut off", ""
    error = answer.get("error")
    if error is None:
        return _said(answer["result"])
    words = {_BUSY: "refused", _CANCELLED: "cancelled", _INTERNAL: "fault"}
    data = error.get("data") or {}
    return words.get(error["code"]) or str(data.get("type")), error["message"]


def _said(value: Any) -> tuple[str, str]:
    """Where plugins fail in a hook or a load, the answer says so for each."""
    said = value.get("plugins") if isinstance(value, dict) else None
    if said == []:
        return "not loaded", ""
    if said and any("error" in one for one in said):
        return "plugin failed", ""
    return "answered", json.dumps(value)


async def sessions_by_socket(load: Load) -> None:
    """Sessions with some calls each, a few of which nobody ends."""
    async with SocketClient.opened(load.service.path) as client:
        while not (load.over or client.closed):
            begun = await client.request("session/start", {"origin": "client"})
            if begun is None or "error" in begun:
                await trio.sleep(0.05)
                continue
            session = begun["result"]["session"]

            async def ask(name: str, token: str, session: str = session) -> tuple[str, str]:
                return await call_by_socket(client, name, token, load.deed(), session=session)

            for _ in range(5):
                await load.count(ask)
            if load.chance.random() < 0.7:
                await client.request("session/end", {"session": session})
            load.measures["sessions"] += 1


# --- by HTTP


async def by_http(load: Load) -> None:
    """Calls and hooks over one connection that is kept."""

    async def ask(name: str, token: str) -> tuple[str, str]:
        if load.chance.random() < 0.3:
            body = {"input": {"token": token}, "plugins": [name]}
            return http_end(await client.request("POST", "/hook/tell", body))
        return await call_by_http(client, name, token, load.deed())

    async with load.service.http(load.status) as client:
        while not load.over and "cut off" not in await load.count(ask):
            pass
        load.measures["HTTP connections"] += client.connections


async def call_by_http(
    client: HttpClient, name: str, token: str, deed: str, **more: Any
) -> tuple[str, str]:
    """A tool call; the kind of its end, and its text."""
    body = {"args": {"token": token, "deed": deed}, **more}
    return http_end(await client.request("POST", f"/tool/plugin__{name}__do/call", body))


def http_end(answer: tuple[int, Any] | None) -> tuple[str, str]:
    """How a request ended, and what was said."""
    if answer is None:
        return "cut off", ""
    status, value = answer
    if status < 300:
        return _said(value)
    kind = str(value["detail"]["type"])
    return ("fault" if status == 500 else kind), value["error"]


async def sessions_by_http(load: Load) -> None:
    """Sessions with some calls each, a few of which nobody ends."""
    async with load.service.http(load.status) as client:
        while not load.over:
            begun = await client.request("POST", "/session", {})
            if begun is None:
                break
            if begun[0] != 201:
                continue
            session = begun[1]["id"]

            async def ask(name: str, token: str, session: str = session) -> tuple[str, str]:
                return await call_by_http(client, name, token, load.deed(), sessionID=session)

            for _ in range(5):
                await load.count(ask)
            if load.chance.random() < 0.7:
                await client.request("DELETE", f"/session/{session}")
            load.measures["sessions"] += 1


# --- events


async def follow(load: Load, watched: Watched, surface: str, pause: float) -> None:
    """Follow the events until all is over."""
    events: AsyncIterator[int]
    if surface == "socket":
        events = follow_socket(load.service.path, pause)
    else:
        events = follow_http(load.service.http(load.status), pause)
    try:
        async with aclosing(events):  # type: ignore[type-var]
            async for seq in events:
                watched.take(seq)
                if load.over:
                    break
    except LOST:
        load.measures["followers cut off"] += 1
