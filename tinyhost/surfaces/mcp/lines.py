"""MCP in lines of JSON, over a pair of streams."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp_types as types
import trio
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from .stdio import hung_up
from .text import sound

MAX_LINE = 10 * 1024 * 1024  # bytes in a client's message
MOST_REQUESTS = 256  # of one client at a time, as on the control socket
_CHUNK = 65536
_LOOK = 0.2  # seconds between looks whether a client that ended its stream is there at all
_LAST_ANSWERS = 600.0  # seconds; calls have deadlines of their own
_CANCELLED = "notifications/cancelled"


async def serve_lines(
    server: Server[Any], incoming: trio.abc.ReceiveStream, outgoing: trio.abc.SendStream
) -> None:
    """Serve one client, until it ends its stream or takes nothing more.

    What it asked before the end of its stream is answered, while there is somebody to read it.
    """
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    out = _Out(outgoing)
    async with trio.open_nursery() as nursery:

        async def read() -> None:
            async with to_server:
                async for line in lines(incoming):
                    await _deliver(line, to_server.send, out)
                await out.all_answered()

        async def write() -> None:
            async with from_server:
                async for message in from_server:
                    await out.send(message.message)

        async def until_gone(task: Any) -> None:
            try:
                await task()
            except (trio.BrokenResourceError, anyio.BrokenResourceError):
                nursery.cancel_scope.cancel()

        nursery.start_soon(until_gone, read)
        nursery.start_soon(until_gone, write)
        options = server.create_initialization_options()
        await server.run(requests, answers, options)
        nursery.cancel_scope.cancel()


class _Out:
    """Whole lines, one after the other."""

    def __init__(self, stream: trio.abc.SendStream) -> None:
        self._stream = stream
        self._turn = trio.Lock()
        self._asked: Counter[object] = Counter()  # by the client; one id may come again
        self._asking: set[object] = set()  # of the client
        self._changed = trio.Event()

    async def write(self, message: types.JSONRPCMessage) -> None:
        """Write what answers no request that was taken, as a refusal."""
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        async with self._turn:
            await self._stream.send_all(text.encode() + b"\n")

    async def send(self, message: types.JSONRPCMessage) -> None:
        await self.write(message)
        if isinstance(message, types.JSONRPCRequest):
            self._asking.add(message.id)
        elif isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settled(message.id)
        self._changed.set()

    @property
    def is_full(self) -> bool:
        """Whether no further request is taken, as of a client that reads no answers."""
        return self._asked.total() >= MOST_REQUESTS

    def expect(self, message: types.JSONRPCMessage) -> None:
        """The client sent this."""
        if isinstance(message, types.JSONRPCRequest):
            self._asked[message.id] += 1
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
            self._settled((message.params or {}).get("requestId"))
        elif isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._asking.discard(message.id)

    def _settled(self, id: object) -> None:
        if isinstance(id, str | int) and self._asked[id] > 1:
            self._asked[id] -= 1
        elif isinstance(id, str | int):
            del self._asked[id]

    async def all_answered(self) -> None:
        """Return when each request has an answer, or one waits for a client that is gone."""
        with trio.move_on_after(_LAST_ANSWERS):
            while self._asked and not self._asking and not hung_up(self._stream):
                self._changed = trio.Event()
                with trio.move_on_after(_LOOK):
                    await self._changed.wait()


async def _deliver(line: bytes | None, deliver: Any, out: _Out) -> None:
    """Hand a line to the server; what is no message is answered with an error here.

    An answer that is none is one all the same: whoever asked is told, rather than left waiting.
    """
    if line is None:
        await out.write(_error(types.INVALID_REQUEST, f"a line is longer than {MAX_LINE} bytes"))
        return
    message: types.JSONRPCMessage
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        message, is_answer = _refusal(line)
        if not is_answer:
            await out.write(message)
            return
    if isinstance(message, types.JSONRPCRequest) and out.is_full:
        text = f"there are {MOST_REQUESTS} requests without an answer, which is the most at a time"
        await out.write(_error(types.INTERNAL_ERROR, text, message.id))
        return
    out.expect(message)
    await deliver(SessionMessage(message))


def _refusal(line: bytes) -> tuple[types.JSONRPCError, bool]:
    """An error for what is no message, and whether that was meant as an answer to the server."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _error(types.PARSE_ERROR, "a line is not JSON"), False
    given = value if type(value) is dict else {}
    id = given.get("id")
    if type(id) not in (int, str) or id != sound(id):
        id = None
    is_answer = id is not None and "method" not in given and bool({"result", "error"} & {*given})
    text = "a line is not a message of JSON-RPC 2.0, or a text in it is not Unicode"
    return _error(types.INVALID_REQUEST, text, id), is_answer


def _error(code: int, text: str, id: str | int | None = None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=text))


async def lines(
    stream: trio.abc.ReceiveStream, limit: int = MAX_LINE
) -> AsyncIterator[bytes | None]:
    """The lines of a stream without their ends, empty ones left out; None for one too long."""
    kept, too_long = bytearray(), False
    while chunk := await stream.receive_some(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            kept += piece
            if too_long or len(kept) > limit:
                yield None
            elif line := bytes(kept).strip():
                yield line
            kept.clear()
            too_long = False
        kept += rest
        if len(kept) > limit:
            kept.clear()
            too_long = True
    if too_long:
        yield None
    elif line := bytes(kept).strip():
        yield line
