"""Asks a cluster all that is told of it, side by side and within a deadline."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import facts
from .kubeconfig import Access, copy_kubeconfig
from .oc import Cancelled, Failed, Limits, Oc, OcError
from .options import Options
from .present import Found
from .workspace import Workspace

if TYPE_CHECKING:
    from .console import Console

_USER = "/apis/user.openshift.io/v1/users/~"
_VERSION = "/apis/config.openshift.io/v1/clusterversions/version"
_OPERATORS = "/apis/operators.coreos.com/v1alpha1/clusterserviceversions"
_MOST_NODES, _MOST_OPERATORS = 500, 200
_NAMESPACE = "default"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Errand:
    """What every question needs. console: None where no costs are asked for."""

    options: Options
    workspace: Workspace
    console: Console | None
    program: str
    cancelled: Callable[[], bool]
    deadline: float

    def oc(self, kubeconfig: str) -> Oc:
        """Raises OcError."""
        return Oc(
            self.program,
            kubeconfig,
            self.workspace.scratch,
            limits=Limits(seconds=self.options.seconds),
            cancelled=self.cancelled,
            deadline=self.deadline,
        )

    def copied(self, source: str) -> tuple[Path, Access]:
        """A private copy of a kubeconfig; the caller removes it. Raises NoContext, OcError."""
        target = self.workspace.fresh()
        return target, copy_kubeconfig(self.oc(source), target)


def gather(errand: Errand, kubeconfig: Path, access: Access) -> Found:
    """All that can be known; Found.missing says what is not. Raises OcError without a login."""
    home = os.environ.get("HOME", "") if access.helped else ""
    oc = errand.oc("").at(str(kubeconfig), secrets=access.secrets, home=home)
    namespace = access.namespace or _NAMESPACE
    with ThreadPoolExecutor(6) as pool:
        asked: dict[str, Future[Any]] = {
            "user": pool.submit(user, oc),
            "version": pool.submit(_release, oc),
            "nodes": pool.submit(_nodes, oc),
            "operators": pool.submit(_operators, oc),
            "alerts": pool.submit(_alerts, errand, oc, access),
        }
        if errand.console is not None:
            asked["cost"] = pool.submit(_cost, errand, namespace, asked["version"])
    found = Found(access.context, access.cluster, access.server, namespace, access.insecure)
    answers = {name: _outcome(future, name, found) for name, future in asked.items()}
    if errand.cancelled():
        raise Cancelled("asking the cluster was cancelled")
    if answers["user"] is None and answers["nodes"] is None:
        raise OcError(found.missing["user"])
    found.user = answers["user"] or ""
    found.nodes = answers["nodes"]
    found.operators = answers["operators"]
    found.alerts = answers["alerts"]
    found.cost = answers.get("cost")
    release = answers["version"] or facts.Release("", "")
    found.version = release.version
    found.cluster_id = errand.options.cluster_id or release.cluster_id
    return found


def user(oc: Oc) -> str:
    """Who is logged in. Raises OcError for nobody."""
    try:
        name = facts.text(oc.raw(_USER), "metadata", "name")
    except Failed as error:
        # A cluster that is not OpenShift does not have it, and says so to administrators only.
        if not (error.is_not_found or error.is_forbidden):
            raise
        answer = oc.json("auth", "whoami", flags={"output": "json"})
        name = facts.text(answer, "status", "userInfo", "username")
    if not name:
        raise OcError("the server did not say who is logged in")
    return name


def _outcome(future: Future[T], name: str, found: Found) -> T | None:
    try:
        return future.result()
    except OcError as error:
        found.missing[name] = str(error)
        return None


def _release(oc: Oc) -> facts.Release:
    try:
        return facts.release(oc.raw(_VERSION))
    except Failed:
        # Not OpenShift, or not for this user to see; the version of Kubernetes is for everybody.
        version = facts.text(oc.raw("/version"), "gitVersion")
    if not version:
        raise OcError("the server did not say its version")
    return facts.Release(f"Kubernetes {version}", "")


def _nodes(oc: Oc) -> facts.Nodes:
    return facts.nodes(oc.raw("/api/v1/nodes", {"limit": _MOST_NODES}))


def _operators(oc: Oc) -> facts.Operators:
    # Operators of all namespaces have a copy in each of them.
    query: dict[str, str | int] = {"limit": _MOST_OPERATORS, "labelSelector": "!olm.copiedFrom"}
    try:
        return facts.operators(oc.raw(_OPERATORS, query))
    except Failed as error:
        if not error.is_not_found:
            raise
        return facts.Operators([], more=False)


def _alerts(errand: Errand, oc: Oc, access: Access) -> facts.Alerts:
    from .alerting import ask

    return ask(oc, access, errand.options, errand.workspace, errand.cancelled, errand.deadline)


def _cost(errand: Errand, namespace: str, asked: Future[facts.Release]) -> facts.Cost | None:
    from .._shared.http import HttpError

    assert errand.console is not None
    cluster_id = errand.options.cluster_id or asked.result().cluster_id
    if not cluster_id:
        raise OcError("the id of the cluster is not known; the option clusterId sets it")
    try:
        cost = errand.console.cost(cluster_id, namespace, errand.cancelled, errand.deadline)
    except HttpError as error:
        raise OcError(str(error)) from None
    if cost is None:
        raise OcError(f"the cost management service knows nothing of {namespace} this month")
    return cost
