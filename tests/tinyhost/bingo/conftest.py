"""Bingo plugins for tests: in folders, and behind a link in memory."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

from tinyhost.bingo.messages import HostFolders
from tinyhost.bingo.talk import Deadlines
from tinyhost.config import Config, parse_config
from tinyhost.dialects.bingo import Bingo, Home
from tinyhost.model import ClientCallbacks, Manifest, Timeouts

STUB = Path(__file__).with_name("stub.py")

Json = dict[str, Any]
Answer = Callable[[Json], Any]


def write_plugin(folder: Path, files: Mapping[str, str], **manifest: Any) -> Path:
    """A plugin's folder; the manifest's name is the folder's unless it says another."""
    folder.mkdir(parents=True)
    entry = {"command": "python3", "args": ["-S", "${PLUGIN_ROOT}/main.py"]}
    said = {"name": folder.name, "version": "1.0", "entry": entry, **manifest}
    (folder / "plugin.json").write_text(json.dumps(said))
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def add_stub(home: Path) -> Callable[..., Path]:
    """add_stub(name="stub", **manifest): the stub as a plugin of the person's."""

    def add(name: str = "stub", **manifest: Any) -> Path:
        files = {"main.py": STUB.read_text()}
        return write_plugin(home / "config" / "plugins" / name, files, **manifest)

    return add


@pytest.fixture
def configured(home: Path) -> Callable[..., Config]:
    """configured(stub={...}, **more): a configuration with the stub's options by name."""

    def make(settings: Json | None = None, compat: tuple[str, ...] = (), **options: Json) -> Config:
        value = {
            "plugins": [[name, given] for name, given in options.items()],
            "settings": settings or {},
            "compat": list(compat),
        }
        return parse_config(json.dumps(value), str(home / "config" / "config.json"))

    return make


async def for_ever(params: Json) -> None:
    """An answer that never comes."""
    await trio.sleep_forever()


class MemoryLink:
    """A link whose plugin is the test: `answers` by method get the params, as values.

    sent: every request and notification, as (method, params, how). An answer that is an error
    is raised, and one that is awaitable is awaited.
    """

    for_ever = staticmethod(for_ever)
    plugin = "stub"
    directory = "/plugins/stub"
    stderr = ""
    options: Mapping[str, Any] = {}

    def __init__(self, nursery: trio.Nursery) -> None:
        self.timeouts = Timeouts()
        self.answers: dict[str, Any] = {}
        self.sent: list[tuple[str, Json, Json]] = []
        self.responses: list[Json] = []
        self.extended: list[tuple[object, str]] = []
        self.logged: list[str] = []
        self._nursery = nursery
        self._ids: Iterator[int] = iter(range(1, 1000))

    async def request(self, method: str, params: str, **how: Any) -> Any:
        given = json.loads(params)
        self.sent.append((method, given, how))
        number = next(self._ids)
        if how.get("on_sent"):
            how["on_sent"](number)
        answer = self.answers[method]
        if callable(answer):
            answer = answer(given)
        if isinstance(answer, Awaitable):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def notify(self, method: str, params: str) -> None:
        self.sent.append((method, json.loads(params), {}))

    def respond(self, frame: bytes) -> None:
        self.responses.append(json.loads(frame))

    def extend(self, id: object, message: str) -> None:
        self.extended.append((id, message))

    def spawn(self, task: Callable[[], Any]) -> None:
        self._nursery.start_soon(task)

    def log(self, text: str) -> None:
        self.logged.append(text)

    def changed(self, manifest: Manifest) -> None:
        raise AssertionError("nothing changes on this wire")

    def give_up(self, reason: str) -> None:
        raise AssertionError(reason)

    def params(self, method: str) -> list[Json]:
        """The params of all that was sent of one method."""
        return [params for sent, params, _ in self.sent if sent == method]

    async def shake_hands(
        self, *, callbacks: ClientCallbacks | None = None, **declared: Any
    ) -> Bingo:
        """The dialect after a handshake in which the plugin declared this."""
        self.answers["initialize"] = {
            "protocol": 6,
            "name": "stub",
            "version": "1.0",
            **declared,
        }
        folders = HostFolders(home="/home", config_dir="/config", data_dir="/data")
        home = Home(root="/plugins/stub", project="/project", version="1.0", folders=folders)
        dialect = Bingo(home, callbacks, Deadlines())
        self.manifest = await dialect.handshake(self)
        return dialect


@pytest.fixture
def link(nursery: trio.Nursery) -> MemoryLink:
    return MemoryLink(nursery)
