"""The ASGI app: the table's routes, what is mounted beside them, and the page's files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import TinyhostError
from ...running import RunningHost
from . import journals, plugins, tools, whole
from .answers import Json, Refused, answer_of, error_answer, failure_answer
from .guard import guarded, require_token
from .routes import ROWS, Row, read_call

_T = TypeVar("_T")

# Importing them fills the table; what stands first is tried first.
TABLE: Sequence[Row] = ROWS
MODULES = (plugins, tools, journals, whole)


def make_app(
    running: RunningHost,
    token: str,
    mounts: Mapping[str, ASGIApp] | None = None,
    pages: str | None = None,
) -> ASGIApp:
    """mounts: path -> app, reached with the token only. pages: a folder of files for "/"."""
    routes: list[BaseRoute] = [
        Route(path, _Path(running, token, rows)) for path, rows in _by_path().items()
    ]
    if pages is not None:
        routes.append(Mount("/", StaticFiles(directory=pages, html=True)))
    app = Starlette(
        routes=routes,
        exception_handlers={
            TinyhostError: _tell,
            HTTPException: _tell_plain,
            Exception: _tell_failure,
        },
    )
    app.router.redirect_slashes = False
    reached = {path: guarded(one, token) for path, one in (mounts or {}).items()}
    return _mounted(running, app, reached)


def _by_path() -> Mapping[str, Mapping[str, Row]]:
    """The rows of each path by method; paths without parameters first."""
    paths: dict[str, dict[str, Row]] = {}
    for row in sorted(TABLE, key=lambda row: "{" in row.path):
        paths.setdefault(row.path, {})[row.method] = row
    return paths


def _mounted(running: RunningHost, app: ASGIApp, mounts: Mapping[str, ASGIApp]) -> ASGIApp:
    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        for prefix, mounted in mounts.items():
            if path == prefix or path.startswith(prefix + "/"):
                await _until_stopping(running, mounted, scope, receive, send)
                return
        await app(scope, receive, send)

    return choose


async def _until_stopping(
    running: RunningHost, app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer; what is asked for with GET may be a stream, and ends when the host stops."""
    if scope["method"] != "GET":
        await app(scope, receive, send)
        return
    going_on = False  # an answer has begun and not ended

    async def watched(message: Message) -> None:
        nonlocal going_on
        await send(message)
        ends = message["type"] == "http.response.body" and not message.get("more_body", False)
        going_on = not ends

    async def stop() -> None:
        await running.wait_stopping()
        nursery.cancel_scope.cancel()

    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop)
        try:
            await app(scope, receive, watched)
        except Exception as error:  # not inside a group
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if going_on and running.stopping:
        await send({"type": "http.response.body", "body": b""})


class _Path:
    """All that can be done with one path."""

    def __init__(self, running: RunningHost, token: str, rows: Mapping[str, Row]) -> None:
        self._running, self._token, self._rows = running, token, rows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        row = self._rows.get(method)
        if row is None or not row.public:
            require_token(scope, self._token)
        if row is None:
            allowed = [*self._rows, *(["HEAD"] if "GET" in self._rows else [])]
            raise Refused(405, "this path knows no such method", allow=", ".join(allowed))
        request = Request(scope, receive)
        answer = _streaming if row.media == "text/event-stream" else _answering
        await answer(row, self._running, request, send)


async def _answering(row: Row, running: RunningHost, request: Request, send: Send) -> None:
    call = await read_call(row, running, request)

    async def handle() -> Response:
        if row.waits:
            await _ready(running)
        value = await row.handler(call)
        return value if isinstance(value, Response) else Json(value, row.status)

    answer = await (_while_there(request, handle) if row.abandons else handle())
    if answer is not None:
        await answer(request.scope, request.receive, send)


async def _ready(running: RunningHost) -> None:
    """Return once all plugins are there. Raises Refused when that will not be."""
    there = False

    async def stop() -> None:
        await running.wait_stopping()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop)
        await running.steady()
        there = True
        nursery.cancel_scope.cancel()
    if not there:
        raise Refused(503, "the host is stopping")


async def _streaming(row: Row, running: RunningHost, request: Request, send: Send) -> None:
    stream: ASGIApp = await row.handler(await read_call(row, running, request))

    async def follow() -> bool:
        await stream(request.scope, request.receive, send)
        return True

    await request.body()
    await _while_there(request, follow)


async def _while_there(request: Request, handle: Callable[[], Awaitable[_T]]) -> _T | None:
    """What the handler returns; None if the client went away, and it was broken off."""
    found: list[_T] = []

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        nursery.cancel_scope.cancel()

    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        try:
            found.append(await handle())
        except Exception as error:  # not inside a group
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return found[0] if found else None


async def _tell(_request: Request, error: Exception) -> Response:
    assert isinstance(error, TinyhostError)
    return answer_of(error)


async def _tell_plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    where: dict[str, Any] = {"type": "NotFound", "path": request.url.path}
    if error.status_code != 404:
        where = {"type": "HttpError"}
    return error_answer(error.status_code, f"{error.detail}".lower(), where, error.headers)


async def _tell_failure(_request: Request, _error: Exception) -> Response:
    return failure_answer()
