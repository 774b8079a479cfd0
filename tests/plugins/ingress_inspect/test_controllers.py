"""ingress_controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .conftest import CONTROLLERS, condition, controller, listed

Call = Callable[..., str]
Files = dict[str, Any]


def test_a_controller_is_shown_with_what_is_in_effect(call: Call, cluster: Files) -> None:
    assert call("controllers", cluster).split("\n") == [
        "1 ingress controller, none with a bad condition",
        "",
        "default  domain=apps.demo.example.com",
        "  Replicas: 2 of 2 available",
        "  Publishing: LoadBalancerService (External)",
        "  Default certificate: (made by the operator)",
        "  Conditions: Admitted=True, Available=True, Degraded=False, Progressing=False",
    ]


def test_dns_that_the_person_manages_is_no_fault(call: Call, cluster: Files) -> None:
    unmanaged = [
        condition("DNSManaged", "False", "UnmanagedLoadBalancerDNS"),
        condition("DNSReady", "Unknown", "UnmanagedDNS", "The policy is set to Unmanaged."),
    ]
    files = cluster | {f"{CONTROLLERS}/default.yaml": controller(conditions=unmanaged)}
    said = call("controllers", files)
    assert said.startswith("1 ingress controller, none with a bad condition\n")
    assert "DNSReady=Unknown" in said
    assert call("health", files).startswith("No issues found with the routers.\n")


def test_fewer_pods_and_bad_conditions_are_told_with_their_reasons(
    call: Call, cluster: Files
) -> None:
    spec = {
        "defaultCertificate": {"name": "wildcard"},
        "namespaceSelector": {"matchLabels": {"type": "sharded"}},
        "routeSelector": {
            "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]
        },
    }
    bad = [
        condition("Degraded", "True", "DegradedConditions", "canary\nchecks fail"),
        condition("DNSReady", "Unknown", "NoZone"),
    ]
    shard = controller(
        "shard", replicas=3, available=1, spec=spec, conditions=bad, domain="s.example.com"
    )
    said = call("controllers", cluster | {f"{CONTROLLERS}/shard.yaml": shard})
    assert said.startswith("2 ingress controllers, 1 with a bad condition\n")
    assert said[said.index("shard") :].split("\n") == [
        "shard  domain=s.example.com",
        "  Replicas: 1 of 3 available",
        "  Publishing: LoadBalancerService (External)",
        "  Default certificate: wildcard",
        "  Admits: namespaces with type=sharded, routes with zone In a,b",
        "  BAD Degraded=True (DegradedConditions: canary checks fail) since 2026-02-28T08:00:00Z",
        "  BAD DNSReady=Unknown (NoZone) since 2026-02-28T08:00:00Z",
        "  Conditions: Admitted=True, Available=True, Progressing=False",
    ]


def test_a_list_and_the_cluster_s_own_folder_are_read_too(call: Call, cluster: Files) -> None:
    del cluster[f"{CONTROLLERS}/default.yaml"]
    several = listed(controller("b"), controller("a"))
    for place in (
        f"{CONTROLLERS}.yaml",
        "cluster-scoped-resources/operator.openshift.io/ingresscontrollers.yaml",
    ):
        said = call("controllers", cluster | {place: several})
        assert said.startswith("2 ingress controllers, none with a bad condition\n\na  domain=")


def test_without_controllers_the_answer_says_whether_they_were_gathered(call: Call) -> None:
    assert call("controllers", {"namespaces/default/default.yaml": "{}"}) == (
        "No ingress controllers: the namespace openshift-ingress-operator has not been gathered."
    )
    other = {"namespaces/openshift-ingress-operator/core/pods.yaml": "{}"}
    assert "there is nothing in namespaces/openshift-ingress-operator/" in call(
        "controllers", other
    )


def test_controllers_that_cannot_be_read_are_not_called_none(call: Call, cluster: Files) -> None:
    said = call("controllers", cluster | {f"{CONTROLLERS}/default.yaml": "a: [1"})
    assert said.startswith("No ingress controllers: what there is of them could not be read.\n")


def test_fields_of_any_type_are_no_error(call: Call, cluster: Files) -> None:
    odd = {
        "metadata": {"name": "odd"},
        "spec": [1],
        "status": {"conditions": [None, 7, {"type": 3}, {"type": "Available", "status": True}]},
    }
    said = call("controllers", cluster | {f"{CONTROLLERS}/odd.yaml": odd})
    assert "\nodd  domain=-\n  Replicas: not known\n  Publishing: not known\n" in said
    assert "BAD Available=true" in said


def test_what_cannot_be_read_is_named_at_the_end(call: Call, cluster: Files) -> None:
    said = call("controllers", cluster | {f"{CONTROLLERS}/broken.yaml": "a: [1"})
    assert said.split("\n")[-1].startswith(f"Not read: {CONTROLLERS}/broken.yaml (no valid YAML: ")
