"""Logs of services on the hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from tinyhost_sdk import HandlerError

from .._shared.matching import LONGEST_LINE, Matcher
from .._shared.report import MORE_CHARACTERS
from .._shared.texts import around, counted, line
from .logs import HostLog, host_service_logs, parse_line, read_lines
from .report import Ask, Report, file_size, is_partial, nothing

LINES, MOST_LINES = 100, 5000
_FIRST = 20  # lines of each file, when nothing is searched
_SHOWN = 600  # characters of a line


class _Line(NamedTuple):
    file: HostLog
    text: str


def answer(ask: Ask, node: str, pattern: str, most: int) -> str:
    """mg_node_logs. most: lines in all, 0 for the usual."""
    if not 0 <= most <= MOST_LINES:
        raise HandlerError(f"max has to be from 0 to {MOST_LINES}, not {most}")
    files = list(host_service_logs(ask.mg))
    if not files:
        return Report(ask, nothing(ask, "host_service_logs")).text()
    most = most or LINES
    if most > LINES:
        # Who asks for more lines gets more text, too.
        ask = replace(ask, characters=MORE_CHARACTERS)
    if pattern:
        return _search(ask, files, node, pattern, most)
    return _begin(ask, files, node, most)


def _lines(ask: Ask, file: HostLog, node: str) -> Iterator[str]:
    """The lines of a file; with a node, those that it wrote.

    The node's name is in the lines, for a file has those of all nodes of a role; or in the path.
    """
    what = f"reading {file.role}/{file.service}"
    lines = ask.pace.each(read_lines(ask.mg, file.path, LONGEST_LINE), what)
    if not node or node in ask.mg.relative(file.path):
        return lines
    # Lines are read in full only when the name is where it could be.
    return (text for text in lines if node in text[:600] and node in parse_line(text).node)


def _search(ask: Ask, files: list[HostLog], node: str, pattern: str, most: int) -> str:
    every = (_Line(file, text) for file in files for text in _lines(ask, file, node))
    with Matcher(pattern, "pattern", ask.pace) as matcher:
        found = list(islice(matcher.find(every, lambda entry: entry.text), most + 1))
    of_node = f" of {line(node, 80)}" if node else ""
    where = f"in {counted(len(files), 'host log file')}{of_node}"
    if not found:
        which = "No line that was read" if is_partial(ask) else "No line"
        return Report(ask, f"{which} matches the pattern {where}.").text()
    more = len(found) > most
    head = f"{'The first ' if more else ''}{counted(min(len(found), most), 'match', 'matches')}"
    report = Report(ask, f"{head} {where}")
    last = None
    for entry, span in found[:most]:
        if entry.file is not last:
            last = entry.file
            report.section(f"=== {ask.mg.relative(entry.file.path)} ===")
        report.add(around(entry.text, span, ask.at_most(_SHOWN)))
    if more:
        report.add(f"There are more; search more narrowly, or set max (up to {MOST_LINES})")
    return report.text()


def _begin(ask: Ask, files: list[HostLog], node: str, most: int) -> str:
    """The first lines of every file, as many as there may be in all."""
    of_node = f", lines of {line(node, 80)}" if node else ""
    report = Report(ask, f"{counted(len(files), 'host log file')}{of_node}: the first lines")
    report.add("Give a pattern to search all lines.")
    left = most
    each = max(1, min(_FIRST, most // len(files)))
    for file in files:
        if left <= 0 or ask.pace.is_over("reading host logs"):
            report.add(f"No lines of the other files are shown; set max (up to {MOST_LINES})")
            break
        shown = list(islice(_lines(ask, file, node), min(each, left)))
        left -= len(shown)
        path = ask.mg.relative(file.path)
        if shown or not node:
            report.section(f"=== {path} === ({file_size(ask, path)})")
            for text in shown:
                report.add(line(text, ask.at_most(_SHOWN)))
    if left == most:
        report.add("There are none.")
    return report.text()
