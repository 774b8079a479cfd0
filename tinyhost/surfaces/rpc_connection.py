"""One client of a running host: JSON-RPC 2.0 lines over a stream, both ways.

Each request is answered by a task of its own, so that a slow one holds up no other. The
connection's end cancels what it asked for. One task writes, so that a cancellation never cuts
a line in two. A client that does not read is waited for by its own tasks only; it loses
notifications rather than have them pile up, and what it writes is not read until it has
taken what its bad lines were answered with.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import trio

from tinyhost_sdk import names, wire

from .. import codec
from ..errors import (
    ConfigError,
    InvalidCall,
    NotLoaded,
    PluginNotFound,
    TinyhostError,
    ToolNotFound,
    cut,
)
from ..present import error_value

_log = logging.getLogger(__name__)

MAX_LINE = 16 * 1024 * 1024  # bytes; a tool's answer is at most about this long
_REQUESTS_AT_ONCE = 256
_NOTES_WAITING = 1000

CANCEL = "$/cancelRequest"  # notification {"id": ...}
TINYHOST_ERROR = -32000  # data is the error as `present.error_value` has it
BUSY = -32001
CONFIG_ERROR = -32003
NOT_LOADED = -32004
CANCELLED = -32800  # as editors have it

Handler = Callable[["RpcConnection", Mapping[str, Any]], Awaitable[Any]]
Protocol = Callable[[trio.abc.ReceiveStream, trio.abc.SendStream], Awaitable[None]]


class ClientGone(TinyhostError):
    """The client closed its connection before it answered."""

    def __init__(self) -> None:
        super().__init__("the client is gone")


class ClientRefused(TinyhostError):
    """The client answered with an error; the text is its own."""


class RpcConnection:
    """Serves `methods` to the other end of a stream. `serve` runs until it closes."""

    def __init__(self, stream: trio.abc.Stream, methods: Mapping[str, Handler]) -> None:
        self._stream = stream
        self._methods = methods
        rules = wire.Rules(max_line=MAX_LINE, string_ids=True)
        self._receiver = wire.Receiver(rules, codec.loads)
        self._running: dict[int | str, trio.CancelScope] = {}
        self._asked: dict[int | str, _Question] = {}
        self._last_id = 0
        self._out: deque[tuple[bytes, trio.Event | None]] = deque()  # frames; told when written
        self._more = trio.Event()
        self._notes = 0  # of the frames, those that nobody waits for
        self._nursery: trio.Nursery | None = None
        self._refusal = ""
        self._answering = 0
        self._idle = trio.Event()
        self._idle.set()
        self._other: Protocol | None = None
        self.following = False  # whether it is told of events
        self.dropped = 0  # notifications that the client was too slow for

    async def serve(self) -> None:
        """Read and answer until the client is gone; then cancel what is left."""
        async with self._stream, trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._write)
            try:
                async for data in self._stream:
                    if self._other is not None:
                        await self._other(_Begun(bytes(data), self._stream), self._stream)
                        break
                    for message in self._receiver.feed(bytes(data)):
                        problem = self._take(message, nursery)
                        if problem is not None:
                            await self._send(problem)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            for question in self._asked.values():
                question.done.set()
            nursery.cancel_scope.cancel()

    def hand_over(self, protocol: Protocol) -> None:
        """Speak another protocol from the client's next bytes on.

        The client sends them when it has the answer to the request that this was asked with.
        """
        self._other = protocol

    def refuse(self, text: str) -> None:
        """Answer what was asked before, and nothing new."""
        self._refusal = text

    async def idle(self) -> None:
        """Return when no request is being answered."""
        await self._idle.wait()

    def start_soon(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run something until it ends or the client is gone."""
        assert self._nursery is not None
        self._nursery.start_soon(task)

    def _take(self, message: wire.Message, nursery: trio.Nursery) -> bytes | None:
        """Act on a message. Returns the answer to one that is refused."""
        if type(message) is wire.Request:
            problem = self._problem(message)
            if problem is not None:
                return problem
            nursery.start_soon(self._answer, message)
        elif type(message) is wire.Notification:
            if message.method == CANCEL and isinstance(message.params, dict):
                id = message.params.get("id")
                if isinstance(id, int | str) and type(id) is not bool and id in self._running:
                    self._running[id].cancel()
        elif type(message) is wire.Response:
            self._answered(message)
        elif type(message) is wire.Junk:
            if message.id in self._asked:
                text = f"its answer cannot be read: {message.reason}"
                error = wire.RpcError(message.code, text)
                self._answered(wire.Response(message.id, None, error))
                return None
            text = f"not a request: {message.reason}"
            return wire.failure(message.call_id, message.code, text)
        return None

    def _answered(self, answer: wire.Response) -> None:
        question = self._asked.pop(answer.id, None)
        if question is not None:
            question.answer = answer
            question.done.set()

    def _problem(self, request: wire.Request) -> bytes | None:
        if request.id in self._running:
            text = "a request with this id is being answered"
            return wire.failure(request.id, names.INVALID_REQUEST, text)
        if self._refusal:
            return wire.failure(request.id, BUSY, self._refusal)
        # Answers that the client has not taken yet count as well.
        if len(self._running) + len(self._out) - self._notes >= _REQUESTS_AT_ONCE:
            text = f"{_REQUESTS_AT_ONCE} requests are being answered already"
            return wire.failure(request.id, BUSY, text)
        # From now on, so that one that is cancelled at once is known.
        self._running[request.id] = trio.CancelScope()
        self._answering += 1
        if self._idle.is_set():
            self._idle = trio.Event()
        return None

    async def _answer(self, request: wire.Request) -> None:
        frame = wire.failure(request.id, CANCELLED, "cancelled")
        try:
            try:
                with self._running[request.id]:
                    frame = await self._frame(request)
            finally:
                del self._running[request.id]  # whoever has the answer may use the id again
            await self._send(frame)
        finally:
            self._answering -= 1
            if self._answering == 0:
                self._idle.set()

    async def _frame(self, request: wire.Request) -> bytes:
        id, handler = request.id, self._methods.get(request.method)
        if handler is None:
            text = f"there is no method {cut(request.method, 100)}"
            return wire.failure(id, names.METHOD_NOT_FOUND, text)
        params = {} if request.params is None else request.params
        if not isinstance(params, dict):
            return wire.failure(id, names.INVALID_PARAMS, "params must be an object")
        try:
            result = codec.dumps(await handler(self, params))
        except (ToolNotFound, PluginNotFound) as error:
            return _failure(id, TINYHOST_ERROR, error)
        except NotLoaded as error:
            return _failure(id, NOT_LOADED, error)
        except ConfigError as error:
            return _failure(id, CONFIG_ERROR, error)
        except InvalidCall as error:
            return _failure(id, names.INVALID_PARAMS, error)
        except TinyhostError as error:
            return _failure(id, TINYHOST_ERROR, error)
        except Exception:
            _log.exception("internal error while answering %s", request.method)
            return wire.failure(id, names.INTERNAL_ERROR, "a fault of tinyhost itself; see its log")
        if len(result) > MAX_LINE // 2 and len(result.encode()) > MAX_LINE - 1000:
            text = f"the result is longer than {MAX_LINE} bytes"
            return wire.failure(id, TINYHOST_ERROR, text)
        return wire.success_text(id, result)

    async def _send(self, frame: bytes) -> None:
        """Return once it is written, or cannot be. Cancelled, it is written all the same."""
        written = trio.Event()
        self._out.append((frame, written))
        self._more.set()
        await written.wait()

    async def _write(self) -> None:
        while True:
            await self._more.wait()
            self._more = trio.Event()
            while self._out:
                frame, written = self._out.popleft()
                try:
                    await self._stream.send_all(frame)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass  # the reader notices
                if written is None:
                    self._notes -= 1
                else:
                    written.set()

    def notify(self, method: str, params: str) -> None:
        """Send a notification, or drop it when too many wait already. params: JSON text."""
        if self._notes >= _NOTES_WAITING:
            self.dropped += 1
            return
        self._notes += 1
        self._out.append((wire.notification(method, params), None))
        self._more.set()

    async def send_notes(self, method: str, params: Iterable[str]) -> None:
        """Send notifications, however long the client takes to read. params: JSON text of each."""
        await self._send(b"".join(wire.notification(method, text) for text in params))

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request to the client, and return its result.

        Cancelled, it tells the client that nobody waits any more. Raises ClientGone, and
        ClientRefused for an error.
        """
        self._last_id += 1
        id = self._last_id
        question = self._asked[id] = _Question()
        try:
            await self._send(wire.request(id, method, codec.dumps(params)))
            await question.done.wait()
        finally:
            if self._asked.pop(id, None) is not None:
                self.notify(CANCEL, codec.dumps({"id": id}))
        if question.answer is None:
            raise ClientGone
        if question.answer.error is not None:
            raise ClientRefused(question.answer.error.message)
        return question.answer.result


class _Begun(trio.abc.ReceiveStream):
    """A stream of which the first bytes have been read."""

    def __init__(self, first: bytes, stream: trio.abc.ReceiveStream) -> None:
        self._first, self._stream = first, stream

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """The next bytes."""
        if not self._first:
            return await self._stream.receive_some(max_bytes)
        await trio.lowlevel.checkpoint()
        most = len(self._first) if max_bytes is None else max_bytes
        data, self._first = self._first[:most], self._first[most:]
        return data

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


class _Question:
    def __init__(self) -> None:
        self.done = trio.Event()
        self.answer: wire.Response | None = None


def _failure(id: int | str, code: int, error: TinyhostError) -> bytes:
    return wire.failure(id, code, str(error), error_value(error))
