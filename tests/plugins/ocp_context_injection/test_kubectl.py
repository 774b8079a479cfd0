"""The plugin with a real kubectl, of any version from 1.20 on, and an API server here."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.ocp_context_injection.plugin import build
from tinyhost_sdk import ToolResult, testing

from .conftest import (
    ACCESS,
    ALERTS,
    CLUSTER_ID,
    COSTS,
    OFFLINE,
    OPERATORS,
    SSO,
    TOKEN,
    USER,
    VERSION,
    Server,
    cost,
    firing,
    kubeconfig,
    listing,
    openshift,
    report,
    status,
)

Serve = Callable[..., Server]


class Cluster:
    """A cluster, the person's kubeconfig for it, and a plugin that uses kubectl."""

    def __init__(self, server: Server, file: Path, certificate: Path) -> None:
        self.server, self.file, self.certificate = server, file, certificate
        self.options: dict[str, Any] = {"program": "kubectl", "timeoutSeconds": 60}
        self.options["startSeconds"] = 30
        self.write()

    def write(self, **user: Any) -> None:
        value = kubeconfig(self.server.url, self.certificate, **user)
        self.file.write_text(json.dumps(value))

    def context(self, **options: Any) -> ToolResult:
        with testing.drive(build(), {**self.options, **options}) as driver:
            return driver.call_tool("cluster_context", {})

    def lines(self, **options: Any) -> list[str]:
        result = self.context(**options)
        assert not result.is_error, result.content
        return result.content.splitlines()

    def login(self, options: Mapping[str, Any], **args: str) -> ToolResult:
        with testing.drive(build(), {**self.options, **options}) as driver:
            return driver.call_tool("oc_login", args)


@pytest.fixture
def cluster(serve: Serve, person: Path, certificate: Path) -> Iterator[Cluster]:
    """That of openshift(). The home has to be as it was at the end, but for the kubeconfig."""
    yield Cluster(serve(openshift(), TOKEN, tls=True), person, certificate)
    home = person.parent.parent
    assert list(listing(home)) == [str(person)]
    assert list((home.parent / "run").iterdir()) == []


def test_the_cluster_is_described_and_asked_as_the_person(cluster: Cluster) -> None:
    before = listing(cluster.file.parent)
    assert cluster.lines() == [
        "<cluster-context>",
        "cluster: demo",
        f"server: {cluster.server.url}",
        "context: shop/demo/me",
        "user: kube:admin",
        "version: OpenShift 4.18.2",
        f"cluster-id: {CLUSTER_ID}",
        "nodes: 5 (3 control-plane, 2 worker), 1 not ready",
        "namespace: shop",
        "operators: [OpenShift Elasticsearch, quay-operator]",
        "not known: alerts (there is no Route to the Alertmanager)",
        "</cluster-context>",
    ]
    assert listing(cluster.file.parent) == before
    (operators,) = cluster.server.asked_for(OPERATORS)
    assert operators.query["labelSelector"] == "!olm.copiedFrom"
    assert operators.authorization == f"Bearer {TOKEN}"


def test_alerts_come_from_the_alertmanager_with_the_persons_token(
    cluster: Cluster, serve: Serve
) -> None:
    alertmanager = serve({ALERTS: firing()}, TOKEN)
    lines = cluster.lines(alertmanagerUrl=alertmanager.url)
    assert lines[-4:] == [
        "firing-alerts-critical: 1 (etcdDown: openshift-etcd)",
        "firing-alerts-warning: 3 (KubePodCrash: shop x2, NodeClock: cluster)",
        "firing-alerts-info: 1",
        "</cluster-context>",
    ]
    (asked,) = alertmanager.asked
    assert asked.query == {"active": "true", "silenced": "false", "inhibited": "false"}
    alertmanager.token = "another"
    assert "not known: alerts (GET " in cluster.lines(alertmanagerUrl=alertmanager.url)[-2]


def test_the_certificate_of_the_alertmanager_is_vouched_for_by_the_cluster(
    cluster: Cluster, serve: Serve
) -> None:
    alertmanager = serve({ALERTS: firing()}, TOKEN, tls=True)
    said = cluster.lines(alertmanagerUrl=alertmanager.url)[-2]
    assert "its certificate is not trusted" in said
    assert alertmanager.asked == []
    path = "/api/v1/namespaces/openshift-config-managed/configmaps/default-ingress-cert"
    bundle = cluster.certificate.read_text()
    cluster.server.answers[path] = {"data": {"ca-bundle.crt": bundle}}
    said = cluster.lines(alertmanagerUrl=alertmanager.url)[-2]
    assert said == "firing-alerts-info: 1"
    cluster.server.answers.pop(path)
    ca_file = str(cluster.certificate)
    said = cluster.lines(alertmanagerUrl=alertmanager.url, caFile=ca_file)[-2]
    assert said == "firing-alerts-info: 1"


