"""The documentation page lists what the plugin has, and what it shows is what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages import code_rows, page, ranges

from tinyhost_plugins.ingress_inspect.options import RANGES
from tinyhost_plugins.ingress_inspect.plugin import build

from . import router_config as rc
from .conftest import backends, configs, listed, route

PAGE = page("ingress-inspect")


def test_the_page_lists_every_tool_and_every_option_with_its_range() -> None:
    rows = code_rows(PAGE)
    assert sorted(row[0] for row in rows) == sorted([*build().tools, *RANGES])
    assert ranges(rows, RANGES) == RANGES
    for tool in build().tools.values():
        (row,) = (row for row in rows if row[0] == tool.name)
        named = {name for name in tool.parameters["properties"] if name not in ("path", "limit")}
        assert named == set(row[1].replace("`", "").split())


def test_the_example_of_the_page_is_true(call: Callable[..., str], cluster: dict[str, Any]) -> None:
    old = rc.http_backend("be_http:openshift-etcd:old", rc.server("p", "10.0.0.1"))
    empty = rc.http_backend("be_http:shop:pay")
    files = cluster | configs(rc.config("/conf", [*backends(), old, empty]))
    refused = ("HostAlreadyClaimed", "route shop/first already exposes this host")
    routes = [
        route("shop", "cart", "edge"),
        route("shop", "pay"),
        route("shop", "second", refused=refused),
    ]
    files |= {"namespaces/shop/route.openshift.io/routes.yaml": listed(*routes)}
    example = PAGE.partition("```text\n")[2].partition("\n```")[0]
    assert call("route_check", files) == example
