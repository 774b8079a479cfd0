"""ingress_health: everything that is wrong, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from .._shared.must_gather import MustGather
from .._shared.report import Report, View
from .._shared.texts import counted, line
from .certificates import Certificate, read_certificates
from .configs import RouterConfig, read_configs
from .controllers import Controller, nothing, read_controllers, replicas, said
from .logs import read_logs
from .matching import Findings, check
from .options import Options
from .pace import Pace
from .route_check import no_config
from .routes import Route, read_routes
from .settings import default_troubles

CRITICAL, WARNING = "critical", "warning"
_ORDER = (CRITICAL, WARNING)
_FEW = 3
Issues = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Ingress:
    """Everything that the issues are made of. now: when it was gathered, or else the present."""

    controllers: list[Controller]
    configs: list[RouterConfig]
    routes: list[Route]
    findings: Findings
    certificates: list[Certificate]
    now: datetime
    is_gathering_time: bool


def read_ingress(mg: MustGather, options: Options, pace: Pace) -> Ingress:
    """Read all but the logs."""
    controllers = read_controllers(mg)
    configs = read_configs(mg, options, pace)
    routes = read_routes(mg)
    pace.is_over("comparing routes and backends")
    when = mg.gathered()
    return Ingress(
        controllers=controllers,
        configs=configs,
        routes=routes.found,
        findings=check(configs, routes.found, routes.whole),
        certificates=list(read_certificates(mg, controllers, routes.found)),
        now=when or datetime.now(UTC),
        is_gathering_time=when is not None,
    )


def answer(mg: MustGather, view: View, options: Options, pace: Pace) -> Report:
    """ingress_health."""
    ingress = read_ingress(mg, options, pace)
    issues = list(_issues(mg, ingress, options, pace))
    issues.sort(key=lambda issue: _ORDER.index(issue[0]))
    by = Counter(severity for severity, _text in issues)
    first = f"{counted(len(issues), 'issue')}: {by[CRITICAL]} critical, {by[WARNING]} warning"
    read = " in what could be read" if mg.faults else ""
    report = Report(view, first if issues else f"No issues found with the routers{read}.")
    report.add(
        f"{counted(len(ingress.controllers), 'controller')},"
        f" {counted(len(ingress.configs), 'configuration')},"
        f" {counted(ingress.findings.backends, 'backend')} for routes,"
        f" {counted(len(ingress.routes), 'route')},"
        f" {counted(len(ingress.certificates), 'certificate')}"
    )
    if issues:
        report.section("Issues")
        report.list(
            [f"{n}. [{kind.upper()}] {line(said, 700)}" for n, (kind, said) in enumerate(issues, 1)]
        )
    _show_certificates(report, ingress)
    return report


def _issues(mg: MustGather, ingress: Ingress, options: Options, pace: Pace) -> Issues:
    if not ingress.controllers:
        yield WARNING, nothing(mg)
    for controller in ingress.controllers:
        yield from _controller(controller)
    if not ingress.configs:
        yield WARNING, no_config(mg)
    else:
        for said in ingress.findings.unseen:
            yield WARNING, f"Not compared: {said}"
    yield from _timeouts(ingress.configs, options)
    yield from _findings(ingress)
    for certificate in ingress.certificates:
        yield from _certificate(certificate, ingress.now, options)
    yield from _domains(ingress)
    for log in read_logs(mg, options, pace):
        if log.errors > options.log_errors:
            tail = f" in its last {options.max_log_bytes} bytes" if log.is_tail else ""
            yield (
                WARNING,
                f"{log.path}: {counted(log.errors, 'error line')}{tail}, the last: {log.last}",
            )


def _controller(controller: Controller) -> Issues:
    name = f"controller {line(controller.name, 100)}"
    bad = controller.bad
    worst = [condition for condition in bad if condition.kind in ("Available", "Degraded")]
    # What makes a controller degraded is in its message, and need not be said again.
    for condition in worst or bad:
        yield CRITICAL if condition in worst else WARNING, f"{name}: {said(condition)}"
    wanted, there = controller.replicas, controller.available
    if there == 0 and wanted != 0:
        yield CRITICAL, f"{name}: no router pod is available"
    elif wanted is not None and there is not None and there < wanted:
        yield WARNING, f"{name}: {replicas(controller)}"


def _timeouts(configs: list[RouterConfig], options: Options) -> Issues:
    seen: set[tuple[str, str]] = set()
    for config in configs:
        for defaults in config.config.defaults:
            for text in default_troubles(defaults, options):
                if (config.controller, text) not in seen:
                    seen.add((config.controller, text))
                    yield WARNING, f"controller {config.where}: the default {text} is long"


def _findings(ingress: Ingress) -> Issues:
    for word, title, lines in ingress.findings.lists:
        if lines:
            more = f"; {len(lines) - _FEW} more" if len(lines) > _FEW else ""
            shown = "; ".join(line(entry, 200) for entry in lines[:_FEW])
            said = f"{title} ({len(lines)}, see ingress_route_check): {shown}{more}"
            yield CRITICAL if word == "missing" else WARNING, said


def _certificate(found: Certificate, now: datetime, options: Options) -> Issues:
    name = f"certificate ({line(found.use, 200)})"
    if found.fault:
        if not found.fault.startswith("the Secret"):
            yield WARNING, f"{name}: {found.fault}"
        return
    left = found.days_left(now)
    if left < 0:
        yield CRITICAL, f"{name} ended on {found.end:%Y-%m-%d}"
    elif found.start > now:
        yield CRITICAL, f"{name} is valid only from {found.start:%Y-%m-%d %H:%M} UTC"
    elif left <= options.certificate_days:
        yield WARNING, f"{name} ends on {found.end:%Y-%m-%d}, in {counted(left, 'day')}"


def _domains(ingress: Ingress) -> Issues:
    """The default certificate has to be for the hosts that routes get from the domain."""
    for controller, found in zip(ingress.controllers, ingress.certificates, strict=False):
        if controller.domain and not found.fault and not found.covers(f"x.{controller.domain}"):
            names = ", ".join(found.names[:3]) or "no names"
            yield (
                WARNING,
                f"controller {controller.name}: the default certificate has {line(names)},"
                f" not *.{controller.domain}",
            )


def _show_certificates(report: Report, ingress: Ingress) -> None:
    if not ingress.certificates:
        return
    since = "when gathered" if ingress.is_gathering_time else "now"
    report.section(f"Certificates (days left {since}, {ingress.now:%Y-%m-%d %H:%M} UTC)")
    report.table(
        ("CERTIFICATE", "DAYS", "ENDS", "SUBJECT", "ISSUER"),
        (_row(found, ingress.now) for found in ingress.certificates),
    )


def _row(found: Certificate, now: datetime) -> tuple[object, ...]:
    if found.fault:
        return found.use, "-", "-", f"({found.fault})", "-"
    return found.use, found.days_left(now), f"{found.end:%Y-%m-%d}", found.subject, found.issuer
