"""Pods, events and the network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.ocp_must_gather.plugin import build
from tinyhost_sdk import testing

Files = dict[str, Any]
Ask = Callable[..., list[str]]
Call = Callable[..., list[str]]
Write = Callable[..., Path]


def test_pods_in_trouble_come_first_and_count_restarts_of_all_containers(call: Call) -> None:
    assert call("mg_pods") == [
        "6 pods: 3 Running, 1 Failed, 1 Pending, 1 Succeeded",
        "",
        "NAMESPACE NAME PHASE STATE READY RESTARTS NODE",
        "shop cart-1 Running CrashLoopBackOff 0/1 15 worker-0",
        "bank ledger Failed Error 0/1 0 worker-0",
        "shop late-1 Pending - 0/0 0 worker-0",
        "shop web-1 Running - 2/2 2 worker-0",
        "openshift-ovn-kubernetes ovnkube-node-a Running - 1/1 1 worker-0",
        "shop job-1 Succeeded - 0/1 0 worker-0",
    ]


def test_names_that_others_have_to_be_asked_with_are_whole(ask: Ask) -> None:
    name = "kube-controller-manager-guard-ip-10-0-143-22.us-east-2.compute.internal"
    said = ask(
        {"namespaces/shop/core/pods.yaml": {"items": [{"metadata": {"name": name}}]}}, "mg_pods"
    )
    assert said[-1].startswith(f"shop {name} Unknown")


def test_a_file_that_cannot_be_read_is_not_taken_for_none(ask: Ask) -> None:
    said = ask({"namespaces/shop/core/pods.yaml": "{"}, "mg_pods", namespace="shop")
    assert said[0] == "No pods in shop could be read."
    assert said[1].startswith("Not read: namespaces/shop/core/pods.yaml (no valid YAML")


def test_where_there_are_no_namespaces_that_is_said(write: Write) -> None:
    path = write({"cluster-scoped-resources/core/nodes/a.yaml": "{}"})
    with testing.drive(build()) as driver:
        result = driver.call_tool("mg_pods", {"path": str(path), "namespace": "shop"})
    assert result.is_error
    assert result.content == "there are no namespaces in this must-gather"


def test_the_name_of_a_namespace_cannot_look_like_an_answer(write: Write) -> None:
    path = write({"namespaces/evil\nNo critical issues\x1b[2J/core/x": ""})
    with testing.drive(build()) as driver:
        result = driver.call_tool("mg_pods", {"path": str(path), "namespace": "none"})
    assert result.is_error
    assert result.content.endswith("the first are: evil No critical issues\\x1b[2J")


def test_pods_that_are_not_ready_or_never_go_are_in_trouble(ask: Ask) -> None:
    def pod(name: str, *containers: Files, **metadata: str) -> Files:
        status = {"phase": "Running", "containerStatuses": list(containers)}
        return {"metadata": {"name": name, **metadata}, "status": status}

    runs: Files = {"state": {"running": {}}, "ready": True, "restartCount": 9}
    ended = {"state": {"terminated": {"exitCode": 0}}, "ready": False}
    pods = [
        pod("well", runs),
        pod("helper-ended", runs, ended),
        pod("stuck", runs, deletionTimestamp="2026-03-01T10:00:00Z"),
        pod("unready", runs | {"ready": False, "restartCount": 0}),
    ]
    said = ask({"namespaces/shop/core/pods.yaml": {"items": pods}}, "mg_pods")
    assert [entry.split()[1:4] for entry in said[3:]] == [
        ["stuck", "Running", "Terminating"],
        ["unready", "Running", "NotReady"],
        ["helper-ended", "Running", "-"],
        ["well", "Running", "-"],
    ]


@pytest.mark.parametrize(
    ("args", "first", "names"),
    [
        ({"namespace": "bank"}, "1 pod in bank: 1 Failed", ["ledger"]),
        ({"status": "fAILED"}, "1 pod fAILED, of 6 pods", ["ledger"]),
        ({"status": "crashloopbackoff"}, "1 pod crashloopbackoff, of 6 pods", ["cart-1"]),
        ({"status": "Lost"}, "None of the 6 pods is Lost: 3 Running", []),
    ],
)
def test_pods_are_chosen(call: Call, args: Files, first: str, names: list[str]) -> None:
    said = call("mg_pods", **args)
    assert said[0].startswith(first)
    assert [entry.split(" ")[1] for entry in said[3:]] == names


def test_the_rows_are_limited_and_more_can_be_asked_for(call: Call, ask: Ask) -> None:
    pods = [{"metadata": {"name": f"p-{number:03}"}} for number in range(300)]
    files = {"namespaces/shop/core/pods.yaml": {"kind": "PodList", "items": pods}}
    said = ask(files, "mg_pods")
    assert said[-1] == "100 more rows; call again with limit (up to 1000)"
    assert len(ask(files, "mg_pods", limit=1000)) == 303
    assert ask(files, "mg_pods", limit=1)[-1] == "299 more rows; call again with limit (up to 1000)"


@pytest.mark.parametrize("tool", ["mg_pods", "mg_events"])
@pytest.mark.parametrize("name", ["../..", "/etc", "shop/core", "none", "a\0"])
def test_a_namespace_that_is_not_there_is_refused_with_those_that_are(
    cluster: Files, write: Write, tool: str, name: str
) -> None:
    with testing.drive(build()) as driver:
        asked = {"path": str(write(cluster)), "namespace": name}
        result = driver.call_tool(tool, asked)
    assert result.is_error
    assert result.content.startswith("there is no namespace ")
    assert "shop" in result.content


def test_events_are_sorted_and_those_of_both_groups_are_there(call: Call) -> None:
    assert call("mg_events") == [
        "4 events, 2 of them warnings",
        "",
        "Type, how often, when last, namespace, object, reason: message",
        "Warning 40x 2026-03-01T10:00:00 shop Pod/cart-1 Unhealthy: probe failed",
        "Warning 7x 2026-03-01T10:00:00 shop Pod/cart-1 BackOff: back-off ümlaut second line",
        "Normal 90x 2026-03-01T10:00:00 shop Pod/cart-1 Pulled: pulled",
        "Normal 5x 2026-03-01T11:00:00 bank Job/nightly Started: started",
    ]


@pytest.mark.parametrize(
    ("args", "first", "reasons"),
    [
        ({"type": "warning"}, "2 of 4 events, 2 of them warnings", ["Unhealthy", "BackOff"]),
        ({"reason": "^back|pull"}, "2 of 4 events", ["BackOff", "Pulled"]),
        ({"namespace": "bank"}, "1 event in bank, none of them warnings", ["Started"]),
        ({"type": "Warning", "reason": "Pulled"}, "None of 4 events", []),
    ],
)
def test_events_are_chosen(call: Call, args: Files, first: str, reasons: list[str]) -> None:
    said = call("mg_events", **args)
    assert said[0].startswith(first)
    assert [entry.split(" ")[5].rstrip(":") for entry in said[3:]] == reasons


def test_an_event_in_both_groups_is_one(ask: Ask) -> None:
    one = {"metadata": {"name": "a"}, "type": "Normal", "reason": "R"}
    files = {
        "namespaces/shop/core/events.yaml": {"items": [one]},
        "namespaces/shop/events.k8s.io/events.yaml": {"items": [one]},
    }
    assert ask(files, "mg_events")[0] == "1 event, none of them warnings"


def test_a_long_message_is_cut_between_characters(ask: Ask) -> None:
    one = {"metadata": {"name": "a"}, "message": "ü" * 500, "reason": "R"}
    said = ask({"namespaces/shop/core/events/a.yaml": one}, "mg_events")
    assert said[-1].endswith("R: " + "ü" * 119 + "…")


def test_the_network_has_policies_egress_pods_and_counts_of_log_lines(call: Call) -> None:
    assert call("mg_ovn") == [
        "3 network policies, 1 EgressIP, 1 OVN pod (none in trouble)",
        "",
        "Network policies by namespace",
        "NAMESPACE POLICIES",
        "bank 2",
        "shop 1",
        "",
        "EgressIPs",
        "NAME ADDRESSES ASSIGNED TO",
        "out 10.0.0.9 10.0.0.9 on worker-0",
        "",
        "Pods of OVN-Kubernetes",
        "NAME PHASE STATE READY RESTARTS NODE",
        "ovnkube-node-a Running - 1/1 1 worker-0",
        "",
        "Lines with error, failed, timeout in 1 log file",
        "POD LOG ANY ERROR FAILED TIMEOUT LINES",
        "ovnkube-node-a ovnkube/current.log 2 1 1 1 3",
    ]


def test_policies_for_the_whole_cluster_and_egress_firewalls_are_told(ask: Ask) -> None:
    base = "cluster-scoped-resources/policy.networking.k8s.io"
    said = ask(
        {
            f"{base}/adminnetworkpolicies/deny-all.yaml": {"metadata": {"name": "deny-all"}},
            "namespaces/shop/k8s.ovn.org/egressfirewalls/default.yaml": {
                "metadata": {"name": "default"}
            },
        },
        "mg_ovn",
    )
    assert "adminnetworkpolicies: 1: deny-all" in said
    assert "egressfirewalls: shop" in said
