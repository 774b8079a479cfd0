"""Version, nodes, operators, machine config and health."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import CONFIG, LONG, node

Files = dict[str, Any]
Ask = Callable[..., list[str]]
Call = Callable[..., list[str]]


def test_the_version_has_channel_history_and_conditions_and_long_reasons_are_cut(
    call: Call,
) -> None:
    said = call("mg_cluster_version")
    assert said[:4] == [
        "OpenShift 4.18.2, channel stable-4.18",
        "Cluster ID: 1111-2222",
        "Image: quay.io/release",
        "Available updates: 4.18.3",
    ]
    assert "4.18.2 Completed 2026-02-01T08:00:00Z 2026-02-01T09:00:00Z -" in said
    (failing,) = (entry for entry in said if entry.startswith("Failing=True: "))
    assert failing.startswith("Failing=True: the reason is told at length")
    assert failing.endswith("…")


def test_nodes_have_roles_issues_and_reasons(call: Call) -> None:
    assert call("mg_nodes") == [
        "3 nodes: 1 ready, 2 not ready",
        "",
        "NAME STATUS ROLES ISSUES CPU MEMORY KUBELET",
        "cp-0 Ready master - 8 16Gi v1.31.3",
        "worker-0 NotReady worker DiskPressure 8 16Gi v1.31.3",
        "worker-1 Unknown worker SchedulingDisabled 8 16Gi v1.31.3",
        "",
        "Reasons",
        "worker-0: DiskPressure: disk is full",
        "worker-0: NotReady: KubeletNotReady: kubelet stopped",
        "worker-1: SchedulingDisabled: the node is cordoned",
        "worker-1: Unknown: no reason is given",
    ]


def test_nodes_are_counted_by_the_role_asked_for(call: Call) -> None:
    said = call("mg_nodes", role="worker")
    assert said[0] == "2 nodes: 0 ready, 2 not ready (role worker, of 3 in all)"
    assert not any(entry.startswith("cp-0") for entry in said)


def test_a_role_that_no_node_has_is_a_sentence_with_the_roles_there_are(call: Call) -> None:
    assert call("mg_nodes", role="infra") == [
        "None of the 3 nodes has the role infra; there are master, worker."
    ]


def test_operators_in_trouble_come_first_with_their_reasons(call: Call) -> None:
    said = call("mg_operators")
    assert said[:7] == [
        "4 operators: 2 healthy, 2 degraded, 1 unavailable, 1 progressing",
        "",
        "NAME AVAILABLE DEGRADED PROGRESSING VERSION",
        "dns False True False 4.18.2",
        "ingress True True False 4.18.2",
        "console True False True 4.18.2",
        "etcd True False False 4.18.2",
    ]
    assert "dns: Available=False: no endpoints" in said
    assert "console: Progressing=True: rolling out" in said


def test_pools_have_counts_conditions_and_the_number_of_configs(call: Call) -> None:
    said = call("mg_machine_config")
    assert said[0] == ("2 machine config pools, 1 not up to date or degraded; 2 machine configs")
    assert said[3:5] == [
        "master 3/3 3/3 0 no rendered-master-1",
        "worker 1/3 1/3 2 yes rendered-worker-1",
    ]
    assert "master: Updated" in said
    assert any(e.startswith("worker: Degraded: Stuck: the reason") for e in said)
    assert said[-2:] == ["Machine configs: 2, 1 of them rendered", "00-worker"]


def test_health_numbers_every_issue(call: Call) -> None:
    said = call("mg_health")
    assert said[:6] == [
        "10 issues; OpenShift 4.18.2, channel stable-4.18",
        "3 nodes: 1 ready, 2 not ready",
        "4 operators: 2 healthy, 2 degraded, 1 unavailable, 1 progressing",
        "2 machine config pools, 1 not up to date or degraded",
        "1 alert firing, 1 of them critical",
        "4 certificates: 1 expired, 1 expiring within 30 days, 2 OK",
    ]
    issues = [
        entry.split(". ", 1)[1][:45] for entry in said if entry[:1].isdigit() and ". " in entry
    ]
    assert issues == [
        "cluster version: Failing=True: the reason is ",
        "node worker-0: NotReady: KubeletNotReady: kub",
        "node worker-0: DiskPressure: disk is full",
        "node worker-1: Unknown: no reason is given",
        "node worker-1: SchedulingDisabled: the node i",
        "operator dns: Available=False: no endpoints",
        "operator ingress: Degraded=True: the reason i",
        "machine config pool worker: Degraded: Stuck: ",
        "alert NodeDown in shop: worker-0 is down",
        "certificate old.shop expired on 2026-02-24: s",
    ]
    assert "etcd-diag and ingress-inspect" in said[-1]


def test_who_asks_for_more_gets_longer_texts(call: Call) -> None:
    reasons = {"mg_cluster_version", "mg_operators", "mg_machine_config", "mg_health"}
    for tool in reasons:
        usual, long = (max(map(len, call(tool, limit=limit))) for limit in (0, 10))
        assert 400 <= usual < 500 < len(LONG) - 10 <= long


def test_health_says_what_it_does_not_know(ask: Ask) -> None:
    well = {"cluster-scoped-resources/core/nodes/a.yaml": node("a", "worker")}
    said = ask(well, "mg_health")
    assert said[:6] == [
        "No critical issues; This must-gather has no ClusterVersion.",
        "1 node: 1 ready, none not ready",
        "This must-gather has no cluster operators.",
        "This must-gather has no machine config pools.",
        "No monitoring/prometheus/rules.json, so it is not known which alerts fire",
        "0 certificates: 0 expired, 0 expiring within 30 days, 0 OK",
    ]
    said = ask(well | {f"{CONFIG}/clusteroperators/dns.yaml": "{"}, "mg_health")
    assert said[0].startswith("No critical issues in what could be read; ")
    assert said[2] == "No cluster operators could be read."


def test_expired_authorities_in_bundles_are_one_issue(
    ask: Ask, cluster: Files, certificate: Callable[..., str]
) -> None:
    bundle = "".join(certificate(f"old-{number}-ca", -number) for number in range(1, 6))
    files = {
        "timestamp": cluster["timestamp"],
        "namespaces/shop/core/secrets.yaml": cluster["namespaces/shop/core/secrets.yaml"],
        "namespaces/bank/core/configmaps/trust.yaml": {
            "metadata": {"name": "trust"},
            "data": {"ca-bundle.crt": bundle},
        },
    }
    said = ask(files, "mg_health")
    assert said[0].startswith("2 issues; ")
    assert any(entry.startswith("1. certificate old.shop expired on") for entry in said)
    assert any(entry.startswith("2. 5 certificates in CA bundles alone expired") for entry in said)


@pytest.mark.parametrize("rules", ["", "{broken", '{"status":"error","error":"timeout"}', "[]"])
def test_rules_that_were_not_gathered_are_not_called_calm(ask: Ask, rules: str) -> None:
    said = ask({"monitoring/prometheus/rules.json": rules}, "mg_prometheus")
    assert said[0].endswith("so it is not known which alerts fire")


def test_a_healthy_cluster_has_no_critical_issues(ask: Ask, cluster: Files) -> None:
    healthy = {
        name: cluster[name]
        for name in ("timestamp", "cluster-scoped-resources/core/nodes/cp-0.yaml")
    }
    said = ask(healthy, "mg_health")
    assert said[0] == "No critical issues; This must-gather has no ClusterVersion."
    assert said[1] == "1 node: 1 ready, none not ready"


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("mg_cluster_version", "This must-gather has no ClusterVersion."),
        ("mg_nodes", "This must-gather has no nodes."),
        ("mg_operators", "This must-gather has no cluster operators."),
        ("mg_certs", "This must-gather has no certificates in Secrets or ConfigMaps."),
        ("mg_node_logs", "This must-gather has no host_service_logs."),
        ("mg_ovn", "0 network policies, 0 EgressIPs, 0 OVN pods (none in trouble)"),
        ("mg_prometheus", "This must-gather has no monitoring data."),
        ("mg_machine_config", "This must-gather has no machine config pools and no configs."),
        ("mg_pods", "This must-gather has no pods."),
        ("mg_events", "This must-gather has no events."),
        (
            "mg_health",
            "Too little is in this must-gather to tell; This must-gather has no ClusterVersion.",
        ),
    ],
)
def test_what_is_missing_is_a_sentence(ask: Ask, tool: str, said: str) -> None:
    assert ask({}, tool)[0] == said


ODD = {"a": 1, "b": [1], "c": None}


@pytest.mark.parametrize(
    "tool",
    [
        *("mg_cluster_version", "mg_nodes", "mg_operators", "mg_certs", "mg_ovn"),
        *("mg_machine_config", "mg_pods", "mg_events", "mg_health", "mg_prometheus"),
    ],
)
@pytest.mark.parametrize("odd", [ODD, [ODD], "text", 7])
def test_fields_of_any_type_are_survived(ask: Ask, cluster: Files, tool: str, odd: object) -> None:
    def spoiled(value: Any, depth: int) -> Any:
        """Every mapping below a depth replaced."""
        if isinstance(value, dict):
            return {k: spoiled(v, depth - 1) for k, v in value.items()} if depth else odd
        return [spoiled(v, depth) for v in value] if isinstance(value, list) else value

    for depth in (1, 2, 3, 4):
        files = {k: spoiled(v, depth) for k, v in cluster.items()}
        assert ask(files, tool)


def test_a_text_of_the_cluster_cannot_add_lines_of_its_own(ask: Ask) -> None:
    evil = "x\n99 nodes: all is well\x1b[2J"
    said = ask(
        {"cluster-scoped-resources/core/nodes/a.yaml": {"metadata": {"name": evil}}}, "mg_nodes"
    )
    assert not any(entry.startswith("99") for entry in said)
    assert "\x1b" not in "".join(said)


def test_broken_files_are_named_at_the_end(ask: Ask) -> None:
    said = ask(
        {
            "cluster-scoped-resources/core/nodes/a.yaml": "{",
            "cluster-scoped-resources/core/nodes/b.yaml": {"metadata": {"name": "b"}},
        },
        "mg_nodes",
    )
    assert said[0] == "1 node: 0 ready, 1 not ready"
    assert said[-1].startswith(
        "Not read: cluster-scoped-resources/core/nodes/a.yaml (no valid YAML"
    )
