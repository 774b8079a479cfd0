"""Notifications over HTTP, and clients that end their session right behind one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import trio
from mcphost import Tools, hosting
from test_crowd import Clients, say

from tinyhost.surfaces.mcp.taken import Taken

Message = MutableMapping[str, Any]
START: Message = {"type": "http.response.start", "status": 202, "headers": []}
BODY: Message = {"type": "http.response.body", "body": b""}
FAILED: Message = {"type": "http.response.start", "status": 500, "headers": []}


async def answers(app: Callable[..., Awaitable[None]]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await Taken(app)({"type": "http"}, receive, send)
    return sent


async def test_the_answer_waits_until_the_session_has_taken_what_was_sent() -> None:
    sent: list[Message] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(START)
        await send(BODY)
        await trio.testing.wait_all_tasks_blocked()
        assert not sent

    async def send(message: Message) -> None:
        sent.append(message)

    await Taken(app)({"type": "http"}, send, send)  # type: ignore[arg-type]
    assert sent == [START, BODY]


async def test_a_session_that_ends_meanwhile_is_answered_once() -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        for message in (START, BODY, FAILED, BODY):
            await send(message)
        raise anyio.ClosedResourceError

    assert await answers(app) == [START, BODY]


async def test_other_answers_are_passed_on_at_once_and_failures_are_seen() -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(FAILED)
        raise anyio.ClosedResourceError

    with pytest.raises(anyio.ClosedResourceError):
        await answers(app)


async def test_clients_that_leave_right_behind_a_notification(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}

    async def visit(client: httpx2.AsyncClient, url: str) -> None:
        session = await Clients(client, url).begin()
        headers = {"Mcp-Session-Id": session, "Accept": "application/json, text/event-stream"}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: client.post(url, json=ready, headers=headers))
            nursery.start_soon(lambda: client.delete(url, headers=headers))
        assert (await Clients(client, url).post("ping", {}, session)).status_code == 404

    with trio.fail_after(60), caplog.at_level(logging.ERROR):
        async with (
            hosting(home, {}, Tools("mine", {"say": say})) as (_host, url),
            httpx2.AsyncClient(timeout=20, trust_env=False) as client,
            trio.open_nursery() as nursery,
        ):
            for _ in range(50):
                nursery.start_soon(visit, client, url)
    assert not caplog.records
