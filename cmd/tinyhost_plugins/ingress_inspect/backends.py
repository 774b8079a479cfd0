"""ingress_backends: the backends of each configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .._shared.must_gather import MustGather
from .._shared.report import Report, View
from .._shared.texts import counted, line
from .configs import RouterConfig, app_backend
from .durations import is_longer
from .haproxy import Proxy
from .options import Options
from .route_check import no_config


def answer(
    mg: MustGather, configs: list[RouterConfig], view: View, options: Options, text: str
) -> Report:
    """ingress_backends. text: only backends whose name has it; "" for all."""
    if not configs:
        return Report(view, no_config(mg)[:1].upper() + no_config(mg)[1:])
    shown = {config.path: _chosen(config, text) for config in configs}
    distinct = {proxy.name: proxy for chosen in shown.values() for proxy in chosen}
    empty = sum(1 for proxy in distinct.values() if app_backend(proxy) and not proxy.servers)
    with_text = f" with {line(text, 100)!r} in the name" if text else ""
    servers = f", {empty or 'none'} for routes without servers" if distinct else ""
    report = Report(
        view,
        f"{counted(len(distinct), 'backend')}{with_text} in"
        f" {counted(len(configs), 'configuration')}{servers}",
    )
    seen: dict[bytes, str] = {}
    for config in configs:
        chosen = shown[config.path]
        report.section(f"{config.path}: {counted(len(chosen), 'backend')}")
        if config.digest in seen:
            report.add(f"the same as {seen[config.digest]}")
        elif chosen:
            report.table(
                ("PREFIX", "NAMESPACE", "NAME", "SERVERS", "MODE", "BALANCE", "NOTES"),
                (_row(proxy, options) for proxy in chosen),
            )
        seen.setdefault(config.digest, config.path)
    return report


def _chosen(config: RouterConfig, text: str) -> list[Proxy]:
    """By name, since the router writes them in another order each time."""
    found = (proxy for proxy in config.config.backends if text in proxy.name)
    return sorted(found, key=lambda proxy: proxy.name)


def _row(proxy: Proxy, options: Options) -> tuple[object, ...]:
    app = app_backend(proxy)
    name = (app.prefix, app.namespace, app.route) if app else ("-", "-", proxy.name)
    notes = ", ".join(_notes(proxy, options)) or "-"
    return (*name, proxy.servers, proxy.mode, proxy.balance or "-", notes)


def _notes(proxy: Proxy, options: Options) -> Iterator[str]:
    if proxy.kind == "listen":
        yield "listen"
    if proxy.idle:
        yield f"{proxy.idle} disabled or weight 0"
    if proxy.reserve:
        yield f"{proxy.reserve} in reserve"
    yield from long_timeouts(proxy.timeouts, options)


def long_timeouts(timeouts: Iterable[tuple[str, str]], options: Options) -> Iterator[str]:
    """ "timeout server 10m" for each that is longer than it should be."""
    for key, value in sorted(timeouts):
        if is_longer(value, limit_of(key, options)):
            yield f"timeout {key} {line(value, 40)}"


def limit_of(key: str, options: Options) -> int:
    """The seconds above which a timeout is long. The router's own default for tunnels is an hour."""
    return (
        max(options.long_timeout_seconds, 3600) if key == "tunnel" else options.long_timeout_seconds
    )
