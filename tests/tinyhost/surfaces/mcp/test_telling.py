"""What clients are told without asking, and when sessions begin and end."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import trio
from mcp.client.client import Client
from mcp.shared.subscriptions import ToolsListChanged
from mcphost import Tools, hosting

from tinyhost.builtins.base import BuiltinPlugin
from tinyhost.hooks import SessionEnd, SessionStart, SessionStartOutput
from tinyhost.running import RunningHost

ALLOW = {"permissions": {"allow": ["plugin__*"]}}
# Set by a request that is of the past since 2026-07-28.
pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")


async def say(_args: Mapping[str, Any], _context: Any) -> str:
    return "said"


class Sessions(BuiltinPlugin):
    """Notes sessions, and has something to say when one begins."""

    name = "sessions"

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, str]] = []

    async def session_start(self, event: SessionStart) -> SessionStartOutput:
        self.seen.append(("start", event.session_id))
        return SessionStartOutput(additional_context=["welcome"])

    async def session_end(self, event: SessionEnd) -> None:
        self.seen.append(("end", event.session_id))


class Heard:
    """What a client was told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.lines: list[tuple[str, str | None, Any]] = []

    async def message(self, message: Any) -> None:
        self.notes.append(getattr(message, "method", ""))

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.lines.append((params.level, params.logger, params.data))


async def until(condition: Any) -> None:
    with trio.fail_after(5):
        while not condition():
            await trio.sleep(0.01)


async def test_a_client_with_a_handshake_hears_that_the_list_of_tools_changed(home: Path) -> None:
    heard = Heard()
    async with (
        hosting(home, ALLOW) as (running, url),
        Client(
            url, mode="legacy", logging_callback=heard.log, message_handler=heard.message
        ) as client,
    ):
        await _listening(running, heard)
        changed = "notifications/tools/list_changed"
        running.host.register(Tools("more", {"say": say}))
        await until(lambda: heard.notes.count(changed) == 1)
        await running.host.manager.unload("more")
        await until(lambda: heard.notes.count(changed) == 2)
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "plugin__more__say" not in names


async def test_a_client_without_one_hears_it_where_it_listens(home: Path) -> None:
    async with (
        hosting(home, ALLOW) as (running, url),
        Client(url) as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        running.host.register(Tools("more", {"say": say}))
        with trio.fail_after(5):
            assert await anext(aiter(changes)) == ToolsListChanged()
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "plugin__more__say" in names


async def test_notices_and_the_lives_of_plugins_are_log_messages(home: Path) -> None:
    heard = Heard()
    mine = Tools("mine", {"say": say})
    async with (
        hosting(home, ALLOW, mine) as (running, url),
        Client(
            url, mode="legacy", logging_callback=heard.log, message_handler=heard.message
        ) as client,
    ):
        await _listening(running, heard)
        notice = running.host.manager.offers.notice
        notice("mine", "warn", "careful \ud800")
        running.host.register(Tools("more", {"say": say}))
        await until(lambda: len(heard.lines) >= 2)
        assert heard.lines[0] == ("warning", "mine", "careful ?")
        assert heard.lines[1] == ("info", "more", "plugin more loaded")
        await client.set_logging_level("error")
        notice("mine", "warn", "not wanted")
        notice("mine", "error", "wanted")
        await until(lambda: len(heard.lines) >= 3)
        assert heard.lines[2:] == [("error", "mine", "wanted")]


async def _listening(running: RunningHost, heard: Heard) -> None:
    """Return once the client's stream of notifications is open, and all is heard so far."""
    numbers = itertools.count()
    while not heard.lines:
        running.host.register(Tools(f"probe{next(numbers)}", {"say": say}))
        await trio.sleep(0.05)
    running.host.register(Tools("last", {"say": say}))
    await until(lambda: ("info", "last", "plugin last loaded") in heard.lines)
    heard.notes.clear()
    heard.lines.clear()


async def test_a_call_that_asks_for_the_log_gets_it_before_its_result(home: Path) -> None:
    heard = Heard()

    async def talk(_args: Mapping[str, Any], _context: Any) -> str:
        hosts[0].host.manager.offers.notice("mine", "info", "working")
        return "done"

    hosts: list[RunningHost] = []
    async with hosting(home, ALLOW, Tools("mine", {"talk": talk})) as (running, url):
        hosts.append(running)
        async with Client(url, logging_callback=heard.log, log_level="info") as client:
            await client.call_tool("plugin__mine__talk", {})
            await until(lambda: ("info", "mine", "working") in heard.lines)
        heard.lines.clear()
        async with Client(url, logging_callback=heard.log) as client:
            await client.call_tool("plugin__mine__talk", {})
            assert heard.lines == []


async def test_a_handshake_begins_a_session_and_the_goodbye_ends_it(home: Path) -> None:
    sessions = Sessions()
    async with hosting(home, ALLOW, sessions, Tools("mine", {"say": say})) as (running, url):
        async with Client(url, mode="legacy") as client:
            await until(lambda: sessions.seen)
            [session] = running.host.sessions
            assert sessions.seen == [("start", session.id)]
            first = await client.call_tool("plugin__mine__say", {})
            assert first.content[1].text == "[Hook Context]\nwelcome"
            second = await client.call_tool("plugin__mine__say", {})
            assert len(second.content) == 1
        await until(lambda: len(sessions.seen) == 2)
        assert sessions.seen[1] == ("end", session.id)


async def test_without_a_handshake_each_call_over_http_has_a_session(home: Path) -> None:
    sessions = Sessions()
    mine = Tools("mine", {"say": say})
    async with hosting(home, ALLOW, sessions, mine) as (_, url), Client(url) as client:
        for _ in range(2):
            result = await client.call_tool("plugin__mine__say", {})
            assert result.content[1].text == "[Hook Context]\nwelcome"
    assert [what for what, _ in sessions.seen] == ["start", "end"] * 2
    assert sessions.seen[0][1] != sessions.seen[2][1]


async def test_sessions_that_are_open_when_the_host_stops_are_ended(home: Path) -> None:
    sessions = Sessions()
    mine = Tools("mine", {"say": say})
    async with (
        hosting(home, ALLOW, sessions, mine) as (running, url),
        Client(url, mode="legacy") as client,
    ):
        await client.call_tool("plugin__mine__say", {})
        running.stop()
        await until(lambda: len(sessions.seen) == 2)
    assert [what for what, _ in sessions.seen] == ["start", "end"]
