"""What a service manager is told: on a real datagram socket, by a real host as well."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio

from tinyhost.surfaces import sd_notify
from tinyhost.surfaces.sd_notify import notify, reloading, watchdog_interval

from .conftest import Child, until

AddPlugin = Callable[[str, str], Path]


class Manager:
    """Listens as a service manager does. address: as it stands in NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.heard: list[str] = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)

    def said(self) -> list[str]:
        """All that was said, one state each, signs of life left out."""
        try:
            while True:
                self.heard += self.socket.recv(4096).decode().split("\n")
        except BlockingIOError:
            return [one for one in self.heard if one != "WATCHDOG=1"]


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = str(tmp_path / "n") if request.param == "path" else f"@tinyhost-{uuid.uuid4().hex}"
    found = Manager(address)
    yield found
    found.socket.close()


def test_states_are_sent_in_one_message(manager: Manager) -> None:
    assert notify({"NOTIFY_SOCKET": manager.address}, "READY=1", "STATUS=é")
    assert manager.socket.recv(100) == "READY=1\nSTATUS=é".encode()


@pytest.mark.parametrize("address", ["", "relative", "vsock:2:1234"])
def test_nothing_is_sent_where_nobody_is_named(address: str) -> None:
    assert not notify({"NOTIFY_SOCKET": address}, "READY=1")
    assert not notify({}, "READY=1")


def test_a_manager_that_is_gone_harms_nothing(tmp_path: Path) -> None:
    assert not notify({"NOTIFY_SOCKET": str(tmp_path / "gone")}, "READY=1")
    assert not notify({"NOTIFY_SOCKET": str(tmp_path / ("long" * 40))}, "READY=1")


def test_a_manager_that_does_not_read_is_not_waited_for(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sd_notify, "_PATIENCE", 0.01)
    environ = {"NOTIFY_SOCKET": manager.address}
    for _ in range(100_000):
        if not notify(environ, "WATCHDOG=1"):
            break
    else:
        pytest.fail("its queue was never full")
    manager.said()
    assert notify(environ, "WATCHDOG=1")


def test_the_time_of_a_reload_is_that_of_the_monotonic_clock() -> None:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    state, stamp = reloading()
    assert state == "RELOADING=1"
    assert before <= int(stamp.removeprefix("MONOTONIC_USEC="))


@pytest.mark.parametrize(
    ("environ", "interval"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "3000000"}, 1.5),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}, 1.5),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_signs_of_life_come_twice_as_often_as_asked_for(
    environ: dict[str, str], interval: float | None
) -> None:
    assert watchdog_interval(environ) == interval


async def test_a_host_tells_when_it_is_ready_reloads_lives_and_stops(
    manager: Manager,
    child: Callable[..., Child],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
) -> None:
    add_plugin("good", "handshake()\nserve()\n")
    add_plugin("bad", "sys.exit(1)\n")
    configure("good", "bad")
    host = child(NOTIFY_SOCKET=manager.address, WATCHDOG_USEC="100000")
    await until(lambda: "READY=1" in manager.said())
    first, status = manager.said()
    assert re.fullmatch(r"STATUS=\d+ plugins loaded, 1 failed", status)
    assert first == "READY=1"
    configure("good")
    host.process.send_signal(signal.SIGHUP)
    await until(lambda: manager.said().count("READY=1") == 2)
    state, stamp, ready, status = manager.said()[2:]
    assert (state, ready) == ("RELOADING=1", "READY=1")
    assert re.fullmatch(r"MONOTONIC_USEC=\d+", stamp)
    assert re.fullmatch(r"STATUS=\d+ plugins loaded", status)
    seen = manager.heard.count("WATCHDOG=1")
    await until(lambda: manager.said() and manager.heard.count("WATCHDOG=1") >= seen + 2)
    host.process.send_signal(signal.SIGTERM)
    assert await host.ended() == 0
    assert manager.said()[6:] == ["STOPPING=1"]


async def test_a_host_that_stops_while_it_reloads_is_not_ready_again(
    manager: Manager,
    child: Callable[..., Child],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
) -> None:
    begun = home / "begun"
    add_plugin("stuck", f"open({str(begun)!r}, 'w').close()\ntime.sleep(600)\n")
    configure()
    host = child(NOTIFY_SOCKET=manager.address)
    await until(lambda: "READY=1" in manager.said())
    configure("stuck")
    host.process.send_signal(signal.SIGHUP)
    await until(begun.exists)
    host.process.send_signal(signal.SIGTERM)
    await host.ended()
    assert manager.said()[-1] == "STOPPING=1"


async def test_a_host_that_is_frozen_gives_no_sign_of_life(
    manager: Manager, child: Callable[..., Child]
) -> None:
    host = child(NOTIFY_SOCKET=manager.address, WATCHDOG_USEC="40000")
    await until(lambda: manager.said() and "WATCHDOG=1" in manager.heard)
    host.process.send_signal(signal.SIGSTOP)
    stat = Path(f"/proc/{host.process.pid}/stat")
    try:
        await until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
        manager.said()
        manager.heard.clear()
        await trio.sleep(0.2)
        manager.said()
        assert manager.heard == []
    finally:
        host.process.send_signal(signal.SIGCONT)
    await until(lambda: manager.said() or manager.heard)
