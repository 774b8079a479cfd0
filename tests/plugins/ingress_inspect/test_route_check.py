"""ingress_route_check: routes against backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from . import router_config as rc
from .conftest import PODS, backends, configs, listed, route

Call = Callable[..., str]
Files = dict[str, Any]
SHOP = "namespaces/shop/route.openshift.io/routes.yaml"


def sections(said: str) -> dict[str, list[str]]:
    """Titles and the lines below them, without the dashes."""
    found: dict[str, list[str]] = {}
    for block in said.split("\n\n")[1:]:
        title, *lines = block.split("\n")
        found[title.partition(" (")[0].partition(":")[0]] = [x.removeprefix("- ") for x in lines]
    return found


def with_config(files: Files, *more: str, **options: Any) -> Files:
    return files | configs(rc.config("/conf", [*backends(), *more], **options))


def test_when_everything_fits_there_are_no_issues(call: Call, cluster: Files) -> None:
    assert call("route_check", cluster).split("\n") == [
        "No issues with routes.",
        "4 routes of 4 namespaces, 4 backends for routes (1 controller, 2 configurations)",
    ]


def test_an_admitted_route_without_a_backend_is_missing(call: Call, cluster: Files) -> None:
    files = cluster | {SHOP: listed(route("shop", "cart"), route("shop", "pay", "edge"))}
    said = call("route_check", files)
    assert said.startswith("Routes and backends: 2 missing\n")
    assert sections(said) == {
        "Missing": [
            "shop/cart (cart-shop.apps.demo.example.com) in default: no be_http:shop:cart",
            "shop/pay (pay-shop.apps.demo.example.com) in default: no be_edge_http:shop:pay",
        ]
    }


def test_a_route_s_name_has_to_be_the_whole_end_of_the_backend_s(
    call: Call, cluster: Files
) -> None:
    files = cluster | {SHOP: listed(route("shop", "my"))}
    files = with_config(files, rc.http_backend("be_http:shop:myapp", rc.server("p", "10.0.0.1")))
    found = sections(call("route_check", files))
    assert found["Missing"][0].endswith("no be_http:shop:my")
    assert found["Stale"] == ["be_http:shop:myapp in default: there is no such route"]


def test_a_backend_that_some_pods_lack_is_told_with_how_many(call: Call, cluster: Files) -> None:
    files = cluster | {SHOP: listed(route("shop", "cart"))}
    cart = rc.http_backend("be_http:shop:cart", rc.server("p", "10.0.0.1"))
    files |= configs(rc.config("/conf", [*backends(), cart]), pods=PODS[:1])
    (line,) = sections(call("route_check", files))["Missing"]
    assert line.endswith("no be_http:shop:cart (1 of 2 pods)")


def test_a_backend_without_a_route_is_stale_and_the_router_s_own_are_not(
    call: Call, cluster: Files
) -> None:
    pool = rc.http_backend("be_http:_hapcm_blueprint_pool:_blueprint-http-route-1", rc.reserve(5))
    old = rc.http_backend("be_http:openshift-etcd:old", rc.server("p", "10.0.0.1"))
    said = call("route_check", with_config(cluster, pool, old))
    assert said.startswith("Routes and backends: 1 stale\n")
    assert sections(said) == {
        "Stale": ["be_http:openshift-etcd:old in default: there is no such route"]
    }


def test_backends_of_namespaces_that_were_not_gathered_are_not_judged(
    call: Call, cluster: Files
) -> None:
    more = [rc.http_backend(f"be_http:user{n}:web", rc.server("p", "10.0.0.1")) for n in range(7)]
    said = call("route_check", with_config(cluster, *more))
    assert said.startswith("No issues with routes.\n")
    assert sections(said)["Not compared"] == [
        "7 backends of 7 namespaces whose routes have not been gathered or not all read:"
        " user0, user1, user2, user3, user4 and 2 more"
    ]


def test_backends_of_a_namespace_whose_routes_were_not_all_read_are_not_called_stale(
    call: Call, cluster: Files
) -> None:
    files = dict(cluster)
    files["namespaces/openshift-console/route.openshift.io/routes.yaml"] = "a: [1"
    more = rc.http_backend("be_http:openshift-monitoring:old", rc.server("p", "10.0.0.1"))
    files["namespaces/openshift-monitoring/route.openshift.io/routes/x.yaml"] = "a: [1"
    said = call("route_check", with_config(files, more))
    assert said.startswith("No issues with routes, in what could be read.\n3 routes of 4 namesp")
    assert sections(said)["Not compared"] == [
        "2 backends of 2 namespaces whose routes have not been gathered or not all read:"
        " openshift-console, openshift-monitoring"
    ]
    # Those that were read are compared.
    files |= configs(rc.config("/conf", backends()[:2]))
    assert "openshift-monitoring/prometheus" in sections(call("route_check", files))["Missing"][1]
    only = call("route_check", files, namespace="openshift-console")
    assert only.startswith("No routes in the namespace openshift-console could be read,")


def test_a_namespace_limits_routes_and_backends_alike(call: Call, cluster: Files) -> None:
    old = rc.http_backend("be_http:openshift-etcd:old", rc.server("p", "10.0.0.1"))
    files = with_config(cluster, old) | {SHOP: listed(route("shop", "cart"))}
    said = call("route_check", files, namespace="openshift-monitoring")
    assert said.split("\n") == [
        "No issues with routes in the namespace openshift-monitoring.",
        "2 routes of 1 namespace, 2 backends for routes (1 controller, 2 configurations)",
    ]
    said = call("route_check", files, namespace="openshift-etcd")
    assert said.startswith("Routes and backends in the namespace openshift-etcd: 1 stale\n")
    said = call("route_check", files, namespace="elsewhere")
    assert said.startswith("No routes in the namespace elsewhere have been gathered")


def test_a_route_is_looked_for_only_in_the_shard_that_admitted_it(
    call: Call, cluster: Files
) -> None:
    routes = [
        route("shop", "both", by=["default", "shard"]),
        route("shop", "moved", by=["shard"]),
        route("shop", "gone", by=["removed"]),
    ]
    names = ("both", "moved")
    shop = {n: rc.http_backend(f"be_http:shop:{n}", rc.server("p", "10.0.0.1")) for n in names}
    files = with_config(cluster, *shop.values()) | {SHOP: listed(*routes)}
    files |= configs(rc.config("/conf", [shop["moved"]]), "shard", ("router-shard-1-a",))
    said = call("route_check", files)
    assert said.startswith("Routes and backends: 1 missing, 1 stale; 1 route not compared\n")
    assert sections(said) == {
        "Missing": ["shop/both (both-shop.apps.demo.example.com) in shard: no be_http:shop:both"],
        "Stale": ["be_http:shop:moved in default: the route is not admitted by it"],
        "Not compared": [
            "1 route admitted by removed: no HAProxy configuration of it has been read"
        ],
    }


def test_routes_that_were_not_compared_are_not_called_well(call: Call, cluster: Files) -> None:
    files = cluster | {SHOP: listed(route("shop", "cart", by=["shard"]))}
    said = call("route_check", files)
    assert said.startswith("No issues with the other routes; 1 route not compared\n")
    assert call("route_check", files, namespace="shop").startswith(
        "Routes in the namespace shop cannot be checked: no configuration of their routers"
    )
    assert (
        "[WARNING] Not compared: 1 route admitted by shard: no HAProxy configuration of it has been"
        " read"
    ) in call("health", files)


def test_a_rejected_route_is_not_missing_and_has_its_reason(call: Call, cluster: Files) -> None:
    refused = ("HostAlreadyClaimed", "route a\nalready exposes it")
    routes = [route("shop", "taken", refused=refused), route("shop", "new", by=[])]
    said = call("route_check", cluster | {SHOP: listed(*routes)})
    assert said.startswith("Routes and backends: 1 rejected, 1 not admitted\n")
    assert sections(said) == {
        "Rejected": [
            "shop/taken (taken-shop.apps.demo.example.com) by default: HostAlreadyClaimed:"
            " route a already exposes it"
        ],
        "Not admitted": ["shop/new (new-shop.apps.demo.example.com)"],
    }


def test_a_route_without_a_status_is_compared_with_what_there_is(
    call: Call, cluster: Files
) -> None:
    cart = rc.http_backend("be_http:shop:cart", rc.server("p", "10.0.0.1"))
    files = with_config(cluster, cart) | {SHOP: listed(route("shop", "cart", by=[]))}
    assert sections(call("route_check", files)) == {
        "Not admitted": ["shop/cart (cart-shop.apps.demo.example.com), but has a backend"]
    }


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "no servers; requests are answered with 503"),
        ([rc.reserve(5)], "no servers, only 5 in reserve; requests are answered with 503"),
        (
            [rc.server("a", "10.0.0.1", "weight 0"), rc.server("b", "10.0.0.2", "disabled")],
            "all servers are disabled or have the weight 0",
        ),
    ],
)
def test_a_backend_that_serves_nothing_is_misconfigured(
    call: Call, cluster: Files, lines: list[str], why: str
) -> None:
    files = with_config(cluster, rc.http_backend("be_http:shop:cart", *lines))
    files |= {SHOP: listed(route("shop", "cart"))}
    assert sections(call("route_check", files)) == {
        "Misconfigured": [f"be_http:shop:cart in default: {why}"]
    }


def test_a_stale_backend_without_servers_is_only_stale(call: Call, cluster: Files) -> None:
    files = with_config(cluster, rc.http_backend("be_http:shop:cart"))
    files |= {SHOP: listed(route("shop", "cart", by=["shard"]))}
    assert set(sections(call("route_check", files))) == {"Stale", "Not compared"}


def test_passing_tls_through_with_balance_source_is_the_router_s_usual_way(
    call: Call, cluster: Files
) -> None:
    assert "  balance source\n" in next(iter(configs(rc.config("/conf", backends())).values()))
    assert "Misconfigured" not in call("route_check", cluster)


def test_a_backend_of_another_termination_than_its_route_is_misconfigured(
    call: Call, cluster: Files
) -> None:
    cart = rc.http_backend("be_http:shop:cart", rc.server("p", "10.0.0.1"))
    files = with_config(cluster, cart) | {SHOP: listed(route("shop", "cart", "reencrypt"))}
    assert sections(call("route_check", files)) == {
        "Misconfigured": [
            "be_http:shop:cart in default: the route has reencrypt, so it should be"
            " be_secure:shop:cart"
        ]
    }


def test_without_configurations_nothing_is_called_missing(call: Call, cluster: Files) -> None:
    files = {path: text for path, text in cluster.items() if "haproxy.config" not in path}
    said = call("route_check", files)
    assert said.startswith("Routes cannot be checked: there is no HAProxy configuration (ingress_")
    assert sections(said) == {
        "Not compared": [
            "4 routes admitted by default: no HAProxy configuration of it has been read"
        ]
    }


def test_configurations_that_lie_with_the_pods_are_read_too(call: Call, cluster: Files) -> None:
    files = {path: text for path, text in cluster.items() if "haproxy.config" not in path}
    folder = f"namespaces/openshift-ingress/pods/{PODS[0]}/haproxy.config"
    said = call("route_check", files | {folder: rc.config("/conf", backends())})
    assert said.startswith("No issues with routes.\n4 routes of 4 namespaces, 4 backends")


def test_a_configuration_of_nobody_known_stands_for_every_controller(
    call: Call, cluster: Files
) -> None:
    files = {path: text for path, text in cluster.items() if "haproxy.config" not in path}
    text = rc.config("/conf", backends())
    said = call("route_check", files | {"ingress_controllers/haproxy.config": text})
    assert said.split("\n")[0] == "No issues with routes."
    assert "Not compared" not in said


def test_long_lists_are_cut_and_say_how_to_see_more(call: Call, cluster: Files) -> None:
    files = cluster | {SHOP: listed(*(route("shop", f"r{n:03}") for n in range(120)))}
    said = call("route_check", files)
    assert "\n70 more; call again with limit (up to 1000)" in said
    assert "shop/r049 " in said
    assert "shop/r050 " not in said
    said = call("route_check", files, limit=200)
    assert "shop/r119 " in said
    assert "call again" not in said
    files = cluster | {SHOP: listed(*(route("shop", "r" * 200 + f"{n}") for n in range(90)))}
    said = call("route_check", files, {"maxRows": 90})
    assert 27_000 < len(said) < 29_000
    assert "more lines; call again with limit (up to 1000)" in said


OC_LIST = """---
apiVersion: route.openshift.io/v1
items:
- metadata:
    annotations:
      haproxy.router.openshift.io/timeout: 10m
    creationTimestamp: "2026-01-01T00:00:00Z"
    name: cart
    namespace: shop
  spec:
    host: cart.example.com
    path: /v1
    port:
      targetPort: 8080
    tls:
      certificate: |
        -----BEGIN CERTIFICATE-----
      insecureEdgeTerminationPolicy: Redirect
      termination: edge
    to:
      kind: Service
      name: cart
      weight: 100
    wildcardPolicy: None
  status:
    ingress:
    - conditions:
      - lastTransitionTime: "2026-01-01T00:00:00Z"
        status: "True"
        type: Admitted
      host: cart.example.com
      routerCanonicalHostname: router-default.apps.demo.example.com
      routerName: default
      wildcardPolicy: None
kind: RouteList
metadata:
  resourceVersion: "1234"
"""


def test_a_list_as_oc_writes_it_is_read(call: Call, cluster: Files) -> None:
    assert sections(call("route_check", cluster | {SHOP: OC_LIST})) == {
        "Missing": ["shop/cart (cart.example.com/v1) in default: no be_edge_http:shop:cart"]
    }
