"""What the answers of a cluster say, without asking it. All of them may be of any shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_WORKER = "node-role.kubernetes.io/worker"
_MOST = 1e15  # of an amount of money that is taken for one
_SEVERITIES = ("critical", "warning")


class Nodes(NamedTuple):
    """Counts. A node with both roles counts for both. more: whether there are others."""

    total: int
    control_plane: int
    worker: int
    not_ready: int
    more: bool


class Operators(NamedTuple):
    """Names, each once. more: whether there are others."""

    names: list[str]
    more: bool


class Alerts(NamedTuple):
    """critical, warning: how often an alert of that name and namespace fires, "" for none."""

    critical: dict[tuple[str, str], int]
    warning: dict[tuple[str, str], int]
    info: int


class Cost(NamedTuple):
    """Of this month until now. top: the node that the most of it is for, "" for none."""

    total: float
    currency: str
    top: str
    top_total: float


class Release(NamedTuple):
    """A cluster's version, in words, and its id, "" for none."""

    version: str
    cluster_id: str


def member(value: Any, *keys: str) -> Any:
    """The value below these keys, None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: Any, *keys: str) -> str:
    """The text below these keys, "" where there is none."""
    found = member(value, *keys)
    return found if isinstance(found, str) else ""


def items(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list as the API answers it."""
    found = member(value, "items")
    for item in found if isinstance(found, list) else ():
        if isinstance(item, dict):
            yield item


def nodes(value: Any) -> Nodes:
    total = control_plane = worker = not_ready = 0
    for node in items(value):
        given = member(node, "metadata", "labels")
        labels = given if isinstance(given, dict) else {}
        total += 1
        control_plane += any(label in labels for label in _CONTROL_PLANE)
        worker += _WORKER in labels
        not_ready += not _is_ready(node)
    return Nodes(total, control_plane, worker, not_ready, _goes_on(value))


def _goes_on(value: Any) -> bool:
    """Whether a list of the API has more than it was asked for."""
    return bool(text(value, "metadata", "continue"))


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = member(node, "status", "conditions")
    return isinstance(conditions, list) and any(
        text(entry, "type") == "Ready" and text(entry, "status") == "True" for entry in conditions
    )


def release(value: Any) -> Release:
    """Of a ClusterVersion. While an update goes on, the version is the one it came from."""
    history = member(value, "status", "history")
    done = [
        text(entry, "version")
        for entry in (history if isinstance(history, list) else ())
        if text(entry, "state") == "Completed"
    ]
    desired = text(value, "status", "desired", "version")
    current = next(filter(None, done), desired)
    words = f"OpenShift {current or 'unknown'}"
    if desired and desired != current:
        words += f", updating to {desired}"
    return Release(words, text(value, "spec", "clusterID"))


def operators(value: Any) -> Operators:
    """Names of ClusterServiceVersions, in the order of the answer."""
    names = []
    for item in items(value):
        plain = text(item, "metadata", "name").partition(".v")[0]
        names.append(text(item, "spec", "displayName") or plain)
    return Operators(list(dict.fromkeys(filter(None, names))), _goes_on(value))


def alerts(value: Any) -> Alerts:
    """Of what an Alertmanager answers: those with a severity that somebody has to look at."""
    found: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in _SEVERITIES}
    info = 0
    for alert in value if isinstance(value, list) else ():
        severity = text(alert, "labels", "severity").lower()
        if severity in found:
            name = text(alert, "labels", "alertname") or "Unknown"
            found[severity][name, text(alert, "labels", "namespace")] += 1
        info += severity == "info"
    return Alerts(dict(found["critical"]), dict(found["warning"]), info)


def read_cost(answer: Any, namespace: str) -> Cost | None:
    """Add up what a report says of a namespace; the filter also lets in names that contain it."""
    by_node: Counter[str] = Counter()
    currency = ""
    for value in _values(answer, namespace):
        amount = member(value, "cost", "total", "value")
        if type(amount) in (int, float) and -_MOST < amount < _MOST:
            by_node[text(value, "node")] += amount
            currency = text(value, "cost", "total", "units") or currency
    if not by_node:
        return None
    top = max((node for node in by_node if node), key=lambda node: by_node[node], default="")
    return Cost(sum(by_node.values()), currency, top, by_node[top] if top else 0.0)


def _values(answer: Any, namespace: str) -> Iterator[Any]:
    """The values of a namespace, be they of its nodes or of all of it."""
    for month in _list(member(answer, "data")):
        for project in _list(member(month, "projects")):
            if text(project, "project") == namespace:
                yield from _list(member(project, "values"))
                for node in _list(member(project, "nodes")):
                    for value in _list(member(node, "values")):
                        yield {**value, "node": text(node, "node")}


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
