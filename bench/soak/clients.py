"""Clients of a running host: its control socket, and HTTP over a connection that is kept."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import h11
import trio

from tinyhost import runtime

from .tally import HUNG_AFTER, Hung

Answer = dict[str, Any]
LOST = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError)


class SocketClient:
    """Many requests at once over one connection. strays: answers that nobody waits for."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.strays = 0
        self._last = 0
        self._sending = trio.Lock()
        self._waiting: dict[int, trio.Event] = {}
        self._answers: dict[int, Answer] = {}
        self.closed = False

    @classmethod
    @asynccontextmanager
    async def opened(cls, path: str) -> AsyncIterator[SocketClient]:
        """Connect. Raises OSError when nobody listens there."""
        with runtime.Address(path) as address:
            stream = await trio.open_unix_socket(address)
        async with stream, trio.open_nursery() as nursery:
            client = cls(stream)
            nursery.start_soon(client._read)
            yield client
            nursery.cancel_scope.cancel()

    async def _read(self) -> None:
        data = bytearray()
        with contextlib.suppress(*LOST):
            async for more in self.stream:
                data += more
                *lines, data = data.split(b"\n")
                for line in lines:
                    self._take(json.loads(line))
        self.closed = True
        for event in self._waiting.values():
            event.set()

    def _take(self, message: Answer) -> None:
        if "method" in message or message["id"] is None:
            return
        event = self._waiting.get(message["id"])
        if event is None or message["id"] in self._answers:
            self.strays += 1
            return
        self._answers[message["id"]] = message
        event.set()

    async def request(
        self, method: str, params: Answer, *, patience: float = HUNG_AFTER
    ) -> Answer | None:
        """The answer, or None when the host closed the connection before it.

        After `patience` seconds it is cancelled, which is answered as well. Raises Hung.
        """
        self._last += 1
        id = self._last
        self._waiting[id] = trio.Event()
        try:
            await self.send({"id": id, "method": method, "params": params})
            with trio.move_on_after(patience) as waiting:
                await self._waiting[id].wait()
            if waiting.cancelled_caught:
                await self.send({"method": "$/cancelRequest", "params": {"id": id}})
                with trio.move_on_after(HUNG_AFTER) as waiting:
                    await self._waiting[id].wait()
                if waiting.cancelled_caught:
                    raise Hung(f"no answer to {method} {params}")
        except LOST:
            self.closed = True
        finally:
            del self._waiting[id]
        return self._answers.pop(id, None)

    async def send(self, message: Answer) -> None:
        """Send a message."""
        async with self._sending:
            await self.stream.send_all(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


class HttpClient:
    """One request after the other; it connects again where the host closed the connection."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.headers = [("host", f"127.0.0.1:{port}"), ("authorization", f"Bearer {token}")]
        self.connections = 0
        self._stream: trio.SocketStream | None = None
        self._http = h11.Connection(h11.CLIENT)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection at once."""
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)
            self._stream = None

    async def request(
        self, method: str, path: str, body: Answer | None = None
    ) -> tuple[int, Any] | None:
        """Status and value; None when the connection was closed without an answer. Raises Hung."""
        try:
            with trio.fail_after(HUNG_AFTER):
                status = await self.begin(method, path, body)
                data = b""
                while part := await self.part():
                    data += part
        except trio.TooSlowError:
            raise Hung(f"no answer to {method} {path}") from None
        except LOST:
            await self.aclose()
            return None
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        else:
            await self.aclose()
        return status, json.loads(data) if data else None

    async def begin(self, method: str, path: str, body: Answer | None = None) -> int:
        """Send a request; the status of its answer, whose parts are to be read."""
        if self._stream is None:
            self._stream = await trio.open_tcp_stream("127.0.0.1", self.port)
            self._http = h11.Connection(h11.CLIENT)
            self.connections += 1
        data = b"" if body is None else json.dumps(body).encode()
        headers = [*self.headers, ("content-length", str(len(data)))]
        head = h11.Request(method=method, target=path, headers=headers)
        parts = [head, *([h11.Data(data=data)] if data else []), h11.EndOfMessage()]
        await self._stream.send_all(b"".join([self._http.send(part) or b"" for part in parts]))
        response = await self._event()
        return int(response.status_code)

    async def part(self) -> bytes:
        """The next part of what is answered, as it comes; empty at the end."""
        event = await self._event()
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _event(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            assert self._stream is not None
            self._http.receive_data(await self._stream.receive_some(65536))
        if isinstance(event, h11.ConnectionClosed):
            raise trio.BrokenResourceError
        return event


async def follow_socket(path: str, pause: float) -> AsyncIterator[int]:
    """The numbers of events, read with a pause after each read of some bytes."""
    with runtime.Address(path) as address:
        stream = await trio.open_unix_socket(address)
    async with stream:
        await stream.send_all(b'{"jsonrpc":"2.0","id":1,"method":"events/follow"}\n')
        data = b""
        async for more in stream:
            *lines, data = (data + bytes(more)).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if message.get("method") == "event":
                    yield message["params"]["seq"]
            await trio.sleep(pause)


async def follow_http(client: HttpClient, pause: float) -> AsyncIterator[int]:
    """The same, by server-sent events."""
    async with client:
        await client.begin("GET", "/events")
        data = b""
        while part := await client.part():
            *blocks, data = (data + part).split(b"\n\n")
            for block in blocks:
                if block.startswith(b"id: "):
                    yield int(block[4:].partition(b"\n")[0])
            await trio.sleep(pause)
