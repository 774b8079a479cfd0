"""A private copy of what the person's kubeconfig says of its current context.

The program that the copy is for reads the original, so it is understood as the person knows it,
and nothing is ever written to it: a login that is renewed is renewed in the copy.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .._shared.http_answers import one_line
from .oc import Failed, Oc, OcError

_VIEW = ("config", "view", "--raw")
_NO_CONTEXT = "current-context must exist"
_LOGIN = re.compile(r"(?:[^/@]*://)?[^/@:]*:([^/@]*)@")
_SECRET_KEYS = ("token", "password", "client-key-data")

Value = dict[str, Any]


class NoContext(OcError):
    """The kubeconfig names no cluster to talk to."""


class Access(NamedTuple):
    """What a kubeconfig says of its current context.

    namespace: "" where it names none. token: "" for a login by other means. helped: whether a
    program of the person's logs in. insecure: whether the server's certificate goes unchecked.
    secrets: values that nobody may see.
    """

    context: str
    cluster: str
    server: str
    user: str
    namespace: str
    token: str
    helped: bool
    insecure: bool
    secrets: tuple[str, ...]


def own_kubeconfig(environ: Mapping[str, str]) -> str:
    """Where the person's kubeconfig is: KUBECONFIG, else its place in the home."""
    return environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())


def copy_kubeconfig(oc: Oc, target: Path) -> Access:
    """Write what the current context of oc's kubeconfig needs to a new file, for oneself alone.

    The file may lie anywhere. Raises NoContext, OcError.
    """
    try:
        value = oc.json(*_VIEW, "--flatten", "--minify", flags={"output": "json"})
    except Failed as error:
        if _NO_CONTEXT in error.said:
            raise NoContext(_no_context(oc.kubeconfig)) from None
        raise
    name = value.get("current-context") if isinstance(value, dict) else None
    if not name:
        raise NoContext(_no_context(oc.kubeconfig))
    try:
        access = _access(oc, value, name)
    except (KeyError, TypeError, AttributeError, StopIteration):
        shown = one_line(str(name))[:80]
        raise OcError(f"the kubeconfig has no cluster or user for its context {shown}") from None
    write_private(target, json.dumps(value))
    return access


def _no_context(source: str) -> str:
    """What is missing, and what to do about it."""
    files = [file for file in source.split(os.pathsep) if file]
    if any(map(os.path.exists, files)):
        said = f"the kubeconfig {source} has no current context; log in first"
    else:
        said = f"there is no kubeconfig at {source}; log in first"
    if "KUBECONFIG" not in os.environ:
        said += " (a variable KUBECONFIG is seen here only when passEnv in the settings names it)"
    return said


def write_private(target: Path, text: str) -> None:
    """Write a file that was not there, mode 0600. Raises OcError."""
    try:
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise OcError(f"{target} cannot be written: {error.strerror}") from None


def _access(oc: Oc, value: Value, name: str) -> Access:
    context = _named(value, "contexts", "context", name)
    cluster = _named(value, "clusters", "cluster", context["cluster"])
    user: Value = {}
    if context.get("user"):
        user = _named(value, "users", "user", context["user"])
        _anchor(oc, context["user"], user)
    provider = (user.get("auth-provider") or {}).get("config") or {}
    # Used up in the copy it would be lost, and the person logged out.
    provider.pop("refresh-token", None)
    token = user.get("token") or _content(user.get("tokenFile"))
    secrets = [token, *(user.get(key) for key in _SECRET_KEYS), *provider.values()]
    secrets += [_password(cluster.get(key)) for key in ("server", "proxy-url")]
    return Access(
        name,
        context["cluster"],
        cluster["server"],
        context.get("user") or "",
        context.get("namespace") or "",
        token,
        "exec" in user,
        bool(cluster.get("insecure-skip-tls-verify")),
        tuple(dict.fromkeys(text for text in secrets if isinstance(text, str) and text)),
    )


def _anchor(oc: Oc, name: str, user: Value) -> None:
    """Make paths absolute that the program leaves as they are in the person's file."""
    helper = user.get("exec") or {}
    command = helper.get("command") or ""
    paths = [(user, "tokenFile", user.get("tokenFile") or "")]
    # One without a slash is looked for on PATH.
    paths += [(helper, "command", command)] if "/" in command else []
    relative = [entry for entry in paths if entry[2] and not Path(entry[2]).is_absolute()]
    if relative:
        folder = _origin(oc, name).absolute().parent
        for holder, key, path in relative:
            holder[key] = str(folder / path)


def _origin(oc: Oc, user: str) -> Path:
    """The file that a user comes from: the first that has it."""
    files = [file for file in oc.kubeconfig.split(os.pathsep) if file]
    for file in files[:-1]:
        users = oc.at(file).json(*_VIEW, flags={"output": "json"}).get("users") or []
        if any(entry["name"] == user for entry in users):
            return Path(file)
    return Path(files[-1])


def _named(value: Value, group: str, member: str, name: str) -> Value:
    found: Value = next(entry for entry in value[group] if entry["name"] == name)[member]
    return found


def _password(url: object) -> str:
    """The one in a URL, "" for none."""
    found = _LOGIN.match(url) if isinstance(url, str) else None
    return found[1] if found else ""


def _content(path: object) -> str:
    try:
        return Path(path).read_text("ascii").strip() if isinstance(path, str) and path else ""
    except (OSError, ValueError):
        return ""
