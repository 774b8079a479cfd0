"""What happens in the host, as server-sent events."""

from __future__ import annotations

from collections.abc import Mapping

import trio
from starlette.types import Receive, Scope, Send

from ...events import Event
from ...running import RunningHost

HEARTBEAT = 15.0  # seconds of silence, after which a comment says that the connection lives

_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class EventStream:
    """An answer that goes on until the client goes, or the host stops.

    Each event has its number as id, its kind as type, and JSON as data. since: the number of
    the last event that the client has; Last-Event-ID, which a client that connects again
    sends, goes before it. Without either, only what is new.
    """

    def __init__(self, running: RunningHost, headers: Mapping[str, str], since: int | None) -> None:
        self._running = running
        last = running.events.last
        sent = headers.get("last-event-id", "")
        if sent.isascii() and sent.isdigit() and len(sent) < 16:
            since = int(sent)
        # A number that the host has not come to is from its life before: all of this one is new.
        self._seq = last if since is None else since if since <= last else 0

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        await _part(send, b"retry: 2000\n\n")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send_events, send)
            await self._running.wait_stopping()
            nursery.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _send_events(self, send: Send) -> None:
        bus = self._running.events
        while True:
            with trio.move_on_after(HEARTBEAT) as patience:
                await bus.wait(self._seq)
            if patience.cancelled_caught:
                await _part(send, b": still here\n\n")
            if events := bus.batch(self._seq):
                await _part(send, b"".join(map(_text, events)))
                self._seq = events[-1].seq


async def _part(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


def _text(event: Event) -> bytes:
    # The text is JSON on one line, and kinds are words.
    text = f"id: {event.seq}\nevent: {event.kind}\ndata: {event.text}\n\n"
    return text.encode("utf-8", "replace")
