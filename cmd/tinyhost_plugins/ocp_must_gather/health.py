"""Everything that is wrong, on one page."""

from __future__ import annotations

from collections.abc import Iterator

from .._shared.texts import counted, line
from . import certs, machine_config, nodes, operators, prometheus, version
from .report import Ask, Report, is_partial, nothing

_HINT = "For etcd and for routers, the plugins etcd-diag and ingress-inspect tell more."


def answer(ask: Ask) -> str:
    """mg_health."""
    found_version = version.read_version(ask)
    found_nodes = nodes.read_nodes(ask)
    found_operators = operators.read_operators(ask)
    pools = machine_config.read_pools(ask)
    alerts = prometheus.read_alerts(ask)
    # The certificates come last: they may take all the time that is left.
    found_certs = certs.read_certificates(ask)
    issues = [
        *(version.troubles(found_version) if found_version else ()),
        *_node_issues(found_nodes),
        *_operator_issues(found_operators, ask.reason),
        *_pool_issues(pools),
        *_alert_issues(alerts),
        *_certificate_issues(found_certs),
    ]
    lines = [
        version.headline(found_version) if found_version else nothing(ask, version.KIND),
        nodes.headline(found_nodes) if found_nodes else nothing(ask, "nodes"),
        operators.headline(found_operators)
        if found_operators
        else nothing(ask, "cluster operators"),
        machine_config.headline(pools) if pools else nothing(ask, "machine config pools"),
        prometheus.headline(ask, alerts),
        certs.headline(found_certs, certs.DAYS),
    ]
    if issues or found_version or found_nodes or found_operators:
        first = counted(len(issues), "issue") if issues else "No critical issues"
        first += " in what could be read" if is_partial(ask) else ""
    else:
        first = "Too little is in this must-gather to tell"
    report = Report(ask, f"{first}; {lines[0]}")
    for text in lines[1:]:
        report.add(text[:1].upper() + text[1:])
    if issues:
        report.section("Issues")
        report.list([f"{number}. {text}" for number, text in enumerate(issues, 1)])
    report.section(_HINT)
    return report.text()


def _node_issues(found: list[nodes.Node]) -> Iterator[str]:
    for node in found:
        if node.ready != "Ready":
            yield f"node {node.name}: {node.ready}: {node.why}"
        for kind, why in node.issues:
            yield f"node {node.name}: {kind}: {why}"


def _operator_issues(found: list[operators.Operator], most: int) -> Iterator[str]:
    for operator in found:
        if operator.is_degraded or operator.is_unavailable:
            reasons = operator.reasons(most) or [
                f"{operator.name}: it does not say that it is available"
            ]
            yield f"operator {reasons[0]}"


def _pool_issues(found: list[machine_config.Pool]) -> Iterator[str]:
    for pool in found:
        if pool.is_degraded:
            reasons = [state for state in pool.states if state.startswith("Degraded")]
            yield f"machine config pool {pool.name}: {(reasons or ['Degraded'])[0]}"


def _alert_issues(found: list[prometheus.Alert]) -> Iterator[str]:
    for alert in found:
        if alert.state == "firing" and alert.severity == "critical":
            where = f" in {alert.namespace}" if alert.namespace != "-" else ""
            yield f"alert {alert.name}{where}: {line(alert.text)}"


def _certificate_issues(found: certs.Found) -> Iterator[str]:
    expired = [place for place in found.places if found.status(place, 0) == certs.EXPIRED]
    for place in expired:
        if place.is_in_secret:
            yield (
                f"certificate {place.certificate.subject} expired on"
                f" {place.certificate.ends:%Y-%m-%d}: {place.sources[0]}"
            )
    # Bundles keep authorities that nothing needs any more, so that they are one issue at most.
    trusted = sum(not place.is_in_secret for place in expired)
    if trusted:
        yield (
            f"{counted(trusted, 'certificate')} in CA bundles alone expired, which may be left over:"
            " mg_certs with expired_only lists them"
        )
