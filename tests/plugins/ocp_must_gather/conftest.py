"""A cluster made up for the tests, in the layout that a must-gather has."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from trees import write_tree

from tinyhost_plugins.ocp_must_gather.plugin import build
from tinyhost_sdk import testing

Files = dict[str, Any]
Write = Callable[..., Path]
Ask = Callable[..., list[str]]
Call = Callable[..., list[str]]

GATHERED = datetime(2026, 3, 1, 12, tzinfo=UTC)
CONFIG = "cluster-scoped-resources/config.openshift.io"
MACHINES = "cluster-scoped-resources/machineconfiguration.openshift.io"
OVN = "namespaces/openshift-ovn-kubernetes"
LONG = "the reason is told at length, " * 20


def condition(kind: str, status: str, message: str = "", reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def node(name: str, role: str, *conditions: dict[str, str], **spec: Any) -> Files:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {f"node-role.kubernetes.io/{role}": "", "x": "y"}},
        "spec": spec,
        "status": {
            "capacity": {"cpu": "8", "memory": "16777216Ki"},
            "nodeInfo": {"kubeletVersion": "v1.31.3"},
            "conditions": list(conditions) or [condition("Ready", "True")],
        },
    }


def operator(name: str, message: str = "", **states: str) -> Files:
    known = {"Available": "True", "Degraded": "False", "Progressing": "False", **states}
    entries = [condition(kind, status, message) for kind, status in known.items()]
    versions = [{"name": name, "version": "9"}, {"name": "operator", "version": "4.18.2"}]
    return {"metadata": {"name": name}, "status": {"conditions": entries, "versions": versions}}


def pool(name: str, total: int, ready: int, *conditions: dict[str, str]) -> Files:
    return {
        "metadata": {"name": name},
        "spec": {"paused": ready < total},
        "status": {
            "machineCount": total,
            "readyMachineCount": ready,
            "updatedMachineCount": ready,
            "degradedMachineCount": total - ready,
            "configuration": {"name": f"rendered-{name}-1"},
            "conditions": list(conditions),
        },
    }


def status(restarts: int, state: Files, ready: bool = False) -> Files:
    return {"restartCount": restarts, "ready": ready, "state": state}


def pod(name: str, phase: str, *containers: Files, init: tuple[Files, ...] = ()) -> Files:
    return {
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"nodeName": "worker-0"},
        "status": {
            "phase": phase,
            "containerStatuses": list(containers),
            "initContainerStatuses": list(init),
        },
    }


def event(name: str, kind: str, reason: str, count: int, message: str) -> Files:
    return {
        "metadata": {"name": name},
        "type": kind,
        "reason": reason,
        "count": count,
        "message": message,
        "lastTimestamp": "2026-03-01T10:00:00Z",
        "involvedObject": {"kind": "Pod", "name": "cart-1"},
    }


def listed(*items: Files) -> Files:
    return {"kind": "ThingList", "items": list(items)}


@pytest.fixture(scope="session")
def certificate() -> Callable[..., str]:
    """certificate(subject, days): one in PEM that ends so many days after the gathering."""
    key = ec.generate_private_key(ec.SECP256R1())

    def make(subject: str, days: float, san: str = "", begins: float = -400) -> str:
        name = [x509.NameAttribute(NameOID.COMMON_NAME, subject)] if subject else []
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name(name))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test-ca")]))
            .public_key(key.public_key())
            .serial_number(int(days * 1000) + 1_000_000)
            .not_valid_before(GATHERED + timedelta(days=begins))
            .not_valid_after(GATHERED + timedelta(days=days))
            .add_extension(x509.BasicConstraints(subject.endswith("ca"), None), critical=True)
        )
        if san:
            names = x509.SubjectAlternativeName([x509.DNSName(san)])
            builder = builder.add_extension(names, critical=False)
        made = builder.sign(key, hashes.SHA256())
        return made.public_bytes(serialization.Encoding.PEM).decode()

    return make


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def cluster(certificate: Callable[..., str]) -> Files:
    """Paths and contents: a value is written as YAML or JSON, a text as it is."""
    ca = certificate("root-ca", 3000)
    return {
        "timestamp": "2026-03-01 12:00:00.123456789 +0000 UTC m=+0.1\n",
        "version": "openshift/must-gather\n4.18\n",
        f"{CONFIG}/clusterversions/version.yaml": {
            "metadata": {"name": "version"},
            "spec": {"channel": "stable-4.18", "clusterID": "1111-2222"},
            "status": {
                "desired": {"version": "4.18.2", "image": "quay.io/release@sha256:abc"},
                "history": [
                    {
                        "version": "4.18.2",
                        "state": "Completed",
                        "startedTime": "2026-02-01T08:00:00Z",
                        "completionTime": "2026-02-01T09:00:00Z",
                    }
                ],
                "availableUpdates": [{"version": "4.18.3"}],
                "conditions": [condition("Available", "True"), condition("Failing", "True", LONG)],
            },
        },
        "cluster-scoped-resources/core/nodes/cp-0.yaml": node("cp-0", "master"),
        "cluster-scoped-resources/core/nodes/worker-0.yaml": node(
            "worker-0",
            "worker",
            condition("Ready", "False", "kubelet stopped", "KubeletNotReady"),
            condition("DiskPressure", "True", "disk is full"),
            condition("PIDPressure", "False"),
        ),
        "cluster-scoped-resources/core/nodes/worker-1.yaml": node(
            "worker-1", "worker", condition("Ready", "Unknown"), unschedulable=True
        ),
        f"{CONFIG}/clusteroperators.yaml": listed(
            operator("etcd"),
            operator("ingress", LONG, Degraded="True"),
            operator("dns", "no endpoints", Available="False", Degraded="True"),
            operator("console", "rolling out", Progressing="True"),
        ),
        f"{MACHINES}/machineconfigpools/master.yaml": pool(
            "master", 3, 3, condition("Updated", "True")
        ),
        f"{MACHINES}/machineconfigpools/worker.yaml": pool(
            "worker", 3, 1, condition("Degraded", "True", LONG, "Stuck")
        ),
        f"{MACHINES}/machineconfigs/00-worker.yaml": {"metadata": {"name": "00-worker"}},
        f"{MACHINES}/machineconfigs/rendered-worker-1.yaml": {
            "metadata": {"name": "rendered-worker-1"}
        },
        "namespaces/shop/core/pods.yaml": listed(
            pod("web-1", "Running", status(0, {"running": {}}, True), status(2, {}, True)),
            pod("job-1", "Succeeded", status(0, {"terminated": {"exitCode": 0}})),
            pod(
                "cart-1",
                "Running",
                status(12, {"waiting": {"reason": "CrashLoopBackOff"}}),
                init=(status(3, {"terminated": {"exitCode": 0, "reason": "Completed"}}),),
            ),
        ),
        "namespaces/shop/pods/late-1/late-1.yaml": pod("late-1", "Pending"),
        "namespaces/shop/pods/cart-1/cart-1.yaml": pod("cart-1", "Running"),
        "namespaces/bank/core/pods/ledger.yaml": pod(
            "ledger", "Failed", status(0, {"terminated": {"exitCode": 3, "reason": "Error"}})
        ),
        "namespaces/shop/core/events.yaml": listed(
            event("a", "Normal", "Pulled", 90, "pulled"),
            event("b", "Warning", "BackOff", 7, "back-off ümlaut\nsecond line"),
            event("c", "Warning", "Unhealthy", 40, "probe failed"),
        ),
        "namespaces/bank/events.k8s.io/events.yaml": listed(
            {
                "metadata": {"name": "n"},
                "type": "Normal",
                "reason": "Started",
                "series": {"count": 5, "lastObservedTime": "2026-03-01T11:00:00.000000Z"},
                "note": "started",
                "regarding": {"kind": "Job", "name": "nightly"},
            }
        ),
        "namespaces/shop/core/secrets.yaml": listed(
            {
                "metadata": {"name": "serving"},
                "data": {
                    "tls.crt": b64(certificate("web.shop", 10) + ca),
                    "tls.key": b64("1704 bytes long"),
                },
            },
            {"metadata": {"name": "old"}, "data": {"tls.crt": b64(certificate("old.shop", -5))}},
        ),
        "namespaces/bank/core/secrets/san.yaml": {
            "metadata": {"name": "san"},
            "data": {"tls.crt": b64(certificate("", 500, "san.bank"))},
        },
        "namespaces/shop/core/configmaps.yaml": listed(
            {"metadata": {"name": "bundle"}, "data": {"ca-bundle.crt": "# root\n" + ca}},
            {"metadata": {"name": "settings"}, "data": {"a": "b"}},
        ),
        "namespaces/bank/core/configmaps.yaml": listed(
            {"metadata": {"name": "bundle"}, "data": {"ca-bundle.crt": ca}}
        ),
        "namespaces/shop/networking.k8s.io/networkpolicies/deny.yaml": {
            "metadata": {"name": "deny"}
        },
        "namespaces/bank/networking.k8s.io/networkpolicies.yaml": listed(
            {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}
        ),
        "cluster-scoped-resources/k8s.ovn.org/egressips/out.yaml": {
            "metadata": {"name": "out"},
            "spec": {"egressIPs": ["10.0.0.9"]},
            "status": {"items": [{"egressIP": "10.0.0.9", "node": "worker-0"}]},
        },
        f"{OVN}/core/pods.yaml": listed(
            pod("ovnkube-node-a", "Running", status(1, {"running": {}}, True))
        ),
        f"{OVN}/pods/ovnkube-node-a/ovnkube/ovnkube/logs/current.log": (
            "2026-03-01T10:00:00Z I0301 all is well\n"
            "2026-03-01T10:00:01Z Error: it FAILED\n"
            "2026-03-01T10:00:02Z timeout\n"
        ),
        "host_service_logs/masters/kubelet_service.log": "".join(
            f"cp-0 Mar 01 10:00:{second:02}.000000 cp-0 kubenswrapper[2]: line {second}\n"
            for second in range(30)
        ),
        "host_service_logs/workers/crio_service.log": (
            "-- Logs begin at Sun 2026-03-01 --\n"
            "Mar 01 10:00:00.000000 worker-0 crio[1]: image is missing\n"
            "Mar 01 10:00:01.000000 worker-1 crio[1]: talks to worker-0, image found\n"
        ),
        "monitoring/prometheus/rules.json": json.dumps(
            {
                "status": "success",
                "data": {
                    "groups": [
                        {
                            "rules": [
                                {
                                    "name": "NodeDown",
                                    "state": "firing",
                                    "query": "up == 0",
                                    "labels": {"severity": "critical"},
                                    "alerts": [
                                        {
                                            "state": "firing",
                                            "labels": {
                                                "alertname": "NodeDown",
                                                "severity": "critical",
                                                "namespace": "shop",
                                            },
                                            "annotations": {"summary": "worker-0 is\ndown"},
                                            "activeAt": "2026-03-01T09:00:00.123Z",
                                        }
                                    ],
                                },
                                {
                                    "name": "instance:load",
                                    "query": "sum(load)",
                                    "type": "recording",
                                },
                            ]
                        }
                    ]
                },
            }
        ),
        "monitoring/prometheus/rules.json.stderr": "",
        "monitoring/prometheus/prometheus-k8s-0/active-targets.json": json.dumps(
            {"data": {"activeTargets": [{"health": "down", "scrapeUrl": "https://a/metrics"}]}}
        ),
        "monitoring/prometheus/prometheus-k8s-0/active-targets.json.stderr": "it took too long\n",
        "monitoring/metrics/metrics.openmetrics": (
            "# HELP up Whether\n# TYPE up gauge\n"
            + "".join(f'up{{job="a{number}"}} 1\n' for number in range(60))
        ),
        "audit_logs/kube-apiserver/x.log": "{}\n",
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(files, root="gather"): a must-gather in the test's folder."""

    def write(files: Mapping[str, Any], root: str = "gather") -> Path:
        texts = {
            name: value if isinstance(value, str | bytes) else yaml.safe_dump(value)
            for name, value in files.items()
        }
        return write_tree(tmp_path / root, texts)

    return write


@pytest.fixture
def ask(write: Write) -> Iterator[Ask]:
    """ask(files, tool, **args): the lines of an answer about these files, with single blanks."""
    with testing.drive(build()) as driver:

        def ask(files: Files, tool: str, **args: Any) -> list[str]:
            # A must-gather is one for having one of these folders.
            path = write({"namespaces/default/core/x": "", **files})
            result = driver.call_tool(tool, {"path": str(path), **args})
            assert not result.is_error, result.content
            return [" ".join(entry.split()) for entry in result.content.split("\n")]

        yield ask


@pytest.fixture
def call(cluster: Files, ask: Ask) -> Call:
    """call(tool, **args): the lines of an answer about the cluster."""
    return lambda tool, **args: ask(cluster, tool, **args)
