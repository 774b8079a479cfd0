"""What answers of a cluster and of the cost service say, whatever shape they have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ocp_context_injection import facts
from tinyhost_plugins.ocp_context_injection.facts import Alerts, Cost, Nodes, Release

NAMES = ("items", "metadata", "labels", "status", "conditions", "type", "history", "data", "name")
COST_NAMES = ("projects", "project", "nodes", "node", "values", "cost", "total", "value", "spec")
KEYS = st.sampled_from([*NAMES, *COST_NAMES, "severity", "state", "version", "alertname"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


def node(*roles: str, ready: str = "True") -> dict[str, Any]:
    labels = {f"node-role.kubernetes.io/{role}": "" for role in roles}
    return {
        "metadata": {"labels": labels},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


@pytest.mark.parametrize(
    ("nodes", "counted"),
    [
        ([], Nodes(0, 0, 0, 0, more=False)),
        ([node("control-plane"), node("master")], Nodes(2, 2, 0, 0, more=False)),
        ([node("control-plane", "master", "worker")], Nodes(1, 1, 1, 0, more=False)),
        ([node("infra"), node()], Nodes(2, 0, 0, 0, more=False)),
        (
            [node("worker", ready="False"), node("worker", ready="Unknown")],
            Nodes(2, 0, 2, 2, False),
        ),
        ([{"metadata": {"labels": 5}}, "odd", None], Nodes(1, 0, 0, 1, more=False)),
    ],
)
def test_nodes_are_counted_by_role(nodes: list[Any], counted: Nodes) -> None:
    assert facts.nodes({"items": nodes}) == counted


def test_a_list_that_goes_on_says_so() -> None:
    assert facts.nodes({"metadata": {"continue": "abc"}, "items": [node()]}).more


@pytest.mark.parametrize(
    ("desired", "history", "version"),
    [
        ("4.18.2", [("Completed", "4.18.2")], "OpenShift 4.18.2"),
        (
            "4.18.3",
            [("Partial", "4.18.3"), ("Completed", "4.18.2"), ("Completed", "4.17.9")],
            "OpenShift 4.18.2, updating to 4.18.3",
        ),
        ("4.18.2", [("Partial", "4.18.2")], "OpenShift 4.18.2"),
        (None, [], "OpenShift unknown"),
    ],
)
def test_the_version_is_the_one_that_runs(desired: Any, history: Any, version: str) -> None:
    value = {
        "spec": {"clusterID": "id"},
        "status": {
            "desired": {"version": desired},
            "history": [{"state": state, "version": number} for state, number in history],
        },
    }
    assert facts.release(value) == Release(version, "id")


def test_an_operator_is_named_once_and_as_it_is_displayed() -> None:
    named = [("a.v1", "A"), ("b-operator.v2.0", ""), ("a.v1", "A"), ("", ""), ("plain", None)]
    items = [{"metadata": {"name": n}, "spec": {"displayName": d}} for n, d in named]
    found = facts.operators({"items": items})
    assert (found.names, found.more) == (["A", "b-operator", "plain"], False)
    assert facts.operators({"metadata": {"continue": "x"}}).more


def test_alerts_are_counted_by_severity_name_and_namespace() -> None:
    labels = [
        {"severity": "critical", "alertname": "A", "namespace": "x"},
        {"severity": "Critical", "alertname": "A", "namespace": "x"},
        {"severity": "warning", "alertname": "B"},
        {"severity": "warning"},
        {"severity": "info", "alertname": "C"},
        {"severity": "info", "alertname": "D"},
        {"severity": "none", "alertname": "Watchdog"},
        {},
    ]
    answer = facts.alerts([*({"labels": entry} for entry in labels), "odd", None])
    assert answer == Alerts({("A", "x"): 2}, {("B", ""): 1, ("Unknown", ""): 1}, 2)


def value(amount: Any, units: str = "USD") -> dict[str, Any]:
    return {"cost": {"total": {"value": amount, "units": units}}}


def report(*projects: Any) -> dict[str, Any]:
    return {"data": [{"date": "2026-03", "projects": list(projects)}]}


def test_costs_are_those_of_the_namespace_and_not_of_one_that_contains_its_name() -> None:
    shop = {
        "project": "shop",
        "nodes": [
            {"node": "w-0", "values": [value(4.5), value(1)]},
            {"node": "w-1", "values": [value(7.25)]},
            {
                "node": "w-2",
                "values": [value("odd"), value(float("nan")), value(10**400), value(True)],
            },
        ],
    }
    other = {"project": "shop-test", "nodes": [{"node": "w-9", "values": [value(1000)]}]}
    assert facts.read_cost(report(other, shop), "shop") == Cost(12.75, "USD", "w-1", 7.25)
    assert facts.read_cost(report(other), "shop") is None


def test_costs_without_nodes_have_no_top_resource() -> None:
    shop = {"project": "shop", "values": [value(2, "EUR"), value(3, "EUR")]}
    assert facts.read_cost(report(shop), "shop") == Cost(5, "EUR", "", 0.0)


@given(ANYTHING)
def test_no_answer_whatever_its_shape_is_an_error(answer: Any) -> None:
    facts.nodes(answer)
    facts.release(answer)
    facts.operators(answer)
    facts.alerts(answer)
    facts.read_cost(answer, "a")