def test_costs_are_asked_for_by_the_id_of_the_cluster(cluster: Cluster, serve: Serve) -> None:
    sso = serve({SSO: {"access_token": ACCESS}})
    answer = report({"project": "shop", "values": [cost(3)]})
    console = serve({COSTS: answer}, ACCESS)
    options = {"consoleOfflineToken": OFFLINE, "ssoUrl": sso.url, "consoleUrl": console.url}
    line = "<cost-context>namespace=shop monthly-cost=$3.00</cost-context>"
    assert cluster.lines(**options)[-1] == line
    assert console.asked[0].query["filter[cluster]"] == CLUSTER_ID
    assert cluster.lines(**options, clusterId="my-id")[-1] == line
    assert console.asked[1].query["filter[cluster]"] == "my-id"
    console.answers[COSTS] = report()
    said = "cost (the cost management service knows nothing of shop this month)"
    assert said in cluster.lines(**options)[-2]
    cluster.server.answers.pop(VERSION)
    assert "cost (the id of the cluster is not known;" in cluster.lines(**options)[-2]
    assert OFFLINE not in repr([*cluster.server.asked, *console.asked])


def test_without_a_login_there_is_one_line_that_says_so(cluster: Cluster) -> None:
    cluster.write(token="expired-t0ken")
    result = cluster.context()
    assert result.is_error
    assert result.content.startswith(
        "<cluster-context>not connected</cluster-context>\nkubectl get /apis/user.openshift.io"
    )
    assert "You must be logged in to the server" in result.content
    assert len(result.content.splitlines()) == 2
    with testing.drive(build(), cluster.options) as driver:
        (text,) = driver.invoke_hook("session.start", {"sessionId": "a"})["additionalContext"]
    assert text == result.content


def test_a_cluster_that_is_not_openshift_is_described_too(cluster: Cluster) -> None:
    cluster.server.answers = {
        "/version": {"gitVersion": "v1.31.3"},
        "/api/v1/nodes": {"items": [{"metadata": {"name": "n"}}]},
    }
    lines = cluster.lines()
    assert lines[4] == "user: unknown"  # not every kubectl can ask this server
    assert lines[5:9] == [
        "version: Kubernetes v1.31.3",
        "nodes: 1 (0 control-plane, 0 worker), 1 not ready",
        "namespace: shop",
        "operators: none",
    ]


def test_what_may_not_be_read_is_named_and_the_rest_is_told(cluster: Cluster) -> None:
    denied = status(403, "Forbidden", 'User "jane" cannot list nodes')
    cluster.server.answers |= {"/api/v1/nodes": denied, OPERATORS: denied, VERSION: denied}
    lines = cluster.lines()
    assert lines[4:9] == [
        "user: kube:admin",
        "version: Kubernetes v1.31.3",
        "nodes: unknown",
        "namespace: shop",
        "operators: unknown",
    ]
    assert "(Forbidden)" in lines[9]


def test_a_login_without_a_token_gets_no_alerts(cluster: Cluster, serve: Serve) -> None:
    cluster.server.token = ""
    cluster.write(username="jane", password="passw0rd-value")
    alertmanager = serve({ALERTS: firing()})
    lines = cluster.lines(alertmanagerUrl=alertmanager.url)
    assert "alerts (this login has no bearer token" in lines[-2]
    assert alertmanager.asked == []


def test_a_program_of_the_persons_may_log_in(cluster: Cluster) -> None:
    helper = cluster.file.parent.parent / "log-in"
    kind = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    given = json.dumps({**kind, "status": {"token": TOKEN}})
    helper.write_text(f"#!/bin/sh\n[ \"$HOME\" = {helper.parent} ] && echo '{given}'\n")
    helper.chmod(0o755)
    cluster.write(
        exec={
            "apiVersion": kind["apiVersion"],
            "command": "../log-in",
            "interactiveMode": "Never",
        }
    )
    assert "user: kube:admin" in cluster.lines()
    helper.unlink()


# --- oc_login


