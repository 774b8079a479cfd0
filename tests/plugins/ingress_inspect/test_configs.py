"""Whose a configuration is, and which backends are for routes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins._shared.must_gather import open_must_gather
from tinyhost_plugins.ingress_inspect.configs import app_backends, read_configs
from tinyhost_plugins.ingress_inspect.haproxy import parse
from tinyhost_plugins.ingress_inspect.options import Options
from tinyhost_plugins.ingress_inspect.pace import Pace
from tinyhost_sdk import ToolContext

from .conftest import PODS


@pytest.mark.parametrize(
    ("path", "controller", "pod"),
    [
        (f"ingress_controllers/default/{PODS[0]}/haproxy.config", "default", PODS[0]),
        (f"ingress_controllers/a/{PODS[0]}/var/lib/haproxy/haproxy.config", "a", PODS[0]),
        ("ingress_controllers/router-1/haproxy.config", "", "router-1"),
        ("ingress_controllers/haproxy.config", "", ""),
        (f"namespaces/openshift-ingress/pods/{PODS[0]}/x/haproxy.config", "default", PODS[0]),
        (
            "namespaces/openshift-ingress/pods/router-my-shard-6d5f7c8b9-x/haproxy.config",
            *("my-shard", "router-my-shard-6d5f7c8b9-x"),
        ),
        ("namespaces/openshift-ingress/haproxy.config", "", ""),
    ],
)
def test_the_path_of_a_configuration_tells_its_controller_and_its_pod(
    write: Callable[..., Path], path: str, controller: str, pod: str
) -> None:
    files: dict[str, Any] = {"namespaces/a/a.yaml": "{}", path: "global\n"}
    mg = open_must_gather(write(files | {"elsewhere/haproxy.config": "global\n"}))
    (found,) = read_configs(mg, Options(), Pace(ToolContext(), 60))
    assert (found.path, found.controller, found.pod) == (path, controller, pod)


def test_only_backends_with_the_router_s_prefixes_are_for_routes() -> None:
    text = (
        "backend be_http:a:b\nbackend be_edge_http:a:b.c\nbackend be_tcp:a:b\nbackend be_secure:a:b\n"
        "backend be_other:a:b\nbackend be_http\nbackend be_http:a\nbackend be_sni\n"
        "backend be_http:_hapcm_blueprint_pool:x\nfrontend be_http:c:d\nbackend openshift_default\n"
    )
    found = app_backends(parse(text.splitlines()))
    assert [(b.prefix, b.namespace, b.route, b.key) for b in found] == [
        ("be_http", "a", "b", "a:b"),
        ("be_edge_http", "a", "b.c", "a:b.c"),
        ("be_tcp", "a", "b", "a:b"),
        ("be_secure", "a", "b", "a:b"),
    ]


def test_configurations_that_do_not_fit_into_memory_are_left_out_whole_and_named(
    write: Callable[..., Path],
) -> None:
    many = "".join(f"backend be_http:a:b{n}\n" for n in range(100))
    place = "ingress_controllers/default/router-{}/haproxy.config"
    files = {place.format(n): f"# {n}\n{many}" for n in range(3)}
    files[place.format(3)] = f"{many}backend be_http:a:more\n" + many.replace(":b", ":c")
    files[place.format(4)] = "global\n"
    files[place.format(5)] = files[place.format(0)]
    mg = open_must_gather(write({"namespaces/a/a.yaml": "{}", **files}))
    options = Options({"maxMemoryBytes": 200_000})
    found = read_configs(mg, options, Pace(ToolContext(), 60))
    assert [config.path for config in found] == [place.format(n) for n in (0, 1, 2, 5)]
    assert all(len(config.config.proxies) == 100 for config in found)
    why = "no room beside the others in 195.3 KiB, option maxMemoryBytes"
    assert dict(mg.faults) == {place.format(3): why, place.format(4): why}


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n\n"])
def test_a_file_is_read_line_by_line_and_what_is_no_utf_8_is_replaced(
    write: Callable[..., Path], end: bytes
) -> None:
    path = "ingress_controllers/default/router-0/haproxy.config"
    mg = open_must_gather(write({"namespaces/a/a.yaml": "{}", path: ""}))
    (mg.root / path).write_bytes(
        b"backend caf\xc3\xa9\r\n server a b\nbackend \xff\xc3\n server a b" + end
    )
    (found,) = read_configs(mg, Options(), Pace(ToolContext(), 60))
    assert [(proxy.name, proxy.servers) for proxy in found.config.proxies] == [
        ("caf\u00e9", 1),
        ("\ufffd\ufffd", 1),
    ]
