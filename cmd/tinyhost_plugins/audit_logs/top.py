"""audit_top: the largest counts by one dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._shared.texts import counted
from . import report as texts
from .counts import Counts, share
from .events import NO_NAMESPACE, NO_VALUE, resource_name, user_name
from .filters import Query
from .options import Options
from .scan import Scan
from .schemas import (
    AREA,
    NAMESPACE,
    NODE,
    RESOURCE,
    SOURCE_IP,
    STATUS_CODE,
    TOP_ROWS,
    USER,
    USER_AGENT,
    VERB,
)

_KEYS: dict[str, Callable[[Any], str]] = {
    USER: user_name,
    VERB: lambda event: event.verb,
    RESOURCE: lambda event: resource_name(event.target),
    NAMESPACE: lambda event: event.target.namespace or NO_NAMESPACE,
    STATUS_CODE: lambda event: str(event.status.code) if event.status.code else NO_VALUE,
    USER_AGENT: lambda event: event.user_agent or NO_VALUE,
    SOURCE_IP: lambda event: event.source_ips[0] if event.source_ips else NO_VALUE,
}
_FULL = (USER_AGENT, SOURCE_IP)


def needs_full(args: Mapping[str, Any]) -> bool:
    """Whether the dimension is one of the fields that few questions need."""
    return args["by"] in _FULL


def report(scan: Scan, query: Query, args: Mapping[str, Any], options: Options) -> str:
    """The tool's text."""
    by = args["by"]
    rows = args.get("n", 0)
    rows = rows if rows > 0 else TOP_ROWS
    counts = _count(scan, by, options.max_keys)
    total = counts.total
    if not total:
        return texts.nothing(scan, query.text)
    top = counts.top(rows)
    first = (
        f"Top {len(top)} of {counted(len(counts), 'value')} of {by},"
        f" in {texts.matching(total, query.text)}"
    )
    lines = texts.columns(
        ("#", "events", "%", by),
        ((place, count, share(count, total), key) for place, (key, count) in enumerate(top, 1)),
    )
    lines += texts.more(len(counts) - len(top), f"give n, {options.max_rows} at most, or filters")
    if counts.others:
        lines.append(
            f"{counted(counts.others, 'event')} of still other values are in the total alone;"
            " the plugin's option maxKeys sets how many are counted."
        )
    return texts.text(first, scan, lines)


def _count(scan: Scan, by: str, most: int) -> Counts[str]:
    counts: Counts[str] = Counts(most)
    add = counts.add
    if by in (NODE, AREA):
        for file, events in scan:
            name = (file.node if by == NODE else file.area) or NO_VALUE
            add(name, len(events))
        return counts
    key = _KEYS[by]
    for _, events in scan:
        for event in events:
            add(key(event))
    return counts
