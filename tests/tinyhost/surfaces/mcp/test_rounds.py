"""Questions that are answered by the next request, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import trio
from mcphost import Tools, hosting

ASK = {"permissions": {"ask": ["plugin__mine__*"]}}
VERSION = "2026-07-28"
YES = {"approval": {"action": "accept", "content": {"answer": "once"}}}


class Caller:
    """Sends single requests."""

    def __init__(self, url: str, client: httpx2.AsyncClient) -> None:
        self._url, self._client = url, client

    async def call(self, name: str, arguments: Mapping[str, Any], **more: Any) -> Any:
        """The answer to tools/call."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        }
        params = {"name": name, "arguments": arguments, "_meta": meta, **more}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return (await self._client.post(self._url, json=message, headers=headers)).json()


async def test_an_answer_is_good_once_and_for_the_very_same_call(home: Path) -> None:
    ran: list[Mapping[str, Any]] = []

    async def work(args: Mapping[str, Any], _context: Any) -> str:
        ran.append(args)
        return "done"

    mine = Tools("mine", {"work": work, "other": work})
    async with hosting(home, ASK, mine) as (_, url), httpx2.AsyncClient() as client:
        caller = Caller(url, client)
        asked = (await caller.call("plugin__mine__work", {"a": 1}))["result"]
        assert asked["resultType"] == "input_required"
        state = {"requestState": asked["requestState"]}
        answered = {**state, "inputResponses": YES}
        for name, args, more in (
            ("plugin__mine__work", {"a": 2}, answered),
            ("plugin__mine__other", {"a": 1}, answered),
            ("plugin__mine__work", {"a": 1}, {**answered, "requestState": "made up"}),
        ):
            refused = await caller.call(name, args, **more)
            assert refused["error"]["code"] == -32602
        again = (await caller.call("plugin__mine__work", {"a": 1}, **state))["result"]
        assert again["inputRequests"] == asked["inputRequests"]
        assert ran == []
        done = (await caller.call("plugin__mine__work", {"a": 1}, **answered))["result"]
        assert done["content"] == [{"type": "text", "text": "done"}]
        used = await caller.call("plugin__mine__work", {"a": 1}, **answered)
        assert used["error"]["code"] == -32602
    assert ran == [{"a": 1}]


async def test_a_question_without_an_answer_does_not_keep_the_host(home: Path) -> None:
    async def work(_args: Mapping[str, Any], _context: Any) -> str:
        return "done"

    with trio.fail_after(20):
        async with (
            hosting(home, ASK, Tools("mine", {"work": work})) as (running, url),
            httpx2.AsyncClient() as client,
        ):
            asked = await Caller(url, client).call("plugin__mine__work", {})
            assert asked["result"]["resultType"] == "input_required"
            assert len(running.host.sessions) == 1
        assert running.host.sessions == []
