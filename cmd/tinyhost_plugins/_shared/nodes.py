"""What Node objects say: readiness, roles, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from .conditions import condition, conditions
from .must_gather_values import Values
from .texts import line

_ROLE = "node-role.kubernetes.io/"
_STATE = "machineconfiguration.openshift.io/state"
_REASON = "machineconfiguration.openshift.io/reason"


def readiness(node: Values) -> str:
    """ "Ready", "NotReady" or "Unknown"."""
    status = condition(conditions(node), "Ready").status
    return {"True": "Ready", "False": "NotReady"}.get(status, "Unknown")


def roles(node: Values) -> tuple[str, ...]:
    """The node's roles, sorted."""
    labels = node.mapping("metadata", "labels") or {}
    return tuple(sorted(key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)))


def troubles(node: Values) -> Iterator[tuple[str, str]]:
    """Pressure and the like, each with its reason."""
    for kind, found in conditions(node).items():
        if kind != "Ready" and found.status not in ("False", ""):
            yield kind if found.status == "True" else f"{kind}={found.status}", found.why()
    if node.flag("spec", "unschedulable"):
        yield "SchedulingDisabled", "the node is cordoned"
    state = node.scalar("metadata", "annotations", _STATE)
    if state not in (None, "", "Done"):
        yield f"config {state}", line(node.scalar("metadata", "annotations", _REASON) or "")
