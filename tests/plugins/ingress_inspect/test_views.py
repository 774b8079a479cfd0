"""ingress_backends and ingress_config."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import router_config as rc
from .conftest import PODS, backends, configs

Call = Callable[..., str]
Files = dict[str, Any]
NONE = "There is no HAProxy configuration (ingress_controllers/CONTROLLER/POD/haproxy.config)"
FIRST, SECOND = (f"ingress_controllers/default/{pod}/haproxy.config" for pod in PODS)


def rows(said: str) -> list[list[str]]:
    return [line.split() for line in said.split("\n")]


def test_backends_are_a_table_for_each_pod_in_the_order_of_their_names(
    call: Call, cluster: Files
) -> None:
    said = rows(call("backends", cluster))
    assert " ".join(said[0]) == "8 backends in 2 configurations, none for routes without servers"
    assert said[2] == [f"{FIRST}:", "8", "backends"]
    assert said[3] == ["PREFIX", "NAMESPACE", "NAME", "SERVERS", "MODE", "BALANCE", "NOTES"]
    assert said[4] == [
        *("be_edge_http", "openshift-console", "console", "2", "http", "random"),
        *("1", "in", "reserve"),
    ]
    assert [row[2] for row in said[4:12]] == [
        *("console", "grafana", "be_no_sni", "prometheus", "be_sni", "oauth"),
        *("openshift_default", "stats"),
    ]
    assert said[13:] == [[f"{SECOND}:", "8", "backends"], ["the", "same", "as", FIRST]]


def test_a_filter_keeps_the_backends_that_have_the_text_in_their_name(
    call: Call, cluster: Files
) -> None:
    said = call("backends", cluster, filter="tor")
    assert said.startswith("2 backends with 'tor' in the name in 2 configurations, none")
    assert [row[2] for row in rows(said)[4:6]] == ["grafana", "prometheus"]
    said = call("backends", cluster, filter="console:con")
    assert said.startswith("1 backend with")
    none = call("backends", cluster, filter="nothing").split("\n")[0]
    assert none == "0 backends with 'nothing' in the name in 2 configurations"


def test_what_is_odd_about_a_backend_is_noted(call: Call, cluster: Files) -> None:
    odd = rc.http_backend(
        "be_http:shop:cart",
        rc.server("a", "10.0.0.1", "weight 0"),
        rc.server("b", "10.0.0.2"),
        "  timeout server 10m",
        "  timeout tunnel 1h",
    )
    empty = rc.http_backend("be_http:shop:empty")
    files = cluster | configs(rc.config("/conf", [*backends(), odd, empty]), pods=PODS[1:])
    said = call("backends", files, filter="shop")
    assert said.startswith("2 backends with 'shop' in the name in 2 configurations, 1 for routes")
    assert f"{FIRST}: 0 backends\n" in said
    assert "1 disabled or weight 0, timeout server 10m" in said
    assert "the same as" not in said
    assert rows(said)[-1][2:] == ["empty", "0", "http", "random", "-"]


def test_long_tables_say_how_to_see_more(call: Call, cluster: Files) -> None:
    many = [rc.http_backend(f"be_http:shop:r{n:03}") for n in range(70)]
    files = cluster | configs(rc.config("/conf", many))
    assert "24 more rows; call again with limit (up to 1000)" in call("backends", files)
    assert "more rows" not in call("backends", files, limit=100)


def test_without_configurations_both_tools_say_so(call: Call) -> None:
    files = {"namespaces/default/default.yaml": "{}"}
    for tool in ("backends", "config"):
        assert call(tool, files).startswith(NONE)


def test_the_settings_are_shown_without_secrets(call: Call, cluster: Files) -> None:
    said = call("config", cluster)
    assert said.startswith("2 HAProxy configurations, none with long timeouts\n")
    assert f"\n\n{FIRST} (controller default)\nGlobal:\n  hard-stop-after 1h\n" in said
    lines = said.split("\n")
    start = lines.index("Frontends:")
    assert lines[start : start + 11] == [
        "Frontends:",
        "  stats (mode http, listen)",
        "    bind 127.0.0.1:1936",
        "  public (mode http, frontend)",
        "    bind 127.0.0.1:80",
        "  public_ssl (mode tcp, frontend)",
        "    bind 127.0.0.1:443",
        "  fe_sni (mode http, frontend)",
        "    bind 127.0.0.1:10444 ssl crt [hidden] crt-list [hidden] accept-proxy  [SSL]",
        "  fe_no_sni (mode http, frontend)",
        "    bind 127.0.0.1:10443 ssl crt [hidden] accept-proxy  [SSL]",
    ]
    assert "\nBackends: 8 (5 http, 3 tcp), none for routes without servers\n" in said
    assert "swordfish" not in said
    assert ".pem" not in said
    assert said.endswith(f"{SECOND} (controller default)\nthe same as {FIRST}")


def test_long_timeouts_are_marked_but_not_an_hour_for_tunnels(call: Call, cluster: Files) -> None:
    slow = rc.http_backend("be_http:shop:slow", "  timeout server 1d")
    text = rc.config("/conf", [slow], client_timeout="301s")
    said = call("config", cluster | configs(text))
    assert said.startswith("2 HAProxy configurations, 2 with long timeouts\n")
    assert "  timeout client 301s  [WARNING: > 5 minutes]\n" in said
    assert said.count("WARNING") == 1
    assert "Backends with long timeouts:\n  be_http:shop:slow: timeout server 1d\n" in said
    said = call("config", cluster | configs(text), {"longTimeoutSeconds": 600})
    assert "WARNING" not in said


def test_other_sections_and_odd_lines_are_told(call: Call, cluster: Files) -> None:
    text = "stray\n" + rc.ODD + ".if 1\n.endif\nfrontend \x1b[31m\n bind :1\n"
    said = call("config", cluster | configs(text))
    assert "Other sections: 1 cache, 1 resolvers, 1 userlist\n" in said
    assert "conditional blocks" in said
    assert "1 line before the first section: not a whole file?" in said
    assert "Defaults web from base:\n" in said
    assert "setenv SECRET [hidden]" in said
    assert "hunter" not in said
    assert "\x1b" not in said


def test_large_and_surplus_configurations_are_left_out_and_named(
    call: Call, cluster: Files
) -> None:
    said = call("config", cluster, {"maxConfigs": 1})
    assert said.endswith(f"Not read: {SECOND} (over 1 configurations, option maxConfigs)")
    said = call("config", cluster, {"maxConfigBytes": 1024})
    assert said.startswith("No HAProxy configuration of this must-gather could be read.\n")
    assert f"Not read: {FIRST} (has " in said
    said = call("route_check", cluster, {"maxConfigBytes": 1024})
    assert said.startswith("Routes cannot be checked: no HAProxy configuration of this must-")
