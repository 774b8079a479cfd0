"""One HTTP/1.1 connection: h11 reads and writes the protocol, an ASGI app answers.

Each wait has a bound, so that a client that stalls costs one connection for a while and
nothing else: until a request's head is there, between parts of a body, and for what was sent
to be taken.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import attrs
import h11
import trio
import trio.lowlevel

from .answers import Refused, failure_answer

_log = logging.getLogger(__name__)

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

_RECEIVE = 64 * 1024  # bytes taken from the socket at once
_HEAD_MAX = 32 * 1024  # bytes of a request's head
_AHEAD_MAX = 64 * 1024  # bytes of further requests taken while one is answered
_LOST = (trio.BrokenResourceError, trio.ClosedResourceError)
_WHOLE_URL = re.compile(rb"https?://([^/?]*)", re.IGNORECASE)
_SMALL_BODY = 4  # digits in the length of a body that is read though nobody wants it


_NO_REQUEST = "this is not a request that HTTP/1.1 allows"
_REASONS = {
    408: "the body of the request did not come in time",
    431: f"the head of the request is larger than {_HEAD_MAX} bytes",
    501: "bodies can come with Content-Length or chunked, and in no other way",
    505: "this server speaks HTTP/1.1 and 1.0",
}


class ClientGone(OSError):
    """The client closed the connection, or takes nothing any more."""


class BadBody(ClientGone):
    """A body that is cut off, or is not what HTTP allows; the client has been told."""


@attrs.frozen(kw_only=True)
class Patience:
    """How long a client may take, in seconds.

    idle: until the next request begins, and its head is complete. body: between two parts of a
    body. take: until what was sent is taken. linger: to read what a refused client still sends.
    """

    idle: float = 30.0
    body: float = 30.0
    take: float = 30.0
    linger: float = 3.0


class Connection:
    """stream: the client's. closing: says whether this is to be the last answer."""

    def __init__(
        self,
        stream: trio.SocketStream,
        app: App,
        patience: Patience,
        closing: Callable[[], bool],
    ) -> None:
        self._stream, self._app, self._patience, self._closing = stream, app, patience, closing
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_MAX)
        self._sending = trio.Lock()
        self._waiting: trio.CancelScope | None = None
        self.broken = False  # nothing can be sent any more

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self._waiting is not None

    def leave(self) -> None:
        """Close the connection if no request is being answered."""
        if self._waiting is not None:
            self._waiting.cancel()

    async def serve(self) -> None:
        """Answer requests until the client has no more, or may send no more."""
        try:
            while (request := await self._next_request()) is not None:
                await _Exchange(self, request).run()
                await self._pass_over()
                if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                    break
                self._http.start_next_cycle()
            if self._http.their_state in (h11.SEND_BODY, h11.ERROR):
                await self._linger()
        except BadBody:
            with contextlib.suppress(OSError, *_LOST):
                await self._linger()
        except (OSError, *_LOST):
            pass  # the client is gone, which is its right
        finally:
            await trio.aclose_forcefully(self._stream)

    async def _next_request(self) -> h11.Request | None:
        if self._closing():
            return None
        with trio.move_on_after(self._patience.idle) as self._waiting:
            try:
                event = await self.next_event()
            except h11.RemoteProtocolError as error:
                await self._refuse(error.error_status_hint)
                return None
            finally:
                self._waiting = None
            if not isinstance(event, h11.Request):
                return None
            if status := _fault(event):
                await self._refuse(status)
                return None
            return event
        return None

    async def _refuse(self, status: int) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        answer = Refused(status, _REASONS.get(status, _NO_REQUEST)).answer
        headers = [*answer.raw_headers, (b"connection", b"close"), _date()]
        head = h11.Response(status_code=status, headers=headers)
        await self.send(head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage())

    async def _pass_over(self) -> None:
        """Take the rest of a small body that the app did not want."""
        with (
            trio.move_on_after(self._patience.linger),
            contextlib.suppress(h11.RemoteProtocolError),
        ):
            while self._http.their_state is h11.SEND_BODY and self._http.our_state is h11.DONE:
                await self.next_event()

    async def _linger(self) -> None:
        """Let a client that is still sending read its answer: a close at once would drop it."""
        with trio.move_on_after(self._patience.linger):
            await self._stream.send_eof()
            while await self._stream.receive_some(_RECEIVE):
                pass

    async def next_event(self) -> Any:
        """What the client sent next. Raises h11.RemoteProtocolError."""
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._stream.receive_some(_RECEIVE))

    async def body_event(self) -> Any:
        """The next part of the body, which the client is told to go ahead with if it asks.

        Raises ClientGone, behind which nothing can be answered.
        """
        if self._http.they_are_waiting_for_100_continue:
            await self.send(h11.InformationalResponse(status_code=100, headers=[]))
        try:
            with trio.fail_after(self._patience.body):
                return await self.next_event()
        except (trio.TooSlowError, h11.RemoteProtocolError) as error:
            late = isinstance(error, trio.TooSlowError)
            await self._refuse(408 if late else 400)
            self.broken = True
            raise BadBody(f"the request's body did not come: {error}") from None
        except _LOST as error:
            self.broken = True
            raise ClientGone(f"the request's body did not come: {error}") from None

    async def gone(self) -> None:
        """Return when the client closes; never, if it sends more than is kept for later."""
        while len(self._http.trailing_data[0]) < _AHEAD_MAX:
            try:
                data = await self._stream.receive_some(_RECEIVE)
            except _LOST:
                return
            if not data:
                return
            self._http.receive_data(data)
        await trio.sleep_forever()

    async def send(self, *events: Any) -> None:
        """Send parts of an answer, at once. Raises ClientGone.

        Cancelled, it has sent none of them, or an unknown part: nothing can follow that.
        """
        try:
            async with self._sending:
                await trio.lowlevel.checkpoint_if_cancelled()
                if self.broken:
                    raise ClientGone("an answer was cut off")
                await self._send_whole(b"".join([self._http.send(one) or b"" for one in events]))
        except (trio.TooSlowError, *_LOST):
            raise ClientGone("the client is gone") from None

    async def _send_whole(self, data: bytes) -> None:
        whole = False
        try:
            with trio.fail_after(self._patience.take):
                await self._stream.send_all(data)
            whole = True
        finally:
            self.broken = self.broken or not whole

    async def answer(self, scope: Message, exchange: _Exchange) -> None:
        """Let the app answer."""
        await self._app(scope, exchange.receive, exchange.send)

    def scope(self, request: h11.Request) -> Message:
        """The request in ASGI's form."""
        target, headers = _target(request)
        path, _, query = target.partition(b"?")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": request.http_version.decode(),
            "method": request.method.decode().upper(),
            "scheme": "http",
            "path": unquote(path.decode("ascii", "replace")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": headers,
            "client": _address(self._stream.socket.getpeername()),
            "server": _address(self._stream.socket.getsockname()),
        }

    def last(self, request: h11.Request) -> bool:
        """Whether the client is to be told that the connection closes after the answer.

        So it is when it still has much to send that nobody wants.
        """
        if self._closing() or self._http.they_are_waiting_for_100_continue:
            return True
        headers = dict(request.headers)
        large = len(headers.get(b"content-length", b"")) > _SMALL_BODY
        return self._http.their_state is h11.SEND_BODY and (
            large or b"transfer-encoding" in headers
        )


