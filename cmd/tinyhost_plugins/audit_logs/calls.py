"""From a tool call to its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tinyhost_sdk import HandlerError, ToolContext

from . import anomalies, health, search, timeline, top
from .arguments import check
from .files import find, in_area
from .filters import Query
from .options import Options
from .scan import Scan
from .schemas import TOOLS

# Name of a tool -> whether it needs all fields for these arguments, and what reports.
_Needs = Callable[[Mapping[str, Any]], bool]
_Report = Callable[[Scan, Query, Mapping[str, Any], Options], str]
_REPORTS: dict[str, tuple[_Needs, _Report]] = {
    "audit_top": (top.needs_full, top.report),
    "audit_search": (lambda _: True, search.report),
    "audit_timeline": (lambda _: False, timeline.report),
    "audit_anomalies": (lambda _: False, anomalies.report),
    "audit_health": (lambda _: False, health.report),
}
_ROWS = ("n", "max")


def call(name: str, args: Mapping[str, Any], context: ToolContext, options: Options) -> str:
    """The tool's report. Raises HandlerError with what is wrong with the call or the logs."""
    given = check(name, TOOLS[name][1], args)
    for key in _ROWS:
        if given.get(key, 0) > options.max_rows:
            raise HandlerError(
                f"{key} may be {options.max_rows} at most; the plugin's option maxRows sets that"
            )
    query = Query(given)
    files = find(given["path"], context.directory, options.roots)
    if given.get("area"):
        files = in_area(files, given["area"])
    needs_full, report = _REPORTS[name]
    scan = Scan(files, query, options, context, full=needs_full(given))
    return report(scan, query, given, options)
