"""audit_search: the events that fit, oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tinyhost_sdk import HandlerError

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
_NO_TIME, _NO_TIME_SHOWN = "~", "(no time)"
# Rows of one time that may be passed over. They are all kept to know which they are.
_MOST_PASSED = 50_000
_Row = tuple[str, ...]


class Place(NamedTuple):
    """Where the rows of a call begin: after the first `shown` of those of a time.

    A time alone would not do, for more events may have it than are shown.
    """

    moment: str = ""
    shown: int = 0

    def __str__(self) -> str:
        moment = _NO_TIME_SHOWN if self.moment == _NO_TIME else f"{self.moment}Z"
        return f"{moment}/{self.shown}"


_BEGINNING = Place()


def read_place(text: str) -> Place:
    """A place as a report writes it; "" is the beginning. Raises HandlerError."""
    if not text:
        return _BEGINNING
    shown, _slash, count = text.rpartition("/")
    moment = _NO_TIME if shown == _NO_TIME_SHOWN else utc(shown)
    if not (moment and count.isdecimal() and len(count) < 10 and int(count) <= _MOST_PASSED):
        raise HandlerError(
            f"after must be what a former audit_search has told to give, not {text!r:.80};"
            " use since for a time"
        )
    return Place(moment, int(count))


class Oldest:
    """Keeps the oldest rows of any number from a place on, and counts all.

    total: all that were added. before: how many of them are before the rows.
    """

    def __init__(self, most: int, place: Place = _BEGINNING) -> None:
        self.total = 0
        self.before = 0
        self._place = place
        self._most = most + place.shown
        self._rows: list[_Row] = []
        self._last = ""

    def add(self, file: LogFile, event: FullEvent) -> None:
        """Take an event into account."""
        self.total += 1
        moment = utc(event.time) or _NO_TIME
        if moment < self._place.moment:
            self.before += 1
            return
        if self._last and moment > self._last:
            return
        self._rows.append((moment, *_cells(file, event)))
        if len(self._rows) >= self._most + max(self._most // 4, 1000):
            self._rows = self._oldest()
            self._last = self._rows[-1][0]

    def take(self) -> tuple[list[_Row], Place]:
        """The rows, and the place after them. To be called once, when all are added.

        They are in the order of time; those of the same time in the order of their text.
        """
        kept = self._oldest()
        passed = min(sum(row[0] == self._place.moment for row in kept), self._place.shown)
        self.before += passed
        rows = kept[passed:]
        last = rows[-1][0] if rows else ""
        return rows, Place(last, sum(row[0] == last for row in kept))

    def _oldest(self) -> list[_Row]:
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
    place = read_place(args.get("after", ""))
    oldest = Oldest(most if most > 0 else SEARCH_ROWS, place)
    for file, events in scan:
        for event in events:
            oldest.add(file, event)
    if not oldest.total:
        return texts.nothing(scan, query.text)
    rows, after = oldest.take()
    first = texts.matching(oldest.total, query.text)
    through = oldest.before + len(rows)
    if not rows:
        return texts.text(f"{first}; none of them comes after {place}", scan)
    if place.moment:
        first += f"; rows {oldest.before + 1:,} to {through:,} are shown"
    elif through < oldest.total:
        first += f"; the oldest {len(rows)} are shown"
    lines = texts.columns(_HEADERS, (_shown(row) for row in rows))
    lines += texts.more(oldest.total - through, _how_to_see_more(after, options))
    return texts.text(first, scan, lines)


def _how_to_see_more(after: Place, options: Options) -> str:
    next_rows = f', or the same with after="{after}"' if after.shown <= _MOST_PASSED else ""
    return f"narrow the filters, give max, {options.max_rows} at most{next_rows}"


def _shown(row: _Row) -> list[str]:
    moment = _NO_TIME_SHOWN if row[0] == _NO_TIME else f"{row[0][:23]}Z"
    return [moment, *row[1:]]
