"""Which object an etcd key belongs to: keys of Kubernetes and OpenShift API servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Resources that are kept under a path of two parts. Custom resources have their group first.
_PAIRS = frozenset(
    (
        *("services/specs", "services/endpoints"),
        *("oauth/accesstokens", "oauth/authorizetokens", "oauth/clientauthorizations"),
        "oauth/clients",
    )
)
# What people say for resources that etcd knows by another name, and the usual short names.
_ALIASES = {
    "bc": "buildconfigs",
    "cj": "cronjobs",
    "cm": "configmaps",
    "co": "config.openshift.io/clusteroperators",
    "crd": "apiextensions.k8s.io/customresourcedefinitions",
    "csr": "certificatesigningrequests",
    "dc": "deploymentconfigs",
    "deploy": "deployments",
    "ds": "daemonsets",
    "endpoints": "services/endpoints",
    "ep": "services/endpoints",
    "ev": "events",
    "hpa": "horizontalpodautoscalers",
    "identities": "useridentities",
    "ing": "ingress",
    "ingresses": "ingress",
    "is": "imagestreams",
    "limits": "limitranges",
    "mc": "machineconfiguration.openshift.io/machineconfigs",
    "mcp": "machineconfiguration.openshift.io/machineconfigpools",
    "netpol": "networkpolicies",
    "no": "minions",
    "node": "minions",
    "nodes": "minions",
    "ns": "namespaces",
    "oauthaccesstokens": "oauth/accesstokens",
    "oauthauthorizetokens": "oauth/authorizetokens",
    "oauthclientauthorizations": "oauth/clientauthorizations",
    "oauthclients": "oauth/clients",
    "pc": "priorityclasses",
    "pdb": "poddisruptionbudgets",
    "po": "pods",
    "pv": "persistentvolumes",
    "pvc": "persistentvolumeclaims",
    "quota": "resourcequotas",
    "rc": "controllers",
    "replicationcontroller": "controllers",
    "replicationcontrollers": "controllers",
    "rs": "replicasets",
    "sa": "serviceaccounts",
    "sc": "storageclasses",
    "scc": "security.openshift.io/securitycontextconstraints",
    "service": "services/specs",
    "services": "services/specs",
    "sts": "statefulsets",
    "svc": "services/specs",
}
_TOKENS = ("oauth/accesstokens", "oauth/authorizetokens")
_SECRETS = ("secrets", "oauth/clients", *_TOKENS)
_TOKEN_RESOURCES = ("oauthaccesstokens", "oauthauthorizetokens")
# What comes before the name of a token in a key: ".../oauth/accesstokens/", ".../oauthaccesstokens/".
_TOKEN_FOLDERS = ("accesstokens/", "authorizetokens/")
_TOKEN_SHOWN = 10


class Place(NamedTuple):
    """A key taken apart. prefix: "" when the key is of no Kubernetes object.

    kind: the path of the resource, as in the key: "pods", "services/specs", "GROUP/RESOURCE".
    """

    prefix: str
    kind: str
    namespace: str
    name: str


def place(key: str, prefixes: Sequence[str]) -> Place:
    """Take a key apart. Keys that are not below a prefix have their first word as the kind."""
    for prefix in prefixes:
        if key.startswith(prefix):
            return Place(prefix, *_parts(key[len(prefix) :]))
    return Place("", key.strip("/").split("/", 1)[0][:100], "", key)


def _parts(rest: str) -> tuple[str, str, str]:
    head, _, tail = rest.partition("/")
    resource, _, below = tail.partition("/")
    if below and ("." in head or f"{head}/{resource}" in _PAIRS):
        head, tail = f"{head}/{resource}", below
    namespace, slash, name = tail.partition("/")
    return (head, namespace, name) if slash else (head, "", tail)


def title(kind: str) -> str:
    """The kind as `oc` and `kubectl` write it: "certificates.cert-manager.io"."""
    group, _, resource = kind.partition("/")
    return f"{resource}.{group}" if "." in group and resource else kind


def is_secret(kind: str) -> bool:
    """Whether the objects of a kind hold secrets before all."""
    return kind in _SECRETS or kind.rpartition("/")[2] in ("secrets", *_TOKEN_RESOURCES)


def shown(key: str) -> str:
    """The key as it may be shown: the names of OAuth tokens were once the tokens themselves.

    Wherever in the key they are, for a prefix may be one that nobody has told of.
    """
    for folder in _TOKEN_FOLDERS:
        above, found, name = key.partition(folder)
        if found:
            return f"{above}{folder}{name[:_TOKEN_SHOWN]}…"
    return key


def candidates(asked: str, known: Iterable[str]) -> list[str]:
    """The kinds that somebody may mean by a word such as "Pod", "svc" or "deployments.apps".

    Exact matches come first; without any match, the likeliest names come back.
    """
    word = asked.strip().strip("/").lower()
    forms = _forms(word)
    known = sorted(known)
    found = [kind for form in forms for kind in known if form in (kind, title(kind))]
    found += [kind for form in forms for kind in known if form == kind.rpartition("/")[2]]
    if not found and "." in word:
        return candidates(word.partition(".")[0], known)
    return list(dict.fromkeys(found)) or forms


def _forms(word: str) -> list[str]:
    """The word, what it is short for, and its plural."""
    head, dot, group = word.partition(".")
    plurals = [head] if head.endswith("s") else [head, head + "s"]
    plurals.append(head + "es")
    if head.endswith("y"):
        plurals.append(head[:-1] + "ies")
    words = [form for plural in plurals for form in (_ALIASES.get(plural), plural) if form]
    return words if not dot else [word, *(form + dot + group for form in plurals[1:])]
