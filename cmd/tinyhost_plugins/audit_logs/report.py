"""The text of a report: columns, and what was read and what not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._shared.table import cell
from .._shared.texts import counted
from .counts import listed
from .scan import Scan

# Names of users and objects are whole in this width; a cut one cannot be used as a filter.
_WIDEST = 120
_AGGREGATED = ("openshift-apiserver", "oauth-apiserver", "monitoring")
_KUBE = "kube-apiserver"


def columns(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Lines of aligned columns under their headers; numbers are to the right."""
    body = [list(row) for row in rows]
    right = [
        bool(body) and all(isinstance(row[place], int | float) for row in body)
        for place in range(len(headers))
    ]
    table = [list(headers), *([_cell(value) for value in row] for row in body)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if is_right else text.ljust(width)
            for text, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in table
    ]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, int):
        return f"{value:,}"
    return cell(value, _WIDEST)


def matching(total: int, filters: str) -> str:
    """ "2 events that match user=bob", or "2 events" without filters."""
    that = "that matches" if total == 1 else "that match"
    return counted(total, "event") + (f" {that} {cell(filters, 400)}" if filters else "")


def more(left: int, how: str) -> list[str]:
    """A line about rows that are not shown, or none."""
    return [f"{counted(left, 'more row')}; {how}"] if left > 0 else []


def text(first: str, scan: Scan, *parts: list[str]) -> str:
    """A report: its first line, the parts with blank lines between, and what was read."""
    body = ([first], _broken(scan), *parts, _read(scan))
    return "\n\n".join("\n".join(part) for part in body if part)


def nothing(scan: Scan, filters: str) -> str:
    """The report on no event at all."""
    what = f"No audit events match {cell(filters, 400)}." if filters else "There are no events."
    return text(what, scan)


def _read(scan: Scan) -> list[str]:
    tally = scan.tally
    events = [f"{cell(area) or 'log'} {count:,}" for area, count in tally.events.items()]
    nodes = {file.node for file in scan.files if file.node}
    of_nodes = f" of {counted(len(nodes), 'node')}" if nodes else ""
    begun = len(scan.files) if tally.stopped is None else tally.stopped + 1
    read = begun - len(tally.unread)
    part = f"{read:,} of " if read < len(scan.files) else ""
    logs = f"{part}{counted(len(scan.files), 'log')}{of_nodes}"
    return [f"Read {logs}; events: {', '.join(events) or 'none'}.", *_left_out(scan)]


def _left_out(scan: Scan) -> list[str]:
    tally = scan.tally
    found = []
    twins = sum(file.twin for file in scan.files)
    if twins:
        found.append(f"Also there packed, and not read again: {counted(twins, 'log')}.")
    if tally.early:
        found.append(
            f"{counted(tally.early, 'event')} of earlier stages left out, so that a request counts"
            " once; all_stages=true takes them, where the tool has it."
        )
    if _KUBE in tally.events and any(area in tally.events for area in _AGGREGATED):
        found.append(
            "A request that kube-apiserver passes on to another API server is in the logs of both;"
            f" area={_KUBE} counts it once."
        )
    if tally.other:
        found.append(
            f"{counted(tally.other, 'line')} left out, not being audit events;"
            f" the first in {cell(tally.other_first, _WIDEST)}."
        )
    if tally.long:
        found.append(
            f"{counted(tally.long, 'line')} left out as too long; the plugin's option maxLineBytes"
            " sets the limit."
        )
    return found


def _broken(scan: Scan) -> list[str]:
    tally = scan.tally
    found = []
    if tally.damaged:
        found.append(f"INCOMPLETE, read up to the damage: {_reasons(tally.damaged)}.")
    if tally.unread:
        found.append(f"INCOMPLETE, not read: {_reasons(tally.unread)}.")
    if tally.stopped is not None:
        found.append(
            f"INCOMPLETE, time ran out in log {tally.stopped + 1} of {len(scan.files)}; name one"
            " area or one log, or raise the plugin's option maxSeconds."
        )
    return found


def _reasons(logs: Sequence[tuple[str, str]]) -> str:
    return listed([cell(f"{label}: {why}", 2 * _WIDEST) for label, why in logs], 5)
