"""More sessions over HTTP than there may be: clients that never end theirs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import trio
from mcphost import Tools, hosting

ACCEPT = {"Accept": "application/json, text/event-stream"}
CLIENT = {"name": "x", "version": "1"}
BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}


async def say(_args: Mapping[str, Any], _context: Any) -> str:
    return "said"


class Clients:
    """Sends single requests, in any session."""

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self.client, self.url = client, url

    async def post(self, method: str, params: Any, session: str | None = None) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = ACCEPT | ({"Mcp-Session-Id": session} if session else {})
        return await self.client.post(self.url, json=body, headers=headers)

    async def begin(self) -> str:
        answer = await self.post("initialize", BEGIN)
        assert answer.status_code == 200, answer.text
        return answer.headers["mcp-session-id"]

    async def known(self, session: str) -> bool:
        """Whether the session is there; asking makes it the one used last."""
        return (await self.post("ping", {}, session)).status_code == 200


@asynccontextmanager
async def clients(home: Path, sessions: int) -> Any:
    with trio.fail_after(30):
        async with (
            hosting(home, {}, Tools("mine", {"say": say}), sessions=sessions) as (host, url),
            httpx2.AsyncClient(timeout=20, trust_env=False) as client,
        ):
            yield host, Clients(client, url)


async def ended(host: Any, most: int) -> None:
    while len(host.host.sessions) > most:
        await trio.sleep(0.01)


async def test_the_longest_unused_session_makes_room_for_a_new_one(home: Path) -> None:
    async with clients(home, 3) as (host, there):
        first, second, third = [await there.begin() for _ in range(3)]
        assert await there.known(first)
        fourth = await there.begin()
        assert not await there.known(second)
        assert [await there.known(one) for one in (first, third, fourth)] == [True] * 3
        for _ in range(20):
            await there.begin()
        await ended(host, 3)


async def test_a_session_whose_client_listens_is_kept(home: Path) -> None:
    async with clients(home, 2) as (_, there):
        listener, unused = await there.begin(), await there.begin()
        headers = {"Accept": "text/event-stream", "Mcp-Session-Id": listener}
        async with there.client.stream("GET", there.url, headers=headers) as stream:
            assert stream.status_code == 200
            for _ in range(5):
                newest = await there.begin()
            assert await there.known(listener)
            assert await there.known(newest)
            assert not await there.known(unused)


async def test_a_session_that_its_client_ended_takes_no_room(home: Path) -> None:
    async with clients(home, 2) as (_, there):
        kept, over = await there.begin(), await there.begin()
        headers = ACCEPT | {"Mcp-Session-Id": over}
        assert (await there.client.delete(there.url, headers=headers)).status_code == 200
        newest = await there.begin()
        assert await there.known(kept)
        assert await there.known(newest)
