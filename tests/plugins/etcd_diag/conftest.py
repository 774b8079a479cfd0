"""A real etcd, filled as API servers fill theirs, and the snapshots it gives."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tinyhost_plugins.etcd_diag.plugin import build
from tinyhost_sdk import testing

from .gathers import three_pods

T = TypeVar("T")

# Seconds after which something is wrong, however busy the machine is.
PATIENCE = 120


class Etcd:
    """A running etcd of one member. Requests go through its JSON gateway, for values of any bytes."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.endpoint = f"http://127.0.0.1:{port}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def call(self, path: str, **body: Any) -> Any:
        self._connection.request("POST", f"/v3/{path}", json.dumps(body))
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return json.loads(content)

    def put(self, key: str, value: bytes, **more: Any) -> None:
        self.call("kv/put", key=b64(key.encode()), value=b64(value), **more)

    def put_many(self, items: dict[str, bytes]) -> None:
        """All in one transaction, so that they share a main revision."""
        puts = [
            {"requestPut": {"key": b64(key.encode()), "value": b64(value)}}
            for key, value in items.items()
        ]
        self.call("kv/txn", success=puts)

    def delete(self, key: str) -> None:
        self.call("kv/deleterange", key=b64(key.encode()))

    def compact(self, revision: int) -> None:
        self.call("kv/compaction", revision=revision, physical=True)

    def revision(self) -> int:
        return int(self.call("kv/range", key=b64(b"x"))["header"]["revision"])

    def keys(self) -> list[str]:
        """All keys that exist, as etcd itself says."""
        lines = self.etcdctl("get", "", "--prefix", "--keys-only").splitlines()
        return sorted(line for line in lines if line)

    def save(self, path: Path) -> dict[str, int]:
        """Save a snapshot; what `etcdctl snapshot status` says of it."""
        self.etcdctl("snapshot", "save", str(path))
        status: dict[str, int] = json.loads(
            self.etcdctl("snapshot", "status", str(path), "-w", "json")
        )
        return status

    def etcdctl(self, *words: str) -> str:
        done = subprocess.run(
            ["etcdctl", f"--command-timeout={PATIENCE}s", f"--dial-timeout={PATIENCE}s", *words],
            env={**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": self.endpoint},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def log(self) -> str:
        return (self.folder / "etcd.log").read_text()

    def close(self) -> None:
        self._connection.close()


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@contextmanager
def unused_ports(number: int) -> Iterator[list[int]]:
    """Ports that nobody else gets, and on which nobody answers, as long as they are held."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        yield [one.getsockname()[1] for one in held]


@contextmanager
def running_etcd(folder: Path, *options: str) -> Iterator[Etcd]:
    """An etcd of Debian's package etcd-server, which is gone at the end."""
    assert shutil.which("etcd"), "the tests need the Debian packages etcd-server and etcd-client"
    for _ in range(5):
        etcd, process = _start(folder, options)
        try:
            if _answers(etcd, process):
                yield etcd
                return
        finally:
            etcd.close()
            _end(process)
        # Between letting go of the ports and taking them, somebody else took one.
        shutil.rmtree(folder / "data", ignore_errors=True)
        (folder / "etcd.log").unlink(missing_ok=True)
    raise AssertionError("etcd did not start, five times")


def _start(folder: Path, options: Sequence[str]) -> tuple[Etcd, subprocess.Popen[bytes]]:
    with unused_ports(2) as (client, peer):
        pass
    urls = {"client": f"http://127.0.0.1:{client}", "peer": f"http://127.0.0.1:{peer}"}
    command = [
        *("etcd", "--name", "m0", "--data-dir", str(folder / "data"), "--logger", "zap"),
        *("--log-outputs", str(folder / "etcd.log")),
        *("--listen-client-urls", urls["client"], "--advertise-client-urls", urls["client"]),
        *("--listen-peer-urls", urls["peer"], "--initial-advertise-peer-urls", urls["peer"]),
        *("--initial-cluster", f"m0={urls['peer']}"),
        *("--heartbeat-interval", "20", "--election-timeout", "200", *options),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Etcd(folder, client), process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _answers(etcd: Etcd, process: subprocess.Popen[bytes]) -> bool:
    """Wait until it serves; False when it has ended instead."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None:
        try:
            # Its own log, for whoever took its port may be another test's etcd.
            if "serving client traffic" in etcd.log:
                etcd.revision()
                return True
        except (OSError, AssertionError, http.client.HTTPException):
            etcd.close()
        assert time.monotonic() < end, f"etcd did not answer within {PATIENCE} seconds"
        time.sleep(0.05)
    return False


def eventually(ask: Callable[[], T], is_good: Callable[[T], bool]) -> T:
    """The answer once it is good: the plugin's limits for etcdctl are short for a busy machine."""
    end = time.monotonic() + PATIENCE
    while not is_good(answer := ask()) and time.monotonic() < end:
        pass
    return answer


@pytest.fixture(scope="session")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    """An etcd that a test may read, and write below /scratch/."""
    with running_etcd(tmp_path_factory.mktemp("etcd")) as one:
        yield one


def field(number: int, content: bytes) -> bytes:
    """A field of bytes in a message of Protocol Buffers."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def protobuf(version: str, kind: str, name: str, namespace: str = "", rest: bytes = b"") -> bytes:
    """An object as an API server keeps it: magic, envelope, metadata, content."""
    labels = field(11, field(1, b"app") + field(2, b"web"))
    notes = field(12, field(1, b"note/name") + field(2, b"note-value"))
    created = field(8, varint(1 << 3) + varint(1_700_000_000))
    meta = field(1, name.encode()) + field(3, namespace.encode()) + field(5, b"uid-1")
    meta += created + labels + notes
    envelope = field(1, field(1, version.encode()) + field(2, kind.encode()))
    return b"k8s\0" + envelope + field(2, field(1, meta) + rest)


SECRET = "aHVudGVyMi1odW50ZXIy"
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "shop"},
    "data": {"colour": "blue", "app.properties": "db.password=swordfish99\nmode=fast"},
}
SECRET_OBJECT = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "login",
        "namespace": "shop",
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"p":"' + SECRET + '"}}'
        },
    },
    "data": {"password": SECRET, "user": "Ym9i"},
    "stringData": {"other": "hunter2-hunter2"},
    "type": "Opaque",
}


def fill(etcd: Etcd) -> None:
    """Keys of both API servers and of upstream Kubernetes, with a history."""
    for name in ("web-1", "web-2", "web-3"):
        etcd.put(f"/kubernetes.io/pods/shop/{name}", protobuf("v1", "Pod", name, "shop", b"v1"))
    etcd.put_many(
        {
            f"/registry/events/shop/web.{number:03}": protobuf("v1", "Event", f"web.{number:03}")
            for number in range(100)
        }
    )
    etcd.put("/kubernetes.io/configmaps/shop/settings", json.dumps(CONFIG_MAP).encode())
    etcd.put("/kubernetes.io/secrets/shop/login", json.dumps(SECRET_OBJECT).encode())
    etcd.put("/kubernetes.io/services/specs/shop/web", protobuf("v1", "Service", "web", "shop"))
    etcd.put("/kubernetes.io/minions/node-a", protobuf("v1", "Node", "node-a"))
    etcd.put("/openshift.io/oauth/accesstokens/sha256~abcdefghijkl", b'{"kind":"OAuthAccessToken"}')
    certificate = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "spec": {"a": "b"}}
    etcd.put(
        "/kubernetes.io/cert-manager.io/certificates/shop/tls", json.dumps(certificate).encode()
    )
    etcd.put("/kubernetes.io/secrets/shop/sealed", b"k8s:enc:aescbc:v1:key1:" + b"\x01\x02" * 40)
    etcd.put(
        "/kubernetes.io/configmaps/shop/large",
        b'{"kind":"ConfigMap","data":"' + b"x" * 60000 + b'"}',
    )
    etcd.put("plain-key", b"not of Kubernetes")
    lease = etcd.call("lease/grant", TTL="3600")["ID"]
    etcd.put("/kubernetes.io/masterleases/10.0.0.1", protobuf("v1", "Endpoints", "x"), lease=lease)
    for round in range(5):
        etcd.put(
            "/kubernetes.io/pods/shop/web-1", protobuf("v1", "Pod", "web-1", "shop", b"%d" % round)
        )
    etcd.delete("/kubernetes.io/pods/shop/web-2")
    etcd.compact(etcd.revision())
    # After the compaction: a deletion that is kept, and a key that came back.
    etcd.delete("/kubernetes.io/pods/shop/web-3")
    etcd.delete("/kubernetes.io/minions/node-a")
    etcd.put("/kubernetes.io/minions/node-a", protobuf("v1", "Node", "node-a", "", b"again"))


class Saved:
    """A snapshot, what etcdctl says of it, and the keys that etcd had."""

    def __init__(self, path: Path, status: dict[str, int], keys: list[str], revision: int) -> None:
        self.path = path
        self.status = status
        self.keys = keys
        self.revision = revision


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """A snapshot of a real etcd with Kubernetes-shaped keys; not to be changed."""
    folder = tmp_path_factory.mktemp("saved")
    with running_etcd(folder) as one:
        fill(one)
        path = folder / "snapshot.db"
        return Saved(path, one.save(path), one.keys(), one.revision())


@pytest.fixture
def driver() -> Iterator[testing.Driver]:
    with testing.drive(build()) as one:
        yield one


@pytest.fixture
def gather(tmp_path: Path) -> Path:
    """A must-gather of three pods."""
    three_pods(tmp_path)
    return tmp_path
