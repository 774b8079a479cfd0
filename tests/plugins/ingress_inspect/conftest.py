"""A must-gather made up for the tests, laid out as the real ones are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from trees import write_tree

from . import certs
from . import router_config as rc

Files = dict[str, Any]
Write = Callable[[Mapping[str, Any]], Path]

IMAGE = "quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-0123"
PODS = ("router-default-6d5f7c8b9-abcde", "router-default-6d5f7c8b9-fghij")
CONTROLLERS = "namespaces/openshift-ingress-operator/operator.openshift.io/ingresscontrollers"
DOMAIN = "apps.demo.example.com"


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-02-28T08:00:00Z",
    }


def controller(name: str = "default", **fields: Any) -> Files:
    """replicas, available, conditions, spec: what is different from a controller that is well."""
    good = [("Admitted", "True"), ("Available", "True"), ("Degraded", "False")]
    conditions = [condition(kind, status) for kind, status in [*good, ("Progressing", "False")]]
    found = {entry["type"]: entry for entry in [*conditions, *fields.get("conditions", [])]}
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "IngressController",
        "metadata": {"name": name, "namespace": "openshift-ingress-operator"},
        "spec": {"replicas": fields.get("replicas", 2), **fields.get("spec", {})},
        "status": {
            "availableReplicas": fields.get("available", 2),
            "domain": fields.get("domain", DOMAIN),
            "endpointPublishingStrategy": {
                "type": "LoadBalancerService",
                "loadBalancer": {"scope": "External"},
            },
            "conditions": list(found.values()),
        },
    }


def route(namespace: str, name: str, termination: str = "", **fields: Any) -> Files:
    """by: the routers that admitted it. refused: reason and message of the first, which did not.
    tls: more of spec.tls.
    """
    spec: Files = {"host": f"{name}-{namespace}.{DOMAIN}", "to": {"kind": "Service", "name": "web"}}
    if termination:
        spec["tls"] = {"termination": termination, **fields.get("tls", {})}
    ingress = [
        {"host": spec["host"], "routerName": router, "conditions": [condition("Admitted", "True")]}
        for router in fields.get("by", ["default"])
    ]
    if "refused" in fields:
        ingress[0]["conditions"] = [condition("Admitted", "False", *fields["refused"])]
    return {
        "apiVersion": "route.openshift.io/v1",
        "kind": "Route",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
        "status": {"ingress": ingress},
    }


def listed(*items: Files) -> Files:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def secret(name: str, pem: str) -> Files:
    key = certs.in_secret("1704 bytes long")
    return {
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "openshift-ingress"},
        "data": {"tls.crt": certs.in_secret(pem), "tls.key": key},
    }


def backends() -> list[str]:
    """Those of a router that is well: one of each kind."""
    return [
        rc.http_backend(
            "be_edge_http:openshift-console:console",
            rc.server("console-1", "10.128.0.11"),
            rc.server("console-2", "10.129.0.12"),
            rc.reserve(),
        ),
        rc.http_backend("be_http:openshift-monitoring:grafana", rc.server("g-1", "10.128.0.13")),
        rc.tcp_backend(
            "be_tcp:openshift-authentication:oauth",
            rc.server("oauth-1", "10.128.0.14", cookie=False),
        ),
        rc.http_backend(
            "be_secure:openshift-monitoring:prometheus",
            rc.server("prometheus-0", "10.128.0.15", "weight 256 ssl verify none"),
        ),
    ]


def configs(text: str, name: str = "default", pods: tuple[str, ...] = PODS) -> Files:
    return {f"ingress_controllers/{name}/{pod}/haproxy.config": text for pod in pods}


@pytest.fixture
def cluster() -> Files:
    """Paths and contents of a must-gather in which nothing is wrong."""
    log = "2026-03-01T09:00:00.000000000Z I0301 09:00:00.000001       1 healthz.go:257] check failed\n"
    return {
        "version": "openshift/must-gather\n4.18.2\n",
        "timestamp": "2026-03-01 10:00:00.123456789 +0000 UTC m=+0.1\n",
        f"{CONTROLLERS}/default.yaml": controller(),
        "namespaces/openshift-console/route.openshift.io/routes.yaml": listed(
            route("openshift-console", "console", "edge")
        ),
        "namespaces/openshift-authentication/route.openshift.io/routes.yaml": listed(
            route("openshift-authentication", "oauth", "passthrough")
        ),
        "namespaces/openshift-monitoring/route.openshift.io/routes/grafana.yaml": route(
            "openshift-monitoring", "grafana"
        ),
        "namespaces/openshift-monitoring/route.openshift.io/routes/prometheus.yaml": route(
            "openshift-monitoring", "prometheus", "reencrypt"
        ),
        "namespaces/openshift-etcd/route.openshift.io/routes.yaml": listed(),
        "namespaces/openshift-ingress/core/secrets.yaml": listed(
            secret("router-certs-default", certs.certificate(300, f"*.{DOMAIN}"))
        ),
        f"namespaces/openshift-ingress/pods/{PODS[0]}/router/router/logs/current.log": log * 20,
        **configs(rc.config("/var/lib/haproxy/conf", backends())),
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(files): a must-gather in the test's folder. A value that is no text becomes JSON, which
    is YAML. What was there is gone, except when there is nothing to write.
    """

    def write(files: Mapping[str, Any]) -> Path:
        top = tmp_path / "must-gather.local.1"
        if files:
            shutil.rmtree(top, ignore_errors=True)
        texts = {
            path: value if isinstance(value, str) else json.dumps(value, indent=1)
            for path, value in files.items()
        }
        write_tree(top / IMAGE, texts)
        return top

    return write


@pytest.fixture
def call(write: Write) -> Callable[..., str]:
    """call(tool, files, options, **arguments): the content of the answer, in memory."""
    from tinyhost_plugins.ingress_inspect.plugin import build
    from tinyhost_sdk import testing

    def call(
        tool: str, files: Mapping[str, Any], options: Files | None = None, **arguments: object
    ) -> str:
        with testing.drive(build(), options) as driver:
            asked = {"path": str(write(files)), **arguments}
            result = driver.call_tool(f"ingress_{tool}", asked)
        assert not result.is_error, result.content
        return result.content

    return call
