"""Logs a session in to the configured server, with a kubeconfig of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from .._shared.http import HttpError, check_base
from .gather import Errand, user
from .kubeconfig import write_private
from .oc import OcError
from .options import Options
from .servers import is_same

_LONGEST_TOKEN = 16 * 1024


class Login(NamedTuple):
    """kubeconfig: a file that the session's shells use."""

    kubeconfig: Path
    server: str
    user: str


def log_in(errand: Errand, server: str, token: str) -> Login:
    """Make a kubeconfig that the server has accepted; "" stands for what is configured.

    Raises OcError, whose text does not hold the token.
    """
    target = _server(server, errand.options)
    secret = _token(token, errand.options)
    path = errand.workspace.fresh()
    write_private(path, json.dumps(_kubeconfig(target, secret, errand.options)))
    try:
        name = user(errand.oc("").at(str(path), secrets=(secret,)))
    except BaseException as error:
        errand.workspace.remove(path)
        if isinstance(error, OcError):
            raise OcError(f"oc_login failed: {error}") from None
        raise
    return Login(path, target, name)


def _server(given: str, options: Options) -> str:
    if not options.api_url:
        raise OcError(
            "oc_login has no server: the person sets it with the option apiUrl of"
            " ocp-context-injection, and a token is sent to no other one"
        )
    try:
        target = check_base(options.api_url)
    except HttpError as error:
        raise OcError(f"option apiUrl: {error}") from None
    shown = str(target).rstrip("/")
    if not given:
        return shown
    try:
        asked = check_base(given)
    except HttpError as error:
        raise OcError(f"server: {error}") from None
    if not is_same(asked, target):
        raise OcError(f"oc_login logs in to {shown} only, which the option apiUrl names")
    return shown


def _token(given: str, options: Options) -> str:
    token = given or options.api_token
    if not token:
        raise OcError(
            "oc_login has no token: give one, or the person sets the option apiToken; the offline"
            " token of the console is none of this cluster and is not used for it"
        )
    if options.offline_token and token == options.offline_token:
        raise OcError("the offline token of the console is not a token of this cluster")
    plain = token.isascii() and token.isprintable() and not set(token) & set(" \"'\\")
    if not plain or token.startswith("-") or len(token) > _LONGEST_TOKEN:
        raise OcError("the token is not one word of letters, digits and signs")
    return token


def _kubeconfig(server: str, token: str, options: Options) -> dict[str, object]:
    cluster: dict[str, object] = {"server": server}
    if options.insecure:
        cluster["insecure-skip-tls-verify"] = True
    elif options.ca_file:
        cluster["certificate-authority"] = options.ca_file
    # Named as `oc login` names it.
    name = server.partition("://")[2].replace(".", "-")
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": f"tinyhost/{name}", "user": {"token": token}}],
        "contexts": [
            {
                "name": f"default/{name}/tinyhost",
                "context": {"cluster": name, "user": f"tinyhost/{name}", "namespace": "default"},
            }
        ],
        "current-context": f"default/{name}/tinyhost",
    }
