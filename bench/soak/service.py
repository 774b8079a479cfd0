"""`tinyhost serve` as a child: started, looked at, and ended."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import trio

from tinyhost import runtime

from .clients import HttpClient, SocketClient
from .place import Place
from .watch import Holdings

WITHIN = 30.0  # seconds for a start or an end; a busy machine needs patience
_FAULTS = ("Traceback", "internal error", "an answer failed", "an HTTP connection failed")


class Service:
    """The host of a place. `with` kills it at the end if it still runs."""

    def __init__(self, place: Place, *options: str) -> None:
        self.place = place
        self.log = place.root / "serve.log"
        home, environ = str(place.root), place.environ
        file = runtime.plain_config_file(environ)
        assert file is not None
        self.path = runtime.socket_path(file, runtime.find_root(home, home), environ)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tinyhost_cli.entry", "serve", *options],
                cwd=place.root,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    @property
    def pid(self) -> int:
        """Its process."""
        return self.process.pid

    async def ready(self) -> dict[str, Any]:
        """Its status, once all plugins are loaded or have failed."""
        with trio.fail_after(WITHIN):
            while True:
                status = await self._status()
                if status is not None and status["ready"] and status["pid"] == self.pid:
                    return status
                assert self.process.poll() is None, self.log.read_text()[-2000:]
                await trio.sleep(0.02)

    async def _status(self) -> dict[str, Any] | None:
        """None as long as nobody listens there."""
        with contextlib.suppress(OSError, trio.BrokenResourceError):
            async with SocketClient.opened(self.path) as client:
                answer = await client.request("host/status", {})
                return None if answer is None else answer["result"]
        return None

    def http(self, status: dict[str, Any]) -> HttpClient:
        """A connection by HTTP; addresses are in the status."""
        addresses = status["addresses"]
        token = Path(addresses["httpToken"]).read_text().strip()
        return HttpClient(int(addresses["http"].rpartition(":")[2]), token)

    def hold(self) -> Holdings:
        """What it holds now."""
        return Holdings.now(self.place.root, self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    async def ended(self) -> tuple[int | None, float]:
        """Its exit code, and the seconds until then; None when it does not end."""
        began = time.monotonic()
        with trio.move_on_after(WITHIN):
            while self.process.poll() is None:  # noqa: ASYNC110
                await trio.sleep(0.01)
        return self.process.poll(), time.monotonic() - began

    def faults(self) -> list[str]:
        """Lines of its log that tell of a fault of its own."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if any(word in line for word in _FAULTS)]

    def left(self) -> list[str]:
        """What it should have taken away: sockets, temporary files."""
        state = self.place.root / "state"
        found = [file for file in state.rglob("*") if _is_passing(file)]
        return [str(file.relative_to(state)) for file in found]


def _is_passing(file: Path) -> bool:
    hidden = file.name.startswith(".") and file.name not in (".lock", ".tidied")
    return file.is_socket() or hidden or file.name.endswith((".tmp", ".part"))


def configuration(plugins: list[str], **keys: Any) -> str:
    """The text of one that lets every client call them."""
    timeouts = {"handshake": "20s", "tool": "1s", "hook": "1s", "stop": "200ms"}
    return json.dumps(
        {
            "plugins": plugins,
            "permissions": {"allow": ["plugin__*"]},
            "settings": {"*": {"timeouts": timeouts}},
            **keys,
        }
    )
