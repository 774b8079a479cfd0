"""A cluster, an SSO server and a console on this machine, and an oc that is a script."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import os
import ssl
import stat
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from local_server import LocalServer, QuietHandler, running

TOKEN = "sha256~cluster-t0ken-value"
OFFLINE = "offline-t0ken-value"
ACCESS = "access-t0ken-value"
CLUSTER_ID = "11111111-2222-3333-4444-555555555555"

USER = "/apis/user.openshift.io/v1/users/~"
VERSION = "/apis/config.openshift.io/v1/clusterversions/version"
OPERATORS = "/apis/operators.coreos.com/v1alpha1/clusterserviceversions"
ROUTE = "/apis/route.openshift.io/v1/namespaces/openshift-monitoring/routes/alertmanager-main"
ALERTS = "/api/v2/alerts"
SSO = "/auth/realms/redhat-external/protocol/openid-connect/token"
COSTS = "/api/cost-management/v1/reports/openshift/costs/"


class Asked(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    authorization: str
    form: dict[str, str]


class Server(LocalServer):
    """Answers with the values under its paths; (status, value) for a refusal."""

    def __init__(self, answers: dict[str, Any], token: str = "") -> None:
        super().__init__(Handler)
        self.answers = answers
        self.token = token
        self.asked: list[Asked] = []

    def asked_for(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path == path]


class Handler(QuietHandler):
    server: Server
    timeout = 10  # one that connects and says nothing

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        path, _, query = self.path.partition("?")
        given = self.headers.get("authorization", "")
        form = dict(urllib.parse.parse_qsl(body)) if body and body[0] not in "{[" else {}
        asked = Asked(self.command, path, dict(urllib.parse.parse_qsl(query)), given, form)
        self.server.asked.append(asked)
        if self.server.token and given != f"Bearer {self.server.token}":
            self.reply(*status(401, "Unauthorized", "Unauthorized"))
            return
        value = self.server.answers.get(path, status(404, "NotFound", "nothing here"))
        value = value(asked) if callable(value) else value
        self.reply(*(value if isinstance(value, tuple) else (200, value)))

    def reply(self, code: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815


def status(code: int, reason: str, message: str) -> tuple[int, Any]:
    """A refusal as an API server words it."""
    value = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    return code, {**value, "reason": reason, "message": message}


def node(name: str, *roles: str, ready: str = "True") -> dict[str, Any]:
    labels = {f"node-role.kubernetes.io/{role}": "" for role in roles}
    conditions = [{"type": "Ready", "status": ready}]
    return {"metadata": {"name": name, "labels": labels}, "status": {"conditions": conditions}}


def operator(name: str, display: str = "") -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"displayName": display} if display else {}}


def alert(name: str, severity: str, namespace: str = "") -> dict[str, Any]:
    labels = {"alertname": name, "severity": severity, "namespace": namespace}
    labels = {key: value for key, value in labels.items() if value}
    return {"labels": labels, "status": {"state": "active"}}


def cost(amount: float, units: str = "USD") -> dict[str, Any]:
    return {"cost": {"total": {"value": amount, "units": units}}}


def openshift() -> dict[str, Any]:
    """Answers of a cluster with five nodes, two operators and its Alertmanager elsewhere."""
    return {
        USER: {"kind": "User", "metadata": {"name": "kube:admin"}},
        "/version": {"gitVersion": "v1.31.3", "major": "1", "minor": "31"},
        VERSION: {
            "spec": {"clusterID": CLUSTER_ID},
            "status": {
                "desired": {"version": "4.18.2"},
                "history": [{"state": "Completed", "version": "4.18.2"}],
            },
        },
        "/api/v1/nodes": {
            "items": [
                *(node(f"cp-{number}", "control-plane", "master") for number in range(3)),
                node("w-0", "worker"),
                node("w-1", "worker", ready="Unknown"),
            ]
        },
        OPERATORS: {
            "items": [
                operator("elasticsearch.v5.8", "OpenShift Elasticsearch"),
                operator("elasticsearch.v5.8", "OpenShift Elasticsearch"),
                operator("quay-operator.v3.10.1"),
            ]
        },
    }


def report(*projects: dict[str, Any]) -> dict[str, Any]:
    """Costs as the service answers them, for one month."""
    return {"meta": {"count": 1}, "links": {}, "data": [{"date": "2026-03", "projects": projects}]}


def firing() -> list[dict[str, Any]]:
    return [
        alert("etcdDown", "critical", "openshift-etcd"),
        alert("KubePodCrash", "warning", "shop"),
        alert("KubePodCrash", "warning", "shop"),
        alert("NodeClock", "warning"),
        alert("Update", "info"),
        alert("Watchdog", "none"),
    ]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a certificate for 127.0.0.1, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path_factory.mktemp("certificate") / "server.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


Serve = Callable[..., Server]


@pytest.fixture
def serve(certificate: Path) -> Iterator[Serve]:
    """serve(answers, token="", tls=False): a running server."""
    with running() as start:

        def serve(answers: dict[str, Any], token: str = "", *, tls: bool = False) -> Server:
            server = Server(answers, token)
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate)
                server.use_tls(context)
            return start(server)

        yield serve


def kubeconfig(server: str, certificate: Path | None = None, **user: Any) -> dict[str, Any]:
    cluster: dict[str, Any] = {"server": server}
    if certificate is not None:
        data = base64.b64encode(certificate.read_bytes()).decode()
        cluster["certificate-authority-data"] = data
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "shop/demo/me",
        "clusters": [{"name": "demo", "cluster": cluster}],
        "users": [{"name": "me", "user": user or {"token": TOKEN}}],
        "contexts": [
            {
                "name": "shop/demo/me",
                "context": {"cluster": "demo", "user": "me", "namespace": "shop"},
            }
        ],
    }


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kubeconfig in the home of somebody who has nothing else; there is none at first."""
    folder = tmp_path / "person"
    (folder / ".kube").mkdir(parents=True)
    (tmp_path / "run").mkdir()
    for name in ("KUBECONFIG", "OCP_API_TOKEN", "OCP_OFFLINE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return folder / ".kube" / "config"


def listing(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """All files below a folder: what is in them, and when and for whom they were written."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            about = path.stat()
            found[str(path)] = (path.read_bytes(), about.st_mtime_ns, about.st_mode)
    return found


class FakeOc:
    """An oc that answers from files, and writes down what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.program = folder / "bin" / "oc"
        self.program.parent.mkdir(parents=True)
        (folder / "answers").mkdir()
        self.log.write_text("")
        self.program.write_text(
            f"""#!/bin/sh
printf '%s\\n' "$*" >> {self.log}
echo "Warning: nobody reads this" >&2
case "$1" in
config) cat "$KUBECONFIG"; exit ;;
get) path=${{2#--raw=}} ;;
*) path=$1-$2 ;;
esac
file={folder}/answers/$(echo "${{path%%\\?*}}" | tr '/' '_')
if [ -e "$file.sh" ]; then . "$file.sh"; fi
if [ -e "$file" ]; then exec cat "$file"; fi
echo 'Error from server (NotFound): the server could not find the requested resource' >&2
exit 1
"""
        )
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def answer(self, answers: dict[str, Any]) -> None:
        for path, value in answers.items():
            (self.folder / "answers" / path.replace("/", "_")).write_text(json.dumps(value))

    def runs(self, path: str, body: str) -> None:
        """Have it run these lines when it is asked for a path."""
        (self.folder / "answers" / (path.replace("/", "_") + ".sh")).write_text(body)

    def asked(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def oc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: Path) -> FakeOc:
    """On PATH before any other, logged in to a cluster as openshift() has it."""
    fake = FakeOc(tmp_path / "fake")
    fake.answer(openshift())
    monkeypatch.setenv("PATH", f"{fake.program.parent}:{os.environ['PATH']}")
    person.write_text(json.dumps(kubeconfig("https://api.demo.example:6443")))
    return fake
