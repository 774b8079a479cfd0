"""The blocks that the model reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ocp_context_injection.facts import Alerts, Cost, Nodes, Operators
from tinyhost_plugins.ocp_context_injection.present import Found, block, cost_line, safe


def found() -> Found:
    return Found(
        *("shop/demo/me", "demo", "https://api.demo.example:6443", "shop"),
        user="kube:admin",
        version="OpenShift 4.18.2",
        cluster_id="1-2-3",
        nodes=Nodes(5, 3, 2, 1, more=False),
        operators=Operators(["A", "B", "C"], more=False),
        alerts=Alerts({("Down", "etcd"): 2, ("Slow", ""): 1}, {}, 5),
    )


def test_all_that_is_known_stands_in_the_block_in_order() -> None:
    assert block(found(), 50).splitlines() == [
        "<cluster-context>",
        "cluster: demo",
        "server: https://api.demo.example:6443",
        "context: shop/demo/me",
        "user: kube:admin",
        "version: OpenShift 4.18.2",
        "cluster-id: 1-2-3",
        "nodes: 5 (3 control-plane, 2 worker), 1 not ready",
        "namespace: shop",
        "operators: [A, B, C]",
        "firing-alerts-critical: 3 (Down: etcd x2, Slow: cluster)",
        "firing-alerts-info: 5",
        "</cluster-context>",
    ]


def test_what_is_not_known_is_said_with_the_reason() -> None:
    bare = Found("c", "demo", "https://x", "default", insecure=True)
    bare.missing = {"nodes": "oc get /api/v1/nodes failed\nForbidden", "alerts": "no Route"}
    lines = block(bare, 50).splitlines()
    assert lines[2] == "server: https://x (its certificate is not checked)"
    assert lines[4:8] == [
        "user: unknown",
        "version: unknown",
        "nodes: unknown",
        "namespace: default",
    ]
    assert lines[8:] == [
        "operators: unknown",
        "not known: nodes (oc get /api/v1/nodes failed\\nForbidden); alerts (no Route)",
        "</cluster-context>",
    ]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:hush@api.example:6443", "https://api.example:6443"),
        ("me:hush@api.example:6443", "api.example:6443"),
        ("https://me:hush@x@api.example/k8s/a@b", "https://api.example/k8s/a@b"),
        ("https://hush@api.example/http://b", "https://api.example/http://b"),
        ("https://[::1]:6443/", "https://[::1]:6443/"),
        ("", ""),
    ],
)
def test_a_login_in_the_url_of_the_server_is_not_shown(url: str, shown: str) -> None:
    assert block(Found("c", "demo", url, "default"), 50).splitlines()[2] == f"server: {shown}"


def test_a_list_is_cut_and_says_how_to_see_the_rest() -> None:
    some = found()
    some.operators = Operators([f"op-{number}" for number in range(30)], more=False)
    some.nodes = Nodes(500, 3, 497, 0, more=True)
    text = block(some, 1)
    assert "operators: [op-0, 29 more; the option maxNames shows them]\n" in text
    assert "critical: 3 (Down: etcd x2, 1 more; the option maxNames shows them)\n" in text
    assert "nodes: 500 or more (3 control-plane, 497 worker)\n" in text
    some.operators = Operators(["a", "b"], more=True)
    assert "operators: [a, b] and others, which are not looked at\n" in block(some, 2)
    some.operators = Operators([], more=False)
    assert "operators: none\n" in block(some, 1)


def test_a_block_has_an_end_however_many_names_are_asked_for() -> None:
    some = found()
    some.operators = Operators([f"{number}" * 70 for number in range(900)], more=False)
    text = block(some, 1000)
    assert len(text) < 29_000
    assert text.endswith("\n... cut; a smaller maxNames leaves room\n</cluster-context>")


def test_costs_are_dollars_or_have_their_currency() -> None:
    line = "<cost-context>namespace=shop monthly-cost={} top-resource=w-1 ({}/mo)</cost-context>"
    assert cost_line("shop", Cost(12.345, "USD", "w-1", 4)) == line.format("$12.35", "$4.00")
    assert cost_line("shop", Cost(1, "EUR", "w-1", 0.5)) == line.format("1.00 EUR", "0.50 EUR")
    plain = "<cost-context>namespace=shop monthly-cost=3.00</cost-context>"
    assert cost_line("shop", Cost(3, "", "", 0)) == plain
    some = found()
    some.cost = Cost(3, "", "", 0)
    assert block(some, 5).endswith(f"</cluster-context>\n{plain}")


@given(st.text())
def test_a_name_can_neither_end_the_block_nor_begin_a_line(name: str) -> None:
    assert not set(safe(name)) & set("<>\n\r")
    some = Found(name, name, name, name, user=name, version=name, cluster_id=name)
    some.operators = Operators([name], more=False)
    some.alerts = Alerts({(name, name): 1}, {(name, name): 2}, 0)
    some.cost = Cost(1.0, name, name, 1.0)
    some.missing = {"nodes": name}
    lines = block(some, 5).split("\n")
    assert lines[0] == "<cluster-context>"
    assert [line.startswith("<") for line in lines].count(True) == 3
    assert all(line.isprintable() for line in lines)
