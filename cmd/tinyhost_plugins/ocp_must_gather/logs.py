"""Logs of a must-gather as streams of lines, and what a line says of its time, level and node.

for file in host_service_logs(mg):
    for raw in read_lines(mg, file.path):
        line = parse_line(raw, mg.gathered())
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .._shared.must_gather import MustGather, MustGatherError

LONGEST_LINE = 16 * 1024
_CHUNK = 256 * 1024
# What one compressed log may unpack to, so that a small file cannot keep a reader for ever.
_MOST_UNPACKED = 2 * 1024**3

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LEVELS = {"I": "info", "W": "warning", "E": "error", "F": "fatal"}
_WORDS = {"info": "info", "warn": "warning", "warning": "warning", "error": "error"}
_WORDS |= {"err": "error", "fatal": "fatal", "panic": "fatal", "debug": "debug", "trace": "debug"}

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))? ?(Z|[+-]\d\d:?\d\d)?(?=\s|$)"
)
_JOURNAL = re.compile(r"([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))? ")
# What journald writes between the time and the message: "node kubenswrapper[123]: ".
_SENDER = re.compile(r"([\w.:-]{1,253}) ([^\s\[\]:]{1,100})(?:\[(\d{1,10})\])?: ")
_NODE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9.-]{0,252}) +"
    r"(?=[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:|\d{4}-\d\d-\d\d[T ]\d\d:)"
)
_KLOG = re.compile(
    r"([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{1,6})\s+\d{1,10} ([^\s\]]{1,200})\] ?"
)
_LEVEL = re.compile(r'(?:\blevel=|"level": ?)"?([A-Za-z]{3,7})\b')


class PodLog(NamedTuple):
    """name: the file's, as current.log or previous.log."""

    namespace: str
    pod: str
    container: str
    name: str
    path: Path


class HostLog(NamedTuple):
    """The journal of one service on all nodes of a role ("masters", "workers")."""

    role: str
    service: str
    path: Path


class LogLine(NamedTuple):
    """time: in UTC, None when the line has none. level: "debug", "info", "warning", "error",
    "fatal" or "". node and service: what a journal says, else "". text: the rest.
    """

    time: datetime | None
    level: str
    node: str
    service: str
    text: str


def pod_logs(mg: MustGather, namespace: str = "*", pod: str = "*") -> Iterator[PodLog]:
    """The logs of pods, by namespace, pod and container; both names may be patterns."""
    for path in mg.find(f"namespaces/{namespace}/pods/{pod}/*/*/logs/**"):
        parts = mg.relative(path).split("/")
        if is_log(path.name):
            yield PodLog(parts[1], parts[3], parts[4], path.name, path)


def host_service_logs(mg: MustGather) -> Iterator[HostLog]:
    """The logs of services on the hosts, by role and service."""
    for path in mg.find("host_service_logs/**"):
        if not is_log(path.name):
            continue
        folder = mg.relative(path.parent).partition("/")[2]
        name = path.name.removesuffix(".gz").removesuffix(".log").removesuffix("_service")
        yield HostLog(folder, name, path)


def is_log(name: str) -> bool:
    """Whether a file's name is one of a log."""
    name = name.lower().removesuffix(".gz")
    return ".log" in name or "journal" in name or name.startswith("log")


def read_lines(mg: MustGather, path: str | Path, longest: int = LONGEST_LINE) -> Iterator[str]:
    """The lines of a log, plain or gzip, without their ends, in little memory.

    Of a line with more than `longest` bytes that much is kept, and "…" shows it. What cannot be
    opened has no lines; a compressed file that is damaged or unpacks to more than 2 GiB ends early.
    Both are noted in `mg.faults`.
    """
    try:
        file = mg.open(path)
    except MustGatherError as error:
        where = mg.relative(path)
        mg.tree.note(where, str(error).removeprefix(f"{where} "))
        return
    with closing(file):
        yield from _lines(_chunks(mg, mg.relative(path), file), longest)


def _chunks(mg: MustGather, where: str, file: BinaryIO) -> Iterator[bytes]:
    """The content of a file, unpacked, until there is no time for more."""
    is_packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    # read1() gives what comes before the damage; read() would fail without it.
    read = gzip.GzipFile(fileobj=file).read1 if is_packed else file.read
    count = 0
    try:
        while chunk := read(_CHUNK):
            count += len(chunk)
            if is_packed and count > _MOST_UNPACKED:
                why = f"unpacks to more than the {_MOST_UNPACKED} bytes that are read"
                mg.tree.note(where, why)
                return
            if mg.tree.is_over(f"reading {where}"):
                return
            yield chunk
    except (OSError, EOFError, zlib.error) as error:
        mg.tree.note(where, f"cut off or damaged: {error}"[:200])


def _lines(chunks: Iterable[bytes], longest: int) -> Iterator[str]:
    kept, is_cut = b"", False
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            yield _line(kept + piece if not is_cut else kept, longest, is_cut)
            kept, is_cut = b"", False
        if not is_cut:
            kept += rest
            is_cut = len(kept) > longest
            kept = kept[: longest + 1]
    if kept:
        yield _line(kept, longest, is_cut)


def _line(data: bytes, longest: int, is_cut: bool) -> str:
    if is_cut or len(data) > longest:
        # The cut may be within a character.
        return data[:longest].decode("utf-8", "ignore") + "…"
    return data.removesuffix(b"\r").decode("utf-8", "replace")


def parse_line(raw: str, gathered: datetime | None = None) -> LogLine:
    """Read a line as `oc`, klog and journald write them.

    gathered: klog and journald leave out the year; it is that of this time, or the one before when
    the line would lie in its future. Without it such lines have no time.
    """
    node = service = ""
    time, rest = None, raw
    # `oc adm node-logs` puts the node before the lines of several nodes.
    if named := _NODE.match(rest):
        node, rest = named[1], rest[named.end() :]
    is_journal = False
    if found := _JOURNAL.match(rest):
        is_journal, rest = True, rest[found.end() :]
        if found[1] in _MONTHS:
            month = _MONTHS.index(found[1]) + 1
            time = _yearless(gathered, month, int(found[2]), found[3], found[4])
    elif found := _ISO.match(rest):
        time, rest = _iso(*found.groups()), rest[found.end() :].lstrip(" ")
    sender = _SENDER.match(rest) if found else None
    # Other texts may look like "node service: " as well, but they have no process id.
    if sender and (node or is_journal or sender[3]):
        node, service, rest = node or sender[1], sender[2], rest[sender.end() :]
    level = ""
    if klog := _KLOG.match(rest):
        level = _LEVELS[klog[1]]
        if time is None:
            time = _yearless(gathered, int(klog[2]), int(klog[3]), klog[4], klog[5])
        rest = f"{klog[6]}] {rest[klog.end() :]}"
    elif word := _LEVEL.search(rest[:500]):
        level = _WORDS.get(word[1].lower(), "")
    return LogLine(time, level, node, service, rest)


def _iso(day: str, clock: str, fraction: str | None, offset: str | None) -> datetime | None:
    micros = (fraction or "0").ljust(6, "0")[:6]
    try:
        return datetime.fromisoformat(f"{day}T{clock}.{micros}{offset or 'Z'}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _yearless(
    gathered: datetime | None, month: int, day: int, clock: str, fraction: str | None
) -> datetime | None:
    if gathered is None:
        return None
    for year in (gathered.year, gathered.year - 1):
        found = _iso(f"{year:04}-{month:02}-{day:02}", clock, fraction, "Z")
        # Clocks of nodes differ a little, and gathering takes a while.
        if found is not None and found <= gathered + timedelta(days=1):
            return found
    return None
