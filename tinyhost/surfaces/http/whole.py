"""The host as a whole: health, status, reload, metrics, its events, this document."""

from __future__ import annotations

from typing import Any

import trio
from starlette.responses import Response

from .events import EventStream
from .forms import Health, Reloaded, Status
from .metrics import MEDIA_TYPE, text_of
from .routes import SEQ, Call, Query, route


@route("GET", "/health", answer=Health, public=True)
async def _health(call: Call) -> Any:
    """Say whether the host is up; anyone may ask."""
    running = call.running
    if running.stopping:
        return {"status": "stopping"}
    return {"status": "ok" if running.ready.is_set() else "loading"}


@route("GET", "/status", answer=Status)
async def _status(call: Call) -> Any:
    """Show everything at a glance."""
    return call.running.status()


@route("POST", "/reload", answer=Reloaded, errors=(422,), waits=True)
async def _reload(call: Call) -> Any:
    """Read the configuration anew, and swap what has changed."""
    return await call.running.reload()


@route("GET", "/metrics", media="text/plain", answer=str)
async def _metrics(call: Call) -> Any:
    """Give the numbers to Prometheus."""
    return Response(text_of(call.running), media_type=MEDIA_TYPE)


@route("GET", "/openapi.json", answer=dict[str, Any], public=True)
async def _openapi(_call: Call) -> Any:
    """Give this document."""
    from .openapi import text  # which needs the whole table

    return Response(await trio.to_thread.run_sync(text), media_type="application/json")


@route(
    "GET",
    "/events",
    media="text/event-stream",
    answer=str,
    query=[
        Query(
            name="since",
            description="The number of the last event that you have; 0 for all that are known.",
            schema=SEQ,
        )
    ],
)
async def _events(call: Call) -> Any:
    """Follow what happens, as server-sent events."""
    return EventStream(call.running, call.request.headers, call.query.get("since"))
