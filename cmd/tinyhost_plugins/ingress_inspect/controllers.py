"""IngressController objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .._shared.conditions import Condition, listed
from .._shared.must_gather import MustGather, Values
from .._shared.report import Report, View
from .._shared.texts import counted, line

OPERATOR = "openshift-ingress-operator"
_GROUP, _PLURAL = "operator.openshift.io", "ingresscontrollers"
# Conditions whose other value is a fault of the controller.
_BAD_WHEN_TRUE = ("Degraded",)
_BAD_WHEN_FALSE = (
    *("Available", "Admitted", "PodsScheduled", "DeploymentAvailable"),
    *("DeploymentReplicasMinAvailable", "DeploymentReplicasAllAvailable"),
    *("LoadBalancerReady", "DNSReady", "CanaryChecksSucceeding", "Upgradeable"),
)
# Its status is Unknown when the person wants to make the DNS records, which is no fault.
_NOT_MANAGED = ("DNSReady", "UnmanagedDNS")


@dataclass(frozen=True, slots=True)
class Controller:
    """replicas, available: None when the object does not say. certificate: the name of the Secret
    of the default certificate, "" for the one that the operator makes.
    """

    name: str
    domain: str
    replicas: int | None
    available: int | None
    publishing: str
    certificate: str
    selectors: str
    conditions: tuple[Condition, ...]
    source: str

    @property
    def secret(self) -> str:
        """The Secret in openshift-ingress that holds the default certificate."""
        return self.certificate or f"router-certs-{self.name}"

    @property
    def bad(self) -> list[Condition]:
        return [condition for condition in self.conditions if is_bad(condition)]


def is_bad(condition: Condition) -> bool:
    """Whether a condition says that something is wrong with the controller."""
    if (condition.kind, condition.reason) == _NOT_MANAGED:
        return False
    if condition.kind in _BAD_WHEN_TRUE:
        return condition.status != "False"
    return condition.kind in _BAD_WHEN_FALSE and condition.status != "True"


def said(condition: Condition) -> str:
    """ "Available=False (Reason: message)"."""
    why = condition.why(600)
    return line(f"{condition.kind}={condition.status or '?'}" + (f" ({why})" if why else ""), 600)


def read_controllers(mg: MustGather) -> list[Controller]:
    """The controllers by name, from the operator's namespace, else from where old tools put them."""
    found = list(mg.namespaced(OPERATOR, _GROUP, _PLURAL)) or list(mg.cluster(_GROUP, _PLURAL))
    return sorted(
        (_controller(raw, raw.name, raw.source) for raw in found), key=lambda found: found.name
    )


def _controller(raw: Values, name: str, source: str) -> Controller:
    return Controller(
        name=name,
        domain=raw.text("status", "domain") or raw.text("spec", "domain") or "",
        replicas=raw.integer("spec", "replicas"),
        available=raw.integer("status", "availableReplicas"),
        publishing=_publishing(raw),
        certificate=raw.text("spec", "defaultCertificate", "name") or "",
        selectors=", ".join(_selectors(raw)),
        conditions=tuple(listed(raw)),
        source=source,
    )


def _publishing(raw: Values) -> str:
    """The strategy in effect is in the status; the spec may be empty."""
    for part in ("status", "spec"):
        strategy = raw.values(part, "endpointPublishingStrategy")
        kind = strategy.text("type")
        if kind:
            scope = strategy.text("loadBalancer", "scope")
            return f"{kind} ({scope})" if scope else kind
    return ""


def _selectors(raw: Values) -> Iterator[str]:
    for key, word in (("namespaceSelector", "namespaces"), ("routeSelector", "routes")):
        selector = raw.values("spec", key)
        labels = selector.mapping("matchLabels") or {}
        parts = [f"{label}={value}" for label, value in sorted(labels.items())]
        for rule in selector.objects("matchExpressions"):
            values = ",".join(map(str, rule.items("values") or []))
            parts.append(f"{rule.text('key')} {rule.text('operator')} {values}".strip())
        if parts:
            yield f"{word} with {' and '.join(parts)}"


def replicas(controller: Controller) -> str:
    """ "1 of 2 available"."""
    wanted, there = controller.replicas, controller.available
    if there is None:
        return f"{wanted} wanted" if wanted is not None else "not known"
    return f"{there} of {wanted} available" if wanted is not None else f"{there} available"


def answer(mg: MustGather, view: View) -> Report:
    """ingress_controllers."""
    found = read_controllers(mg)
    if not found:
        return Report(view, nothing(mg))
    bad = sum(1 for controller in found if controller.bad)
    report = Report(
        view, f"{counted(len(found), 'ingress controller')}, {bad or 'none'} with a bad condition"
    )
    for controller in found[: view.rows]:
        _show(report, controller)
    if len(found) > view.rows:
        report.section(f"{len(found) - view.rows} more; call again with a larger limit")
    return report


def nothing(mg: MustGather) -> str:
    """That there are no controllers, and whether they have been gathered at all."""
    where = f"namespaces/{OPERATOR}/{_GROUP}/{_PLURAL}"
    if any(path.startswith(where) for path in mg.faults):
        return "No ingress controllers: what there is of them could not be read."
    if OPERATOR not in mg.namespaces:
        return f"No ingress controllers: the namespace {OPERATOR} has not been gathered."
    return f"No ingress controllers: there is nothing in {where}."


def _show(report: Report, controller: Controller) -> None:
    report.section(f"{controller.name or '(no name)'}  domain={controller.domain or '-'}")
    report.add(f"  Replicas: {replicas(controller)}")
    report.add(f"  Publishing: {controller.publishing or 'not known'}")
    report.add(f"  Default certificate: {controller.certificate or '(made by the operator)'}")
    if controller.selectors:
        report.add(f"  Admits: {line(controller.selectors, 600)}")
    good = [f"{c.kind}={c.status}" for c in controller.conditions if not is_bad(c)]
    for condition in controller.bad:
        since = f" since {line(condition.since, 40)}" if condition.since else ""
        report.add(f"  BAD {said(condition)}{since}")
    others = ", ".join(sorted(good)) or ("none" if not controller.conditions else "no others")
    report.add(f"  Conditions: {line(others, 1000)}")
