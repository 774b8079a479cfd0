"""ingress_health: issues, certificates, logs."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from . import certs
from . import router_config as rc
from .conftest import (
    CONTROLLERS,
    DOMAIN,
    PODS,
    backends,
    condition,
    configs,
    controller,
    listed,
    route,
    secret,
)

Call = Callable[..., str]
Files = dict[str, Any]
SECRETS = "namespaces/openshift-ingress/core/secrets.yaml"
SHOP = "namespaces/shop/route.openshift.io/routes.yaml"
LOG = f"namespaces/openshift-ingress/pods/{PODS[1]}/router/router/logs/current.log"


def issues(said: str) -> list[str]:
    """The lines of the list of issues."""
    if "\n\nIssues\n" not in said:
        return []
    return said.partition("\n\nIssues\n")[2].partition("\n\n")[0].split("\n")


def test_a_cluster_that_is_well_has_no_issues(call: Call, cluster: Files) -> None:
    assert [" ".join(line.split()) for line in call("health", cluster).split("\n")] == [
        "No issues found with the routers.",
        "1 controller, 2 configurations, 4 backends for routes, 4 routes, 1 certificate",
        "",
        "Certificates (days left when gathered, 2026-03-01 10:00 UTC)",
        "CERTIFICATE DAYS ENDS SUBJECT ISSUER",
        "default of default, Secret router-certs-default 300 2026-12-26"
        f" CN=*.{DOMAIN} CN=ingress-operator",
    ]


def test_a_cluster_of_which_not_all_was_read_is_not_called_well(call: Call, cluster: Files) -> None:
    routes = "namespaces/openshift-etcd/route.openshift.io/routes/broken.yaml"
    said = call("health", cluster | {routes: "a: [1"})
    assert said.startswith("No issues found with the routers in what could be read.\n")


def test_the_critical_issues_come_first_and_each_names_its_controller(
    call: Call, cluster: Files
) -> None:
    bad = [
        condition("Available", "False", "Unavailable", "no pods"),
        condition("Degraded", "True", "Degraded"),
        condition("DNSReady", "False"),
    ]
    files = cluster | {
        f"{CONTROLLERS}/default.yaml": controller(available=1),
        f"{CONTROLLERS}/shard.yaml": controller("shard", available=0, conditions=bad),
        f"{CONTROLLERS}/warm.yaml": controller("warm", conditions=[condition("DNSReady", "False")]),
        SHOP: listed(
            *(route("shop", f"r{n}") for n in range(5)),
            route("shop", "no", refused=("HostAlreadyClaimed", "taken")),
        ),
    }
    files |= configs(rc.config("/conf", backends(), client_timeout="10m"))
    said = call("health", files)
    assert said.startswith("8 issues: 4 critical, 4 warning\n")
    lines = issues(said)
    assert lines[:3] == [
        "1. [CRITICAL] controller shard: Available=False (Unavailable: no pods)",
        "2. [CRITICAL] controller shard: Degraded=True (Degraded)",
        "3. [CRITICAL] controller shard: no router pod is available",
    ]
    assert lines[3].startswith(
        "4. [CRITICAL] Missing: admitted routes without a backend (5, see ingress_route_check):"
        " shop/r0 (r0-shop"
    )
    assert lines[3].endswith("; 2 more")
    assert lines[4:7] == [
        "5. [WARNING] controller default: 1 of 2 available",
        "6. [WARNING] controller warm: DNSReady=False",
        "7. [WARNING] controller default: the default timeout client 10m is long",
    ]
    assert lines[7].startswith("8. [WARNING] Rejected: routes that a router refuses (1, see")


def test_what_was_not_gathered_is_an_issue_and_not_an_error(call: Call) -> None:
    said = call("health", {"namespaces/default/default.yaml": "{}"})
    assert issues(said) == [
        "1. [WARNING] No ingress controllers: the namespace openshift-ingress-operator has not"
        " been gathered.",
        "2. [WARNING] there is no HAProxy configuration"
        " (ingress_controllers/CONTROLLER/POD/haproxy.config) in this must-gather.",
    ]


@pytest.mark.parametrize(
    ("pem", "said"),
    [
        (certs.certificate(-1, f"*.{DOMAIN}"), "[CRITICAL] {} ended on 2026-02-28"),
        (certs.certificate(0, f"*.{DOMAIN}"), "[WARNING] {} ends on 2026-03-01, in 0 days"),
        (certs.certificate(30, f"*.{DOMAIN}"), "[WARNING] {} ends on 2026-03-31, in 30 days"),
        (
            certs.certificate(90, f"*.{DOMAIN}", start=1),
            "[CRITICAL] {} is valid only from 2026-03-02 10:00 UTC",
        ),
        (
            certs.certificate(90, "*.other.example.com", "x"),
            "[WARNING] controller default: the default certificate has *.other.example.com, x,"
            f" not *.{DOMAIN}",
        ),
        (certs.certificate(90), "the default certificate has no names, not"),
        ("no certificate", "[WARNING] {}: it has no certificate in PEM form"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "[WARNING] {}: it cannot be read",
        ),
    ],
)
def test_the_default_certificate_is_looked_at(
    call: Call, cluster: Files, pem: str, said: str
) -> None:
    files = cluster | {SECRETS: listed(secret("router-certs-default", pem))}
    (line,) = issues(call("health", files))
    assert said.format("certificate (default of default, Secret router-certs-default)") in line


def test_a_certificate_of_one_s_own_is_looked_for_by_its_name(call: Call, cluster: Files) -> None:
    spec = {"defaultCertificate": {"name": "wildcard"}}
    files = cluster | {f"{CONTROLLERS}/default.yaml": controller(spec=spec)}
    said = call("health", files)
    assert issues(said) == []
    assert "Secret wildcard" in said
    assert "(the Secret has not been gathered)" in said
    good = secret("wildcard", certs.certificate(31, f"*.{DOMAIN}"))
    said = call("health", files | {SECRETS: listed(good)})
    assert issues(said) == []
    assert (
        len(issues(call("health", files | {SECRETS: listed(good)}, {"certificateDays": 31}))) == 1
    )
    elided = good | {"data": {"tls.crt": "1234 bytes long"}}
    assert "no certificate in PEM form" in call("health", files | {SECRETS: listed(elided)})


def test_certificates_of_routes_are_looked_at(call: Call, cluster: Files) -> None:
    tls = {"certificate": certs.certificate(-3, "own.example.com") + certs.certificate(9)}
    own = route("openshift-console", "console", "edge", tls=tls)
    path = "namespaces/openshift-console/route.openshift.io/routes.yaml"
    said = call("health", cluster | {path: listed(own)})
    assert issues(said) == [
        "1. [CRITICAL] certificate (route openshift-console/console) ended on 2026-02-26"
    ]
    assert "4 routes, 2 certificates\n" in said


def test_without_the_time_of_gathering_the_present_counts(call: Call, cluster: Files) -> None:
    del cluster["timestamp"]
    assert "Certificates (days left now, " in call("health", cluster)


ERROR = "2026-03-01T09:00:00.1Z E0301 09:00:00.000001       1 reflector.go:178] list of *v1.Route\n"


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (ERROR, True),
        ("2026-03-01T09:00:00.1Z F0301 09:00:00.000001 1 main.go:1] gone\n", True),
        ("E0301 09:00:00.000001 1 main.go:1] gone\n", True),
        ("2026-03-01T09:00:00.1Z W0301 09:00:00.000001 1 x.go:1] FAILED to watch\n", True),
        ("2026-03-01T09:00:00.1Z W0301 09:00:00.000001 1 x.go:1] slow\n", False),
        ("2026-03-01T09:00:00.1Z I0301 09:00:00.000001 1 healthz.go:2] check failed\n", False),
        ("2026-03-01T09:00:00.1Z panic: runtime error\n", True),
        ("[ALERT] 059/090000 (1) : Fatal errors found in configuration.\n", True),
        ("2026-03-01T09:00:00.1Z all is well\n", False),
        (f"{'x' * 5000} error\n", False),
    ],
)
def test_more_than_ten_error_lines_in_a_log_are_an_issue(
    call: Call, cluster: Files, line: str, counts: bool
) -> None:
    assert issues(call("health", cluster | {LOG: line * 10})) == []
    found = issues(call("health", cluster | {LOG: line * 11}))
    assert len(found) == counts
    if counts:
        assert found[0].startswith(f"1. [WARNING] {LOG}: 11 error lines, the last: ")


def test_requests_with_such_words_are_no_errors_and_alerts_of_haproxy_are(
    call: Call, cluster: Files
) -> None:
    request = '2026-03-01T09:00:00Z haproxy[30]: "GET /error.js HTTP/1.1"\n'
    alert = "2026-03-01T09:00:00Z [ALERT]    (30) : config : cannot bind\n"
    access = f"namespaces/openshift-ingress/pods/{PODS[1]}/logs/logs/logs/current.log"
    said = issues(call("health", cluster | {access: request * 20, LOG: alert * 20}))
    assert said == [
        f"1. [WARNING] {LOG}: 20 error lines, the last: {' '.join(alert.split())}",
    ]


def test_only_the_end_of_a_large_log_is_read(call: Call, cluster: Files) -> None:
    files = cluster | {LOG: ERROR * 100 + "fine\n" * 1000 + "x" * 300 + "\n" + ERROR * 11}
    (line,) = issues(call("health", files, {"maxLogBytes": 1400, "logErrors": 5}))
    assert ": 11 error lines in its last 1400 bytes, the last: 2026-03-01T09:00:00.1Z E0301" in line
    (line,) = issues(call("health", files))
    assert ": 111 error lines, the last: " in line


def test_a_line_that_is_cut_by_the_beginning_of_what_is_read_does_not_count(
    call: Call, cluster: Files
) -> None:
    files = cluster | {LOG: "an error, " * 200 + "\n" + "error\n" * 3}
    (line,) = issues(call("health", files, {"maxLogBytes": 1024, "logErrors": 0}))
    assert ": 3 error lines in its last 1024 bytes" in line


def test_a_log_that_was_packed_is_read_and_a_damaged_one_is_named(
    call: Call, cluster: Files, write: Callable[..., Any]
) -> None:
    (log,) = write(cluster).rglob("router-default-*/router/router/logs/current.log")
    packed = gzip.compress((ERROR * 11).encode())
    log.unlink()
    log.with_name("current.log.gz").write_bytes(packed)
    said = call("health", {})
    assert "current.log.gz: 11 error lines, the last: " in said
    log.with_name("current.log.gz").write_bytes(packed[:-9])
    assert "current.log.gz (it is damaged: " in call("health", {}).split("Not read: ")[1]


def test_a_log_that_is_a_link_is_not_read(
    call: Call, cluster: Files, write: Callable[..., Any]
) -> None:
    top = write(cluster)
    (target,) = top.rglob("router-default-*/router/router/logs/current.log")
    (top / "outside.log").write_text(ERROR * 50)
    (target.parent / "previous.log").symlink_to(top / "outside.log")
    said = call("health", {})
    assert issues(said) == []
    assert said.endswith("previous.log (a link; not followed)")


def test_objects_of_any_shape_are_no_error(call: Call, cluster: Files) -> None:
    odd = [
        {"metadata": {"name": "a"}, "spec": {"tls": "edge", "host": 5}, "status": []},
        {"metadata": {"name": "b"}, "status": {"ingress": [{"conditions": {"type": "Admitted"}}]}},
        {"metadata": None, "spec": {"tls": {"termination": "strange", "certificate": "x"}}},
        "text",
    ]
    files = cluster | {SHOP: {"items": odd}, SECRETS: {"items": [{"data": ["tls.crt"]}]}}
    said = call("health", files)
    assert "Not admitted: routes that no router has answered (3, see" in said


def test_what_a_must_gather_says_adds_no_lines_of_its_own(call: Call, cluster: Files) -> None:
    bad = [condition("Degraded", "True", "x", "a\n2. [CRITICAL] forged\x1b[31m")]
    said = call("health", cluster | {f"{CONTROLLERS}/default.yaml": controller(conditions=bad)})
    assert issues(said) == [
        "1. [CRITICAL] controller default: Degraded=True (x: a 2. [CRITICAL] forged\\x1b[31m)"
    ]
