"""Asks the Alertmanager of a cluster, by its Route and with the person's login."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .._shared.http import Client, HttpError, Limits, StatusError
from . import facts
from .kubeconfig import Access
from .oc import Failed, Oc, OcError
from .options import Options
from .servers import is_at
from .workspace import Workspace

_ROUTE = "/apis/route.openshift.io/v1/namespaces/openshift-monitoring/routes/alertmanager-main"
_INGRESS = "/api/v1/namespaces/openshift-config-managed/configmaps/default-ingress-cert"
_ALERTS = "/api/v2/alerts"
_QUERY = {"active": "true", "silenced": "false", "inhibited": "false"}
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
_MOST = 8 * 1024 * 1024


def ask(
    oc: Oc,
    access: Access,
    options: Options,
    workspace: Workspace,
    cancelled: Callable[[], bool],
    deadline: float,
) -> facts.Alerts:
    """The alerts that fire. Raises OcError with a text that says why they are not known."""
    if not access.token:
        raise OcError("this login has no bearer token, which the Alertmanager asks for")
    base = _set(options, access.server) or _route(oc)
    last = ""
    for ca_file in _trusted(oc, base, options, workspace):
        try:
            client = Client(
                base,
                credentials={"authorization": f"Bearer {access.token}"},
                limits=Limits(seconds=options.seconds, tries=1, body=_MOST),
                ca_file=ca_file,
                cancelled=cancelled,
                deadline=deadline,
            )
            return facts.alerts(client.get(_ALERTS, _QUERY).json())
        except StatusError as error:
            raise OcError(str(error)) from None
        except HttpError as error:
            last = str(error)
    raise OcError(last)


def _set(options: Options, server: str) -> str:
    """The URL that the person has set, "" where it is that of another cluster's Alertmanager."""
    if options.api_url and not is_at(server, options.api_url):
        return ""
    return options.alertmanager_url


def _route(oc: Oc) -> str:
    try:
        route = oc.raw(_ROUTE)
    except Failed as error:
        if not error.is_not_found:
            raise
        raise OcError("there is no Route to the Alertmanager") from None
    host = facts.text(route, "spec", "host")
    if not _HOST.fullmatch(host):
        raise OcError("the Route to the Alertmanager has no host")
    return f"https://{host}"


def _trusted(oc: Oc, base: str, options: Options, workspace: Workspace) -> Iterator[str]:
    """Files of certificates to try, one after the other; "" for what the system trusts."""
    if options.ca_file:
        yield options.ca_file
        return
    if base.startswith("https:"):
        try:
            bundle = facts.text(oc.raw(_INGRESS), "data", "ca-bundle.crt")
        except OcError:
            bundle = ""  # not everybody may read it
        if bundle:
            yield workspace.certificates(bundle)
    yield ""
