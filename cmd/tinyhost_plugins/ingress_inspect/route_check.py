"""ingress_route_check: the routes against the backends."""

from __future__ import annotations

from .._shared.must_gather import MustGather
from .._shared.report import Report, View
from .._shared.texts import counted, line
from .configs import RouterConfig, read_configs
from .matching import Findings, check, counts
from .options import Options
from .pace import Pace
from .routes import Route, read_routes


def answer(mg: MustGather, view: View, options: Options, pace: Pace, namespace: str) -> Report:
    """ingress_route_check. namespace: only its routes and backends; "" for all."""
    configs = read_configs(mg, options, pace)
    routes = read_routes(mg, namespace)
    found = check(configs, routes.found, routes.whole, namespace)
    report = Report(view, _first(mg, found, configs, routes.found, namespace))
    controllers = len({config.controller for config in configs})
    of = f"{counted(controllers, 'controller')}, {counted(len(configs), 'configuration')}"
    report.add(
        f"{counted(found.routes, 'route')} of {counted(len(routes.namespaces), 'namespace')},"
        f" {counted(found.backends, 'backend')} for routes ({of})"
    )
    for _word, title, lines in found.lists:
        if lines:
            report.section(f"{title} ({len(lines)})")
            report.list([f"- {line(entry, 700)}" for entry in lines])
    if found.unjudged:
        report.section("Not compared")
        report.list([f"- {line(entry, 500)}" for entry in found.unjudged])
    return report


def _first(
    mg: MustGather,
    found: Findings,
    configs: list[RouterConfig],
    routes: list[Route],
    namespace: str,
) -> str:
    where = f" in the namespace {namespace}" if namespace else ""
    if not configs:
        return f"Routes cannot be checked: {no_config(mg)}"
    if not routes and not found.stale and mg.faults:
        return f"No routes{where} could be read, so there is nothing to check."
    if not routes and not found.stale:
        return f"No routes{where} have been gathered, so there is nothing to check."
    issues, rest = ", ".join(counts(found)), f"{counted(found.uncompared, 'route')} not compared"
    if issues:
        more = f"; {rest}" if found.uncompared else ""
        return f"Routes and backends{where}: {issues}{more}"
    if not found.uncompared and mg.faults:
        return f"No issues with routes{where}, in what could be read."
    if not found.uncompared:
        return f"No issues with routes{where}."
    if found.uncompared < len(routes):
        return f"No issues with the other routes{where}; {rest}"
    return f"Routes{where} cannot be checked: no configuration of their routers has been read."


def no_config(mg: MustGather) -> str:
    """What is said when there is no configuration, or none that could be read."""
    if any(path.endswith("haproxy.config") for path in mg.faults):
        return "no HAProxy configuration of this must-gather could be read."
    return (
        "there is no HAProxy configuration (ingress_controllers/CONTROLLER/POD/haproxy.config)"
        " in this must-gather."
    )
