"""Where the Alertmanager is: what a Route says is checked before a token is sent there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.ocp_context_injection.alerting import ask
from tinyhost_plugins.ocp_context_injection.facts import Alerts
from tinyhost_plugins.ocp_context_injection.kubeconfig import Access
from tinyhost_plugins.ocp_context_injection.oc import Oc, OcError
from tinyhost_plugins.ocp_context_injection.options import Options
from tinyhost_plugins.ocp_context_injection.workspace import Workspace

from .conftest import ALERTS, ROUTE, TOKEN, FakeOc, Server, firing

ACCESS = Access("c", "demo", "https://x", "me", "shop", TOKEN, False, False, (TOKEN,))


def alerts(oc: FakeOc, options: Options, access: Access = ACCESS) -> Alerts:
    workspace = Workspace()
    try:
        runner = Oc(str(oc.program), "", workspace.scratch)
        deadline = time.monotonic() + 20
        return ask(runner, access, options, workspace, lambda: False, deadline)
    finally:
        workspace.close()


@pytest.mark.parametrize(
    "host", ["", "evil.example/x", "a@b", "a:1", "a\nb", "-a", "a.", "a" * 300, 7, None]
)
def test_a_route_without_a_proper_host_gets_no_token(oc: FakeOc, host: Any) -> None:
    oc.answer({ROUTE: {"spec": {"host": host}}})
    with pytest.raises(OcError, match="the Route to the Alertmanager has no host"):
        alerts(oc, Options())


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_a_host_that_no_name_server_knows_is_an_error_like_others(oc: FakeOc, host: str) -> None:
    oc.answer({ROUTE: {"spec": {"host": host}}})
    with pytest.raises(OcError, match="is not a URL"):
        alerts(oc, Options())


def test_the_host_of_a_route_is_asked_with_encryption(oc: FakeOc) -> None:
    oc.answer({ROUTE: {"spec": {"host": "alertmanager.invalid"}}})
    with pytest.raises(OcError, match=r"^GET https://alertmanager.invalid/api/v2/alerts: "):
        alerts(oc, Options())


def test_without_a_route_or_a_token_the_reason_is_told(oc: FakeOc) -> None:
    with pytest.raises(OcError, match="there is no Route to the Alertmanager"):
        alerts(oc, Options())
    with pytest.raises(OcError, match="this login has no bearer token"):
        alerts(oc, Options(), ACCESS._replace(token=""))


def test_a_url_that_is_set_goes_before_the_route(
    oc: FakeOc, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve({ALERTS: firing()}, TOKEN)
    # As the program and the person may write it.
    same = Options(alertmanager_url=server.url, api_url="https://X:443/")
    assert alerts(oc, same).info == 1
    found = alerts(oc, Options(alertmanager_url=server.url))
    assert found == Alerts(
        {("etcdDown", "openshift-etcd"): 1}, {("KubePodCrash", "shop"): 2, ("NodeClock", ""): 1}, 1
    )
    assert oc.asked() == []
    with pytest.raises(OcError, match="has no encryption"):
        alerts(oc, Options(alertmanager_url="http://alertmanager.invalid"))
    server.answers[ALERTS] = (503, {"error": f"{TOKEN} came"})
    with pytest.raises(OcError, match=r"HTTP 503 Service Unavailable: \[secret\] came"):
        alerts(oc, Options(alertmanager_url=server.url))


@pytest.mark.parametrize("other", ["https://y", "http://x", "https://x:6443", "https://x/y", "x"])
def test_a_url_that_is_set_for_the_configured_server_gets_no_token_of_another(
    oc: FakeOc, serve: Callable[..., Server], other: str
) -> None:
    server = serve({ALERTS: firing()}, TOKEN)
    options = Options(alertmanager_url=server.url, api_url="https://x")
    with pytest.raises(OcError, match="there is no Route to the Alertmanager"):
        alerts(oc, options, ACCESS._replace(server=other))
    assert server.asked == []
