"""HAProxy itself: it accepts the configurations of these tests, and sees in them what we see."""

from __future__ import annotations

import csv
import os
import shutil
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tinyhost_plugins.ingress_inspect.haproxy import SECTIONS, Server, parse, read_server
from tinyhost_plugins.ingress_inspect.words import words

from . import certs
from . import router_config as rc
from .conftest import backends

# Debian puts it where only administrators look.
HAPROXY = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


# A socket's path has 107 bytes at the most, and a test's folder may be long.
CONTROL = Path("haproxy.sock")


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "conf"
    rc.prepare(folder, certs.with_key(certs.certificate(300, "*.apps.example.com")))
    return folder


def check(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    assert HAPROXY, "haproxy is not installed (Debian's package haproxy)"
    path = folder / "haproxy.config"
    path.write_text(text)
    command = [HAPROXY, "-c", "-f", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@contextmanager
def running(make: Callable[[], str], folder: Path) -> Iterator[str]:
    """HAProxy at work, in the foreground. make: a configuration with ports that are free; another
    program may take one before HAProxy has it, and then there is another try.
    """
    with ExitStack() as ending:
        for _try in range(5):
            text = make()
            done = check(text, folder)
            assert done.returncode == 0, done.stderr
            process = start(folder)
            ending.callback(end, process)
            if serves(process):
                break
            assert "cannot bind" in (folder / "stderr").read_text()
        else:
            pytest.fail("no port stayed free")
        yield text


def start(folder: Path) -> subprocess.Popen[bytes]:
    CONTROL.unlink(missing_ok=True)
    with (folder / "stderr").open("w") as errors:
        return subprocess.Popen(
            [str(HAPROXY), "-db", "-f", str(folder / "haproxy.config")],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(30)


def serves(process: subprocess.Popen[bytes]) -> bool:
    """Wait until it answers, or has ended. Its socket is there before it listens, and before it has
    tried all of its ports.
    """
    deadline = time.monotonic() + 60
    while process.poll() is None:
        with suppress(FileNotFoundError, ConnectionError):
            if ask("show stat"):
                return True
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return False


def ask(command: str) -> list[dict[str, str]]:
    """One of HAProxy's tables."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(CONTROL))
        connection.sendall(f"{command}\n".encode())
        text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    head, *rows = [line for line in text.splitlines() if line and line != "1"] or [""]
    names = head.removeprefix("# ")
    separator = "," if "," in names else " "
    return list(csv.DictReader([names, *rows], delimiter=separator))


def servers_in(text: str) -> dict[str, list[Server]]:
    """The servers of each backend, without those in reserve."""
    found: dict[str, list[Server]] = defaultdict(list)
    section = ""
    for line in filter(None, map(words, text.splitlines())):
        if line[0] in SECTIONS:
            section = line[1] if len(line) > 1 else ""
        elif line[0] == "server" and not line[1].startswith("_dynamic-"):
            found[section].append(read_server(line))
    return found


def same_as_haproxy(text: str) -> None:
    """Proxies, their modes and algorithms, and servers with addresses, weights and states."""
    found, servers = parse(text.splitlines()), servers_in(text)
    stat = ask("show stat")
    ends = {(row["pxname"], row["svname"]): row for row in stat}
    backends = {name: row for (name, end), row in ends.items() if end == "BACKEND"}
    assert {p.name: p.mode for p in found.backends} == {n: r["mode"] for n, r in backends.items()}
    frontends = {name: row["mode"] for (name, end), row in ends.items() if end == "FRONTEND"}
    frontends.pop("GLOBAL", None)
    assert {p.name: p.mode for p in found.frontends} == frontends
    for proxy in found.backends:
        algorithm = backends[proxy.name]["algo"]
        # roundrobin is what it does without a word about it; for some it has no name here.
        assert algorithm in (proxy.balance or "roundrobin", "unknown")
    state = ask("show servers state")
    for proxy in found.backends:
        rows = {row["srv_name"]: row for row in state if row["be_name"] == proxy.name}
        assert len(rows) == proxy.servers + proxy.reserve
        assert len(servers[proxy.name]) == proxy.servers
        for server in servers[proxy.name]:
            row = rows[server.name]
            assert server.address == f"{row['srv_addr']}:{row['srv_port']}"
            assert (1 if server.weight is None else server.weight) == int(row["srv_iweight"])
            assert server.disabled == ends[proxy.name, server.name]["status"].startswith("MAINT")


def test_haproxy_accepts_the_configuration_that_the_other_tests_use(conf: Path) -> None:
    done = check(rc.config(conf, backends()), conf)
    assert done.returncode == 0, done.stderr
    assert "ALERT" not in done.stderr


def test_a_router_s_configuration_is_read_as_haproxy_reads_it(conf: Path) -> None:
    more = [
        *backends(),
        rc.http_backend("be_http:a:none", rc.reserve(3)),
        rc.http_backend("be_http:a:idle", rc.server("p", "10.0.0.1", "weight 0"), balance="source"),
        rc.http_backend(
            "be_secure:a:b",
            "  server _dynamic-pod-1 172.4.0.4:8765 weight 0 ssl disabled check verify none",
        ),
    ]

    def make() -> str:
        ports = free_ports(5)
        return rc.config(conf, more, ports=ports, socket=f"unix@{CONTROL}", maxconn=100)

    with running(make, conf) as text:
        same_as_haproxy(text)


def test_quotes_and_other_sections_are_read_as_haproxy_reads_them(conf: Path) -> None:
    def make() -> str:
        first, second = free_ports(2)
        text = rc.ODD.replace("@PORT0@", str(first)).replace("@PORT1@", str(second))
        return text + f"global\n stats socket unix@{CONTROL} level admin\n"

    with running(make, conf) as text:
        same_as_haproxy(text)
