"""The network: policies, EgressIPs, the pods of OVN-Kubernetes and the troubles in their logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .._shared.must_gather import Resource
from .._shared.texts import counted, line
from .logs import pod_logs, read_lines
from .pods import Pod, read_pods
from .report import Ask, Report

NAMESPACE = "openshift-ovn-kubernetes"
_WORDS = ("error", "failed", "timeout")
_ANY = re.compile("error|failed|timeout", re.IGNORECASE)
_MOST_NAMES = 10


def answer(ask: Ask) -> str:
    """mg_ovn."""
    policies = _by_namespace(ask, "networking.k8s.io", "networkpolicies")
    egress = sorted(ask.mg.cluster("k8s.ovn.org", "egressips"), key=lambda found: found.name)
    has_namespace = NAMESPACE in ask.mg.namespaces
    pods = read_pods(ask, NAMESPACE) if has_namespace else []
    total = sum(policies.values())
    report = Report(
        ask,
        f"{counted(total, 'network policy', 'network policies')},"
        f" {counted(len(egress), 'EgressIP')}, {counted(len(pods), 'OVN pod')}"
        f" ({sum(pod.is_troubled for pod in pods) or 'none'} in trouble)",
    )
    if policies:
        report.section("Network policies by namespace")
        report.table(("NAMESPACE", "POLICIES"), _most_first(policies))
    _other_policies(ask, report)
    if egress:
        report.section("EgressIPs")
        report.table(("NAME", "ADDRESSES", "ASSIGNED TO"), map(_egress, egress))
    _pods(report, pods, has_namespace)
    _logs(ask, report)
    return report.text()


def _by_namespace(ask: Ask, group: str, plural: str) -> Counter[str]:
    found = ask.mg.everywhere(group, plural)
    return Counter(f.namespace for f in ask.pace.each(found, f"reading {plural}"))


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _other_policies(ask: Ask, report: Report) -> None:
    """Policies of the whole cluster, and what keeps traffic from leaving it."""
    for plural in ("adminnetworkpolicies", "baselineadminnetworkpolicies"):
        names = sorted(found.name for found in ask.mg.cluster("policy.networking.k8s.io", plural))
        if names:
            report.add(f"{plural}: {len(names)}: {line(', '.join(names[:_MOST_NAMES]), 500)}")
    firewalls = _by_namespace(ask, "k8s.ovn.org", "egressfirewalls")
    if firewalls:
        report.add(f"egressfirewalls: {line(', '.join(sorted(firewalls)), 500)}")


def _egress(found: Resource) -> tuple[object, ...]:
    addresses = [str(item) for item in found.items("spec", "egressIPs") or []]
    assigned = [
        f"{item.text('egressIP') or '?'} on {item.text('node') or '?'}"
        for item in found.objects("status", "items")
    ]
    return found.name, ", ".join(addresses) or "-", ", ".join(assigned) or "no node"


def _pods(report: Report, pods: list[Pod], has_namespace: bool) -> None:
    if not pods:
        why = "has no pods" if has_namespace else "is not in this must-gather"
        report.add(f"The namespace {NAMESPACE} {why}.")
        return
    report.section("Pods of OVN-Kubernetes")
    report.table(
        ("NAME", "PHASE", "STATE", "READY", "RESTARTS", "NODE"),
        ((p.name, p.phase, p.state or "-", p.ready, p.restarts, p.node) for p in pods),
    )


def _logs(ask: Ask, report: Report) -> None:
    rows = list(_log_rows(ask))
    if not rows:
        report.section("There are no logs of OVN pods.")
        return
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    report.section(f"Lines with {', '.join(_WORDS)} in {counted(len(rows), 'log file')}")
    report.table(("POD", "LOG", "ANY", *map(str.upper, _WORDS), "LINES"), rows)


def _log_rows(ask: Ask) -> Iterator[tuple[str, str, int, int, int, int, int]]:
    for log in pod_logs(ask.mg, NAMESPACE):
        total, matching = 0, Counter[str]()
        what = f"reading logs of {log.pod}"
        for text in ask.pace.each(read_lines(ask.mg, log.path), what):
            total += 1
            if _ANY.search(text):
                matching["any"] += 1
                lower = text.lower()
                matching.update(word for word in _WORDS if word in lower)
        errors, failed, timeout = (matching[word] for word in _WORDS)
        name = f"{log.container}/{log.name}"
        yield log.pod, name, matching["any"], errors, failed, timeout, total
        if ask.pace.is_over(what):
            return
