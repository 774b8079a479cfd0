"""A real host in service over HTTP on a free port, and clients for it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio

from tinyhost.config import load_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.http import http_surface
from tinyhost.surfaces.serving import Service, serve

sys.path.insert(1, str(Path(__file__).parents[3] / "support"))


class Served:
    """running: the host. client: has the token. url: where it listens."""

    def __init__(self, running: RunningHost, nursery: trio.Nursery) -> None:
        self.running = running
        self.url = running.addresses["http"]
        self.token = Path(running.addresses["httpToken"]).read_text().strip()
        self.port = int(self.url.rpartition(":")[2])
        self.client = self.new_client({"Authorization": f"Bearer {self.token}"})
        self.nursery = nursery

    def new_client(self, headers: dict[str, str] | None = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    async def get(self, path: str, **more: Any) -> Any:
        answer = await self.client.get(path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, value: Any = None, status: int = 200) -> Any:
        answer = await self.client.post(path, json={} if value is None else value)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def raw(self, data: bytes) -> bytes:
        """Send bytes, and read until the server closes."""
        async with await trio.open_tcp_stream("127.0.0.1", self.port) as stream:
            await stream.send_all(data)
            return b"".join([part async for part in stream])

    @asynccontextmanager
    async def events(self, query: str = "", *headers: str) -> AsyncIterator[EventReader]:
        """Follow the events, once the stream has begun."""
        # An answer to HTTP/1.0 goes on until the server closes, without chunks.
        lines = [
            f"GET /events{query} HTTP/1.0",
            "Host: localhost",
            f"Authorization: Bearer {self.token}",
            *headers,
        ]
        async with await trio.open_tcp_stream("127.0.0.1", self.port) as stream:
            await stream.send_all("\r\n".join([*lines, "", ""]).encode())
            reader = EventReader(stream)
            head = await reader.block(b"\r\n\r\n")
            assert head is not None
            assert "\r\ncontent-type: text/event-stream" in head.lower()
            assert await reader.block() == "retry: 2000"
            yield reader


class EventReader:
    """Reads a stream of events."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream, self._data = stream, b""

    async def block(self, end: bytes = b"\n\n") -> str | None:
        """The next lines up to an empty one; None at the end of the stream."""
        while end not in self._data:
            part = await self._stream.receive_some()
            if not part:
                assert self._data == b""
                return None
            self._data += part
        text, _, self._data = self._data.partition(end)
        return text.decode()

    async def next(self) -> dict[str, str] | None:
        """The fields of the next event; None at the end."""
        while (text := await self.block()) is not None:
            if not text.startswith(":"):
                return dict(line.split(": ", 1) for line in text.split("\n"))
        return None


Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def served(home: Path) -> Serve:
    """`async with served(**options of http_surface) as host:` runs a host with what is configured.

    wait: until the plugins are loaded.
    """

    @asynccontextmanager
    async def run(
        bind: str = "127.0.0.1:0", *, wait: bool = True, grace: float = 5.0, **options: Any
    ) -> Any:
        ready, listening = trio.Event(), trio.Event()
        hosts: list[RunningHost] = []

        async def tell(*, task_status: trio.TaskStatus[None]) -> None:
            listening.set()
            task_status.started()

        def watch(running: RunningHost) -> Any:
            hosts.append(running)
            return tell

        service = Service(
            read_config=load_config,
            directory=str(home),
            environ=dict(os.environ),
            grace=grace,
            surfaces=(http_surface(bind, **options), watch),
            on_ready=lambda _: ready.set(),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, service)
            await (ready if wait else listening).wait()
            found = Served(hosts[0], nursery)
            async with found.client:
                yield found
            found.running.stop()

    return run
