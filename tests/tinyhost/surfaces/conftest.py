"""Hosts in service, in this process and as a child, and clients for their sockets."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tinyhost import runtime
from tinyhost.config import load_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.serving import Service, serve

PATIENCE = 30  # seconds, for what takes a moment


class Rpc:
    """A client of the control socket. What is not waited for yet is kept.

    notes, requests: what the host sent of its own, oldest first.
    """

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.notes: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.answers: dict[Any, list[dict[str, Any]]] = {}
        self._data = b""
        self._last = 0

    async def send(self, *messages: Any) -> None:
        """Send lines: objects, or bytes as they are."""
        lines = [m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages]
        await self.stream.send_all(b"".join(lines))

    async def start(self, method: str, **params: Any) -> int:
        """Send a request and return its id."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        await self.send(message)
        return self._last

    async def line(self) -> bytes:
        """The next line; empty at the end."""
        with trio.fail_after(PATIENCE):
            while b"\n" not in self._data:
                more = await self.stream.receive_some(65536)
                if not more:
                    return b""
                self._data += more
        line, _, self._data = self._data.partition(b"\n")
        return line

    async def take(self) -> bool:
        """Read one line and put it where it belongs; False at the end."""
        line = await self.line()
        if not line:
            return False
        message = json.loads(line)
        if "method" not in message:
            self.answers.setdefault(message["id"], []).append(message)
        elif "id" in message:
            self.requests.append(message)
        else:
            self.notes.append(message)
        return True

    async def answer(self, id: Any) -> dict[str, Any]:
        """The answer with that id."""
        while not self.answers.get(id):
            assert await self.take(), "the host closed the connection"
        return self.answers[id].pop(0)

    async def note(self, method: str) -> Any:
        """The params of the next notification of a method."""
        return await self._next(self.notes, method)

    async def request(self, method: str) -> dict[str, Any]:
        """The next request of a method."""
        while not (found := [one for one in self.requests if one["method"] == method]):
            assert await self.take(), "the host closed the connection"
        self.requests.remove(found[0])
        return found[0]

    async def _next(self, kept: list[dict[str, Any]], method: str) -> Any:
        while not (found := [one for one in kept if one["method"] == method]):
            assert await self.take(), "the host closed the connection"
        kept.remove(found[0])
        return found[0]["params"]

    async def call(self, method: str, **params: Any) -> Any:
        """The result of a method."""
        answer = await self.answer(await self.start(method, **params))
        assert "error" not in answer, answer
        return answer["result"]

    async def error(self, method: str, **params: Any) -> dict[str, Any]:
        """The error of a method."""
        return (await self.answer(await self.start(method, **params)))["error"]  # type: ignore[no-any-return]

    async def ended(self) -> bool:
        """Whether the host closes the connection, after whatever it still has to say."""
        try:
            while await self.take():
                pass
        except trio.BrokenResourceError:
            pass
        return True


@asynccontextmanager
async def connected(path: str) -> AsyncIterator[Rpc]:
    """A connection to a control socket."""
    with runtime.Address(path) as address:
        stream = await trio.open_unix_socket(address)
    async with stream:
        yield Rpc(stream)


async def until(condition: Callable[[], Any]) -> None:
    """Return once something holds."""
    with trio.fail_after(PATIENCE):
        while not condition():
            await trio.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def own_socket(directory: Path) -> str:
    """Where the host for the present environment listens."""
    file = runtime.plain_config_file(os.environ)
    assert file is not None
    root = runtime.find_root(str(directory), os.environ["HOME"])
    return runtime.socket_path(file, root, os.environ)


class Hosted:
    """A host in this process. path: its socket."""

    def __init__(self, running: RunningHost, path: str) -> None:
        self.running, self.path = running, path

    def connect(self) -> AbstractAsyncContextManager[Rpc]:
        return connected(self.path)

    def pids(self) -> dict[str, int]:
        """The process of each plugin that has one."""
        return {one["name"]: one["pid"] for one in self.running.plugins() if one["pid"]}


InService = Callable[..., AbstractAsyncContextManager[Hosted]]


@pytest.fixture
def in_service(home: Path) -> InService:
    """`async with in_service() as host:` serves what is configured, in this process.

    with_loaded=False does not wait for the plugins. At the end it is stopped.
    """

    @asynccontextmanager
    async def run(*, grace: float = 5.0, with_loaded: bool = True) -> AsyncIterator[Hosted]:
        made: list[RunningHost] = []

        def surface(running: RunningHost) -> Callable[..., Any]:
            async def nothing(*, task_status: trio.TaskStatus[None]) -> None:
                made.append(running)
                task_status.started()

            return nothing

        service = Service(
            read_config=load_config,
            directory=str(home),
            environ=dict(os.environ),
            grace=grace,
            surfaces=(surface,),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, service)
            await until(lambda: made)
            if with_loaded:
                with trio.fail_after(PATIENCE):
                    await made[0].ready.wait()
            yield Hosted(made[0], made[0].addresses["control"])
            made[0].stop()

    return run


class Child:
    """`tinyhost serve` as a process of its own. path: its socket."""

    def __init__(self, home: Path, env: dict[str, str], *options: str) -> None:
        self.path = own_socket(home)
        self.log = home / "serve.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tinyhost_cli.main", "serve", *options],
                cwd=home,
                env=env,
                stdin=subprocess.DEVNULL,
                stderr=log,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
            )

    async def listening(self) -> None:
        """Return once it can be reached."""

        def reached() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            try:
                with runtime.Address(self.path) as to, socket.socket(socket.AF_UNIX) as probe:
                    return probe.connect_ex(to) == 0
            except FileNotFoundError:
                return False

        await until(reached)

    async def ready(self) -> dict[str, Any]:
        """Its status, once all plugins have been loaded."""
        await self.listening()
        async with connected(self.path) as client:
            with trio.fail_after(PATIENCE):
                while not (status := await client.call("host/status"))["ready"]:
                    await trio.sleep(0.01)
        return status  # type: ignore[no-any-return]

    async def ended(self) -> int:
        """Its exit code."""
        await until(lambda: self.process.poll() is not None)
        return self.process.wait()


@pytest.fixture
def child(home: Path) -> Iterator[Callable[..., Child]]:
    """child(*options, **variables): start a host as a child. It is ended at the end."""
    started: list[Child] = []

    def start(*options: str, **env: str) -> Child:
        started.append(Child(home, os.environ | env, *options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.terminate()
        try:
            one.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.wait()
            raise


@pytest.fixture
def configure(home: Path) -> Callable[..., None]:
    """configure(*names, **keys): write the configuration."""

    def write(*names: str, **more: Any) -> None:
        (home / "config" / "config.json").write_text(json.dumps({"plugins": list(names), **more}))

    return write
