"""A cluster made up for the tests, in the layout that the Insights Operator writes."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.insights.loading import Loaded, load
from tinyhost_plugins.insights.options import Options

Files = dict[str, Any]


def condition(kind: str, status: str, message: str = "", reason: str = "") -> dict[str, str]:
    since = "2026-03-01T10:00:00Z"
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
        "lastHeartbeatTime": since,
    }


def node(name: str, role: str, ready: str = "True", *more: dict[str, str]) -> Files:
    return {
        "metadata": {"name": name, "labels": {f"node-role.kubernetes.io/{role}": ""}},
        "spec": {},
        "status": {
            "capacity": {"cpu": "8", "memory": "16777216Ki"},
            "allocatable": {"cpu": "7500m", "memory": "15Gi"},
            "nodeInfo": {"kubeletVersion": "v1.31.3"},
            "conditions": [*more, condition("Ready", ready, "kubelet stopped posting")],
        },
    }


def operator(name: str, **states: str) -> Files:
    known = {"Available": "True", "Degraded": "False", "Progressing": "False", **states}
    entries = [condition(kind, status, f"{name} {kind}") for kind, status in known.items()]
    versions = [{"name": "operator", "version": "4.18.2"}, {"name": name, "version": "3.5"}]
    return {"metadata": {"name": name}, "status": {"conditions": entries, "versions": versions}}


def container(name: str, request: str = "", limit: str = "") -> Files:
    pairs = {"requests": request, "limits": limit}
    found = {key: {"memory": value} for key, value in pairs.items() if value}
    return {"name": name, "resources": found}


def pod(
    namespace: str, name: str, *containers: Files, phase: str = "Running", **status: Any
) -> Files:
    return {
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"containers": list(containers)},
        "status": {"phase": phase, **status},
    }


def alert(name: str, severity: str | None, message: str = "", **labels: str) -> Files:
    given = {"alertname": name, **labels} | ({"severity": severity} if severity else {})
    return {
        "labels": given,
        "annotations": {"description": message},
        "startsAt": "2026-03-01T09:00:00Z",
        "status": {"state": "active"},
    }


@pytest.fixture
def cluster() -> Files:
    """Paths and contents: a value is written as JSON, a text as it is."""
    return {
        "config/id": "11111111-2222-3333-4444-555555555555",
        "config/version.json": {
            "spec": {
                "clusterID": "11111111-2222-3333-4444-555555555555",
                "channel": "stable-4.18",
            },
            "status": {
                "desired": {"version": "4.18.2"},
                "history": [
                    {
                        "version": "4.18.2",
                        "state": "Partial",
                        "startedTime": "2026-03-01T08:00:00Z",
                        "completionTime": None,
                    }
                ],
                "availableUpdates": [{"version": "4.18.3"}],
                "conditions": [condition("Failing", "True", "etcd is\nslow", "OperatorSlow")],
            },
        },
        "config/infrastructure.json": {
            "status": {"platformStatus": {"type": "AWS"}, "infrastructureName": "demo-x1"}
        },
        "config/network.json": {
            "spec": {"networkType": "OVNKubernetes", "clusterNetwork": [{"cidr": "10.128.0.0/14"}]}
        },
        "config/node/cp-0.json": node("cp-0", "master"),
        "config/node/worker-0.json": node(
            "worker-0", "worker", "False", condition("DiskPressure", "True", "disk is full")
        ),
        "config/node/logs/cp-0.log": (
            "Mar 01 10:00:00 cp-0 kubenswrapper[1]: E0301 10:00:00.1 1 pod.go:1] it failed\n"
            "Mar 01 10:00:01 cp-0 kernel: oom-kill:constraint=CONSTRAINT_MEMCG task=java\n"
        ),
        "config/machineconfigpools/worker.json": {
            "metadata": {"name": "worker"},
            "spec": {"paused": True},
            "status": {
                "machineCount": 3,
                "readyMachineCount": 2,
                "updatedMachineCount": 2,
                "degradedMachineCount": 1,
                "conditions": [condition("Degraded", "True", "node worker-0 is stuck", "Stuck")],
            },
        },
        "config/clusteroperator/etcd.json": operator("etcd"),
        "config/clusteroperator/ingress.json": operator("ingress", Degraded="True"),
        "config/clusteroperator/dns.json": operator("dns", Available="False", Degraded="True"),
        "config/clusteroperator/console.json": operator("console", Progressing="True"),
        "config/clusteroperator/storage.json": operator("storage", Upgradeable="False"),
        "config/clusteroperator/operator.openshift.io/etcd/cluster.json": {
            "name": "cluster",
            "spec": {"managementState": "Managed", "unsupportedConfigOverrides": {"x": True}},
        },
        "config/pod/openshift-etcd/etcd-cp-0.json": pod(
            "openshift-etcd",
            "etcd-cp-0",
            container("etcd", "600Mi"),
            containerStatuses=[
                {
                    "name": "etcd",
                    "restartCount": 12,
                    "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
                }
            ],
        ),
        "config/pod/shop/cart-1.json": pod(
            "shop",
            "cart-1",
            container("cart", "900M", "1G"),
            container("proxy", "1Gi", "4Gi"),
            containerStatuses=[
                {
                    "name": "cart",
                    "restartCount": 3,
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}},
                },
                {
                    "name": "proxy",
                    "restartCount": 1,
                    "state": {"terminated": {"reason": "Error", "exitCode": 137}},
                },
            ],
        ),
        "config/pod/shop/late-1.json": pod(
            "shop",
            "late-1",
            container("late"),
            phase="Pending",
            conditions=[condition("PodScheduled", "False", "no node fits", "Unschedulable")],
        ),
        "config/pod/openshift-etcd/logs/etcd-cp-0/errors.log": "took too long\n",
        "conditional/namespaces/shop/pods/cart-1/cart-1.json": pod(
            "shop", "cart-1", container("cart")
        ),
        "conditional/namespaces/shop/pods/web-1/web-1.json": pod(
            "shop", "web-1", container("web"), phase="Failed", reason="Evicted"
        ),
        "config/alerts.json": [
            alert("KubeNodeNotReady", "critical", "worker-0 is\nnot ready", node="worker-0"),
            alert("etcdSlow", "warning", namespace="openshift-etcd"),
            alert("Watchdog", "none"),
            alert("Strange", "Page"),
            alert("Unlabelled", None),
        ],
        "config/silenced_alerts.json": [
            alert("Silent", "critical") | {"status": {"state": "suppressed"}}
        ],
        "config/namespaces_with_overlapping_uids.json": [["b", "a"], ["c", "d"]],
        "config/storage/storageclasses/fast.json": {
            "metadata": {
                "name": "fast",
                "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
            },
            "provisioner": "ebs.csi.aws.com",
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
        },
        "config/persistentvolumes/pv-1.json": {
            "metadata": {"name": "pv-1"},
            "spec": {
                "capacity": {"storage": "20Gi"},
                "claimRef": {"namespace": "shop", "name": "data"},
                "storageClassName": "fast",
            },
            "status": {"phase": "Bound"},
        },
        "config/storage/openshift-storage/cephclusters/ceph.json": {
            "phase": "Ready",
            "ceph": {"health": "HEALTH_WARN", "details": {"OSD_NEARFULL": {}}},
            "version": {"version": "18.2"},
        },
        "config/pdbs/openshift-etcd/etcd-guard-pdb.json": {
            "metadata": {"name": "etcd-guard-pdb", "namespace": "openshift-etcd"},
            "status": {"currentHealthy": 2, "expectedPods": 3, "disruptionsAllowed": 0},
        },
        "config/metrics": (
            "# TYPE namespace:container_memory_usage_bytes:sum untyped\n"
            'namespace:container_memory_usage_bytes:sum{namespace="shop"} 5.36870912e+08 1700000\n'
            'namespace:container_memory_usage_bytes:sum{namespace="openshift-etcd"} 1e9 1700000\n'
            'etcd_server_slow_apply_total{pod="etcd-cp-0",instance="a"} 8 1700000\n'
        ),
        "events/openshift-etcd.json": {
            "items": [
                {
                    "namespace": "openshift-etcd",
                    "lastTimestamp": f"2026-03-01T10:0{minute}:00Z",
                    "reason": "Unhealthy",
                    "message": f"probe {minute} failed",
                    "type": "Warning",
                }
                for minute in (2, 1)
            ]
        },
        "insights-operator/gathers.json": {
            "status_reports": [
                {"name": "clusterconfig/version", "errors": None, "panic": None},
                {"name": "clusterconfig/pods", "errors": ["no access"], "panic": None},
            ]
        },
        "config/secrets/openshift-config/support/data.json": {"token": "never looked at"},
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """write(files, root="", name="archive.tar.gz"): an archive in the test's folder."""

    def write(files: Mapping[str, Any], root: str = "", name: str = "archive.tar.gz") -> Path:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as made:
            for path, value in files.items():
                data = (value if isinstance(value, str) else json.dumps(value)).encode()
                info = tarfile.TarInfo(root + path)
                info.size = len(data)
                made.addfile(info, io.BytesIO(data))
        target = tmp_path / name
        target.write_bytes(gzip.compress(out.getvalue(), 1))
        return target

    return write


@pytest.fixture
def loaded(write: Callable[..., Path]) -> Callable[[Mapping[str, Any]], Loaded]:
    """loaded(files): an archive of these files, read."""
    return lambda files: load(write(files), Options())