def _date() -> tuple[bytes, bytes]:
    return (b"date", formatdate(usegmt=True).encode())


def _fault(request: h11.Request) -> int:
    """The status of the refusal of a request that h11 lets through, or 0.

    A proxy may take another view than ours of where a body with two lengths ends, and what
    follows for a request of somebody else.
    """
    if request.http_version not in (b"1.0", b"1.1"):
        return 505
    # h11 counts only what has come before the end of a head, which may come all at once.
    fields = sum(len(name) + len(value) for name, value in request.headers)
    if len(request.target) + fields > _HEAD_MAX:
        return 431
    names = {name for name, _ in request.headers}
    both = names >= {b"transfer-encoding", b"content-length"}
    too_old = b"transfer-encoding" in names and request.http_version == b"1.0"
    return 400 if both or too_old else 0


def _target(request: h11.Request) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Path and query of a request, and its headers.

    What a request to a proxy begins with, as in "GET http://host/path", counts before Host.
    """
    headers = list(request.headers)
    whole = _WHOLE_URL.match(request.target)
    if whole is None:
        return request.target, headers
    others = [(name, value) for name, value in headers if name != b"host"]
    path = request.target[whole.end() :]
    return path if path.startswith(b"/") else b"/" + path, [(b"host", whole[1]), *others]


def _address(name: Any) -> tuple[str, int]:
    return (str(name[0]), int(name[1]))


class _Exchange:
    """One request and its answer, with the two channels that an ASGI app has."""

    def __init__(self, connection: Connection, request: h11.Request) -> None:
        self._connection, self._request = connection, request
        self._whole = False  # the request is read to its end
        self._start: Message | None = None  # of the answer, kept until there is a body
        self._started = self._done = False

    async def run(self) -> None:
        """Let the app answer; what it leaves open is closed."""
        try:
            await self._connection.answer(self._connection.scope(self._request), self)
        except Exception:
            if self._connection.broken:  # whatever the app makes of that
                raise ClientGone("the client is gone") from None
            _log.exception("an answer failed")
        if not self._started:
            await self._fail()
        if not self._done:
            raise ClientGone("the answer was broken off")  # which the client sees by the close

    async def receive(self) -> Message:
        """The next part of the request's body; after its end, that the client is gone."""
        if self._whole:
            await self._connection.gone()
            return {"type": "http.disconnect"}
        event = await self._connection.body_event()
        if isinstance(event, h11.Data):
            return {"type": "http.request", "body": bytes(event.data), "more_body": True}
        self._whole = True
        if isinstance(event, h11.EndOfMessage):
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send what the app answers. Raises RuntimeError behind the end of the answer."""
        if self._done:
            raise RuntimeError("the app has answered already")
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body":
            parts = self._begin()
            body = message.get("body", b"")
            if body and self._request.method != b"HEAD":
                parts.append(h11.Data(data=body))
            if not message.get("more_body", False):
                parts.append(h11.EndOfMessage())
                self._done = True
            await self._connection.send(*parts)

    def _begin(self) -> list[Any]:
        """The head of the answer, if it has not been sent yet."""
        if self._started or self._start is None:
            return []
        self._started = True
        headers = [(bytes(name), bytes(value)) for name, value in self._start.get("headers", ())]
        headers.append(_date())
        if self._connection.last(self._request):
            headers.append((b"connection", b"close"))
        status = HTTPStatus(self._start["status"])
        reason = status.phrase.encode()
        return [h11.Response(status_code=status, headers=headers, reason=reason)]

    async def _fail(self) -> None:
        answer = failure_answer()
        head = {"status": answer.status_code, "headers": answer.raw_headers}
        await self.send({"type": "http.response.start", **head})
        await self.send({"type": "http.response.body", "body": answer.body})
