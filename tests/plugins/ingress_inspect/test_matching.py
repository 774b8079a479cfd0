"""The comparison, with routes and backends made at random."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ingress_inspect.configs import RouterConfig
from tinyhost_plugins.ingress_inspect.haproxy import parse
from tinyhost_plugins.ingress_inspect.matching import check
from tinyhost_plugins.ingress_inspect.routes import PREFIXES, Admission, Route

NAMESPACES = ("a", "a-b", "b")
NAMES = st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(["x", "xy", "y"]))
ROUTERS = st.sampled_from(["default", "shard"])


@st.composite
def routes(draw: st.DrawFn) -> list[Route]:
    found = []
    for namespace, name in draw(st.sets(NAMES)):
        kind = draw(st.sampled_from(sorted(PREFIXES)))
        admissions = tuple(
            Admission(router, draw(st.sampled_from(["True", "False"])), "", "")
            for router in sorted(draw(st.sets(ROUTERS)))
        )
        found.append(Route(namespace, name, "", "", kind, admissions, ""))
    return found


@st.composite
def configs(draw: st.DrawFn) -> list[RouterConfig]:
    found = []
    for router in ("default", "shard"):
        keys = draw(st.sets(NAMES))
        text = [
            f"backend {draw(st.sampled_from(sorted(PREFIXES.values())))}:{namespace}:{name}\n"
            f"server s 10.0.0.1:1\n"
            for namespace, name in sorted(keys)
        ]
        config = parse("".join(text).splitlines())
        found.append(RouterConfig("", router, "", config, b""))
    return found


@given(routes(), configs(), st.sampled_from(["", *NAMESPACES]))
def test_each_pair_of_a_route_and_a_router_is_judged_once(
    known: list[Route], read: list[RouterConfig], namespace: str
) -> None:
    known = [route for route in known if namespace in ("", route.namespace)]
    found = check(read, known, NAMESPACES, namespace)
    names = {c.controller: {proxy.name for proxy in c.config.proxies} for c in read}
    keys = {c: {name.partition(":")[2] for name in of} for c, of in names.items()}
    admitted = {
        (entry.router, route.key, route.backend)
        for route in known
        for entry in route.admissions
        if entry.status == "True"
    }
    missing = [one for one in admitted if one[1] not in keys[one[0]]]
    other = [o for o in admitted if o[1] in keys[o[0]] and o[2] not in names[o[0]]]
    assert (len(found.missing), len(found.misconfigured)) == (len(missing), len(other))
    served = {(router, key) for router, key, _name in admitted}
    silent = {route.key for route in known if not route.admissions}
    left = [
        (router, key)
        for router, of in keys.items()
        for key in of
        if (router, key) not in served
        and key not in silent
        and namespace in ("", key.partition(":")[0])
    ]
    assert len(found.stale) == len(left)
    assert len(found.unclaimed) == len(silent)
