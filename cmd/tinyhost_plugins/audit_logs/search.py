"""audit_search: the events that fit, oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import report as texts
from .counts import LONGEST_KEY
from .events import NO_NAMESPACE, FullEvent, acting_user, full_resource_name, object_name
from .files import LogFile
from .filters import Query
from .moments import utc
from .options import Options
from .scan import Scan
from .schemas import SEARCH_ROWS

_HEADERS = ("time", "code", "verb", "user", "resource", "namespace", "name", "node")
# Sorts after all times.
_NO_TIME = "~"
_Row = tuple[str, ...]


class Oldest:
    """Keeps the oldest rows of any number, and counts all."""

    def __init__(self, most: int) -> None:
        self.total = 0
        self._most = most
        self._rows: list[_Row] = []
        self._last = ""

    def add(self, file: LogFile, event: FullEvent) -> None:
        """Take an event into account."""
        self.total += 1
        moment = utc(event.time) or _NO_TIME
        if self._last and moment > self._last:
            return
        self._rows.append((moment, *_cells(file, event)))
        if len(self._rows) >= 2 * self._most + 1000:
            self._rows = self.rows()
            self._last = self._rows[-1][0]

    def rows(self) -> list[_Row]:
        """The oldest, in the order of time; those of the same time in the order of their text."""
        return sorted(self._rows)[: self._most]


def _cells(file: LogFile, event: FullEvent) -> list[str]:
    target = event.target
    code = event.status.code
    # Without the query: that of a login has what proves it.
    what = full_resource_name(target) if target.resource else event.uri.partition("?")[0]
    cells = (
        str(code) if code else "-",
        event.verb,
        acting_user(event),
        what,
        target.namespace or NO_NAMESPACE,
        object_name(target) or "-",
        file.node or file.area,
    )
    return [cell[:LONGEST_KEY] for cell in cells]


def report(scan: Scan, query: Query, args: Mapping[str, Any], options: Options) -> str:
    """The tool's text."""
    most = args.get("max", 0)
    oldest = Oldest(most if most > 0 else SEARCH_ROWS)
    for file, events in scan:
        for event in events:
            oldest.add(file, event)
    if not oldest.total:
        return texts.nothing(scan, query.text)
    rows = oldest.rows()
    first = f"{texts.matching(oldest.total, query.text)}"
    if len(rows) < oldest.total:
        first += f"; the oldest {len(rows)} are shown"
    lines = texts.columns(_HEADERS, (_shown(row) for row in rows))
    lines += texts.more(oldest.total - len(rows), _how_to_see_more(rows[-1][0], options))
    return texts.text(first, scan, lines)


def _how_to_see_more(last: str, options: Options) -> str:
    since = "" if last == _NO_TIME else f', or since="{last}Z"'
    return f"narrow the filters, give max, {options.max_rows} at most{since}"


def _shown(row: _Row) -> list[str]:
    moment = "(no time)" if row[0] == _NO_TIME else f"{row[0][:23]}Z"
    return [moment, *row[1:]]
