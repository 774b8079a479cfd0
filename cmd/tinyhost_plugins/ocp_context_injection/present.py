"""The texts for the model. What comes from a cluster stays on its line and inside its block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .._shared.table import cell
from .facts import Alerts, Cost, Nodes, Operators

_WIDEST = 80  # characters of a name
_WIDEST_REASON = 200
_MOST_CHARACTERS = 28_000
NOT_CONNECTED = "<cluster-context>not connected</cluster-context>"


@dataclass(slots=True)
class Found:
    """What is known of a cluster. missing: what is not, and why not."""

    context: str
    cluster: str
    server: str
    namespace: str
    insecure: bool = False
    user: str = ""
    version: str = ""
    cluster_id: str = ""
    nodes: Nodes | None = None
    operators: Operators | None = None
    alerts: Alerts | None = None
    cost: Cost | None = None
    missing: dict[str, str] = field(default_factory=dict)


def block(found: Found, most: int) -> str:
    """All that is known, with at most so many names in a list."""
    lines = [
        f"cluster: {safe(found.cluster)}",
        f"server: {safe(_without_login(found.server), _WIDEST_REASON)}" + _unchecked(found),
        f"context: {safe(found.context, _WIDEST_REASON)}",
        f"user: {safe(found.user) or 'unknown'}",
        f"version: {safe(found.version) or 'unknown'}",
    ]
    if found.cluster_id:
        lines.append(f"cluster-id: {safe(found.cluster_id)}")
    lines.append(f"nodes: {_nodes(found.nodes)}")
    lines.append(f"namespace: {safe(found.namespace)}")
    lines.append(f"operators: {_operators(found.operators, most)}")
    lines += _alerts(found.alerts, most)
    reasons = [f"{name} ({safe(why, _WIDEST_REASON)})" for name, why in found.missing.items()]
    if reasons:
        lines.append(f"not known: {'; '.join(reasons)}")
    body = _cut("\n".join(lines))
    text = f"<cluster-context>\n{body}\n</cluster-context>"
    return f"{text}\n{cost_line(found.namespace, found.cost)}" if found.cost else text


def cost_line(namespace: str, cost: Cost) -> str:
    """The costs of a namespace, as one block."""
    words = f"namespace={safe(namespace)} monthly-cost={_money(cost.total, cost.currency)}"
    if cost.top:
        words += f" top-resource={safe(cost.top)} ({_money(cost.top_total, cost.currency)}/mo)"
    return f"<cost-context>{words}</cost-context>"


def safe(text: str, widest: int = _WIDEST) -> str:
    """A text on one line that cannot end the block it stands in."""
    return cell(text, widest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _without_login(url: str) -> str:
    """A URL without the name and password that may be in it."""
    before, mark, rest = url.partition("://")
    scheme = before + mark if mark else ""
    host, slash, path = (rest if mark else url).partition("/")
    return f"{scheme}{host.rpartition('@')[2]}{slash}{path}"


def _unchecked(found: Found) -> str:
    return " (its certificate is not checked)" if found.insecure else ""


def _nodes(nodes: Nodes | None) -> str:
    if nodes is None:
        return "unknown"
    more = " or more" if nodes.more else ""
    words = f"{nodes.total}{more} ({nodes.control_plane} control-plane, {nodes.worker} worker)"
    return f"{words}, {nodes.not_ready} not ready" if nodes.not_ready else words


def _alerts(alerts: Alerts | None, most: int) -> list[str]:
    if alerts is None:
        return []
    lines = [
        f"firing-alerts-{severity}: {sum(found.values())} ({_named(found, most)})"
        for severity, found in (("critical", alerts.critical), ("warning", alerts.warning))
        if found
    ]
    return lines + ([f"firing-alerts-info: {alerts.info}"] if alerts.info else [])


def _named(found: Mapping[tuple[str, str], int], most: int) -> str:
    entries = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    return _limited(
        (
            f"{safe(name)}: {safe(namespace) or 'cluster'}" + (f" x{times}" if times > 1 else "")
            for (name, namespace), times in entries
        ),
        len(entries),
        most,
    )


def _operators(operators: Operators | None, most: int) -> str:
    if operators is None:
        return "unknown"
    names = operators.names
    if not names:
        return "none"
    others = " and others, which are not looked at" if operators.more else ""
    return f"[{_limited(map(safe, names), len(names), most)}]{others}"


def _limited(entries: Iterable[str], count: int, most: int) -> str:
    shown = [entry for _, entry in zip(range(most), entries, strict=False)]
    left = count - len(shown)
    return ", ".join([*shown, f"{left} more; the option maxNames shows them"] if left else shown)


def _cut(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    return text[:_MOST_CHARACTERS] + "\n... cut; a smaller maxNames leaves room"


def _money(amount: float, currency: str) -> str:
    if currency == "USD":
        return f"${amount:.2f}"
    return f"{amount:.2f} {safe(currency)}".rstrip()