def test_a_login_is_for_the_session_and_leaves_the_kubeconfig_alone(cluster: Cluster) -> None:
    cluster.write(token="expired-t0ken")
    before = listing(cluster.file.parent)
    options = {
        **cluster.options,
        "apiUrl": cluster.server.url + "/",
        "apiToken": TOKEN,
        "caFile": str(cluster.certificate),
    }
    with testing.drive(build(), options) as driver:
        assert driver.call_tool("cluster_context", {}, session_id="a").is_error
        result = driver.call_tool("oc_login", {}, session_id="a")
        first = f"Logged in to {cluster.server.url} as kube:admin\n"
        assert result.content.startswith(first), result.content
        env = driver.invoke_hook("shell.env", {"sessionId": "a", "env": {}})["env"]
        file = Path(env["KUBECONFIG"])
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        flags = [f"--kubeconfig={file}", f"--cache-dir={file.parent / 'x'}", f"--raw={USER}"]
        said = subprocess.run(
            ["kubectl", "get", *flags], capture_output=True, text=True, check=True
        ).stdout
        assert json.loads(said)["metadata"]["name"] == "kube:admin"
        context = driver.call_tool("cluster_context", {}, session_id="a").content
        assert "namespace: default\n" in context
        other = driver.invoke_hook("shell.env", {"sessionId": "b", "env": {}})["env"]
        assert "KUBECONFIG" not in other
        assert driver.call_tool("cluster_context", {}, session_id="b").is_error
        again = {"server": cluster.server.url, "token": TOKEN}
        assert not driver.call_tool("oc_login", again, session_id="a").is_error
        assert not file.exists()
        later = driver.invoke_hook("shell.env", {"sessionId": "a", "env": {}})["env"]
        driver.invoke_hook("session.end", {"sessionId": "a"})
        assert not Path(later["KUBECONFIG"]).exists()
    assert listing(cluster.file.parent) == before


def test_a_token_goes_to_the_configured_server_only(cluster: Cluster, serve: Serve) -> None:
    other = serve(openshift(), TOKEN)
    own = {"apiUrl": cluster.server.url, "apiToken": TOKEN}
    port = cluster.server.server_port
    for options, args, said in (
        ({}, {"server": other.url, "token": TOKEN}, "the person sets it with the option apiUrl"),
        ({}, {"token": TOKEN}, "the person sets it with the option apiUrl"),
        (own, {"server": other.url}, f"logs in to {cluster.server.url} only"),
        (own, {"server": other.url, "token": TOKEN}, "only, which the option apiUrl names"),
        (own, {"server": f"https://127.0.0.1:{port}/x"}, "only, which the option apiUrl names"),
        (own, {"server": "http://evil.example"}, "server: http://evil.example has no encryption"),
        (own, {"server": "--token=x"}, "server: --token=x is not a URL"),
        (own, {"server": f"https://127.0.0.1:{port}@evil.example"}, "server: the base URL"),
        ({"apiUrl": "http://api.example", "apiToken": TOKEN}, {}, "option apiUrl: http://api.ex"),
    ):
        result = cluster.login(options, **args)
        assert (result.is_error, said in result.content) == (True, True), result.content
        assert "\n" not in result.content
    assert cluster.server.asked == other.asked == []


def test_the_offline_token_is_never_a_token_of_the_cluster(cluster: Cluster) -> None:
    options = {"apiUrl": cluster.server.url, "consoleOfflineToken": OFFLINE}
    result = cluster.login(options)
    assert result.is_error
    assert result.content.startswith("oc_login has no token")
    result = cluster.login(options, token=OFFLINE)
    assert result.content == "the offline token of the console is not a token of this cluster"
    assert cluster.server.asked == []


@pytest.mark.parametrize(
    "token", ["-x", "a b", "a\nb", 'a"b', "a'b", "a\\b", "é", "x" * 20_000, "a\0b"]
)
def test_a_token_that_is_not_one_word_is_not_sent(cluster: Cluster, token: str) -> None:
    result = cluster.login({"apiUrl": cluster.server.url}, token=token)
    assert result.is_error
    assert result.content == "the token is not one word of letters, digits and signs"
    assert cluster.server.asked == []


def test_a_token_full_of_signs_is_written_as_it_is(cluster: Cluster) -> None:
    token = cluster.server.token = "#{a}: [b], &c *d|e>f%`@!?".replace(" ", "")
    options = {"apiUrl": cluster.server.url, "caFile": str(cluster.certificate)}
    result = cluster.login(options, token=token)
    assert not result.is_error, result.content
    assert token not in result.content


def test_a_refused_login_is_told_without_the_token_and_leaves_no_file(cluster: Cluster) -> None:
    wrong = "wr0ng-t0ken-value"
    refused = status(401, "Unauthorized", f"no such token: {wrong}")
    cluster.server.token, cluster.server.answers[USER] = "", refused
    options = {"apiUrl": cluster.server.url, "caFile": str(cluster.certificate)}
    result = cluster.login(options, token=wrong)
    assert result.is_error
    assert result.content.startswith("oc_login failed: kubectl get /apis/user.openshift.io/")
    assert wrong not in result.content


def test_a_server_nobody_vouches_for_is_logged_in_to_only_when_that_is_set(
    cluster: Cluster,
) -> None:
    options = {"apiUrl": cluster.server.url, "apiToken": TOKEN}
    result = cluster.login(options)
    assert "certificate signed by unknown authority" in result.content
    assert cluster.server.asked == []
    assert not cluster.login({**options, "insecureSkipTlsVerify": True}).is_error
