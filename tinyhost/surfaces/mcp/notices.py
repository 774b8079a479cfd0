"""What happens in the host, for clients: changed lists of tools, and log messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, get_args

import attrs
import mcp_types as types
import trio

from ... import codec
from ...events import Event
from ...running import RunningHost
from .exchange import Exchange, is_modern
from .text import sound

LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)  # the least first
DEFAULT_LEVEL: types.LoggingLevel = "info"
_BACKLOG = 1000  # lines that a slow client may be behind

_NOTICES: Mapping[str, types.LoggingLevel] = {"warn": "warning", "error": "error"}
_LIFE: Mapping[str, types.LoggingLevel] = {"died": "warning", "failed": "error"}


@attrs.frozen
class LogMessage:
    """A line of the log. source: the plugin that it is from, or about."""

    level: types.LoggingLevel
    source: str
    text: str

    def reaches(self, level: types.LoggingLevel) -> bool:
        """Whether one who wants that level and above gets it."""
        return LEVELS.index(self.level) >= LEVELS.index(level)

    def params(self) -> dict[str, Any]:
        """The params of notifications/message."""
        return {"level": self.level, "logger": self.source, "data": sound(self.text)}


def log_message(event: Mapping[str, Any]) -> LogMessage:
    """A notice of a plugin, or an event of its life, as a line of the log."""
    plugin, text = str(event.get("plugin", "")), str(event.get("text") or "")
    if event["kind"] == "notice":
        return LogMessage(_NOTICES.get(str(event["level"]), "info"), plugin, text)
    what = str(event["event"])
    said = f"plugin {plugin} {what}" + (f": {text}" if text else "")
    return LogMessage(_LIFE.get(what, "info"), plugin, said)


async def follow(
    running: RunningHost,
    *,
    changed: Callable[[], Awaitable[None]] | None = None,
    say: Callable[[LogMessage], Awaitable[None]] | None = None,
) -> None:
    """Tell of what happens from now on, for ever.

    A list is not called changed while the configuration's plugins are still being loaded:
    nobody gets it before that.
    """
    since = running.events.last
    await running.ready.wait()
    tools = running.host.manager.tools()
    async with aclosing(running.events.follow(since)) as events:
        async for event in events:
            line = _line_of(event)
            if line is None:
                continue
            now = running.host.manager.tools()
            if changed is not None and now != tools:
                await changed()
            tools = now
            if say is not None:
                await say(line)


def _line_of(event: Event) -> LogMessage | None:
    if event.kind not in ("plugin", "notice"):
        return None
    return log_message(codec.loads(event.text.encode("utf-8", "surrogatepass")))


@asynccontextmanager
async def logs_during(exchange: Exchange, running: RunningHost) -> AsyncIterator[None]:
    """Send the log to a client whose call asked for it, as modern ones do, before its result."""
    level = (exchange.context.meta or {}).get(types.LOG_LEVEL_META_KEY)
    if not is_modern(exchange.context) or level not in LEVELS:
        yield
        return
    told, watching = running.events.last, trio.CancelScope()
    send, lines = trio.open_memory_channel[LogMessage](_BACKLOG)

    def note(event: Event) -> None:
        nonlocal told
        told = event.seq
        line = _line_of(event)
        if line is not None and line.reaches(level):
            with suppress(trio.WouldBlock):
                send.send_nowait(line)

    async def watch() -> None:
        with watching:
            async with aclosing(running.events.follow(told)) as events:
                async for event in events:
                    note(event)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        nursery.start_soon(_pass_on, exchange, lines)
        with send:
            yield
            watching.cancel()
            for event in running.events.since(told):
                note(event)


async def _pass_on(exchange: Exchange, lines: trio.MemoryReceiveChannel[LogMessage]) -> None:
    async for line in lines:
        params = types.LoggingMessageNotificationParams.model_validate(line.params())
        note = types.LoggingMessageNotification(params=params)
        await exchange.context.session.send_notification(note, exchange.context.request_id)
