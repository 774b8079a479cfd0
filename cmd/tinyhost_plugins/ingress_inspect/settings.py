"""ingress_config: the settings of each configuration."""

from __future__ import annotations

from collections import Counter

from .._shared.must_gather import MustGather
from .._shared.report import Report, View
from .._shared.texts import counted, line
from .backends import limit_of, long_timeouts
from .configs import RouterConfig, app_backend
from .durations import is_longer, say
from .haproxy import Defaults, Proxy
from .options import Options
from .route_check import no_config


def answer(mg: MustGather, configs: list[RouterConfig], view: View, options: Options) -> Report:
    """ingress_config."""
    if not configs:
        return Report(view, no_config(mg)[:1].upper() + no_config(mg)[1:])
    long = sum(
        any(default_troubles(defaults, options) for defaults in config.config.defaults)
        for config in configs
    )
    first = f"{counted(len(configs), 'HAProxy configuration')}, {long or 'none'} with long timeouts"
    report = Report(view, first)
    seen: dict[bytes, str] = {}
    for config in configs:
        report.section(f"{config.path} (controller {config.where})")
        if config.digest in seen:
            report.add(f"the same as {seen[config.digest]}")
        else:
            _show(report, config, options)
        seen.setdefault(config.digest, config.path)
    return report


def _show(report: Report, config: RouterConfig, options: Options) -> None:
    read = config.config
    report.add("Global:")
    report.list([f"  {text}" for text in read.settings] or ["  (empty)"])
    for defaults in read.defaults:
        _show_defaults(report, defaults, options)
    report.add("Frontends:")
    report.list([text for proxy in read.frontends for text in _frontend(proxy)] or ["  (none)"])
    _show_backends(report, read.backends, options)
    if read.others:
        others = ", ".join(f"{count} {kind}" for kind, count in sorted(read.others.items()))
        report.add(f"Other sections: {others}")
    if read.conditional:
        report.add("It has conditional blocks (.if); all of their branches are shown.")
    if read.stray_lines:
        report.add(
            f"{counted(read.stray_lines, 'line')} before the first section: not a whole file?"
        )


def _show_defaults(report: Report, defaults: Defaults, options: Options) -> None:
    inherits = f"from {defaults.inherits.name}" if defaults.inherits else ""
    report.add(line(" ".join(filter(None, ("Defaults", defaults.name, inherits)))) + ":")
    lines = [f"  mode {defaults.mode}"] if defaults.mode else []
    for key, value in sorted(defaults.timeouts.items()):
        limit = limit_of(key, options)
        mark = f"  [WARNING: > {say(limit)}]" if is_longer(value, limit) else ""
        lines.append(f"  timeout {line(key, 40)} {line(value, 40)}{mark}")
    lines += [f"  {text}" for text in defaults.options]
    report.list(lines or ["  (empty)"])


def _frontend(proxy: Proxy) -> list[str]:
    lines = [f"  {line(proxy.name, 100)} (mode {line(proxy.mode, 20)}, {proxy.kind})"]
    for bind in proxy.binds:
        lines.append(f"    bind {bind.text}{'  [SSL]' if bind.is_ssl else ''}")
    return lines


def _show_backends(report: Report, backends: list[Proxy], options: Options) -> None:
    modes = Counter(proxy.mode for proxy in backends)
    by_mode = ", ".join(f"{count} {line(mode, 20)}" for mode, count in sorted(modes.items()))
    empty = sum(1 for proxy in backends if app_backend(proxy) and not proxy.servers)
    report.add(
        f"Backends: {len(backends)}{f' ({by_mode})' if by_mode else ''},"
        f" {empty or 'none'} for routes without servers"
    )
    long = [
        f"  {line(proxy.name, 200)}: {text}"
        for proxy in sorted(backends, key=lambda proxy: proxy.name)
        for text in long_timeouts(proxy.timeouts, options)
    ]
    if long:
        report.add("Backends with long timeouts:")
        report.list(long)


def default_troubles(defaults: Defaults, options: Options) -> list[str]:
    """The default timeouts that are too long, as "timeout client 10m"."""
    return list(long_timeouts(defaults.timeouts.items(), options))
