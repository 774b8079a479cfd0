"""Going through log files of any size, line by line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import heappush, heappushpop
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from .._shared import texts
from . import classes
from .gather import LogFile
from .lines import parse
from .pace import Pace
from .text import named

Stream = BufferedReader | gzip.GzipFile

# Of a longer line, the rest is passed over.
_LONGEST = 64 * 1024
# Of a line that is kept, for there may be thousands of them.
_KEPT = 1000
_BLOCK = 1024 * 1024
_NEWLINE = ord("\n")
_GZIP = b"\x1f\x8b"
_LATEST = 4e9  # seconds since 1970, in the year 2096


class Event(NamedTuple):
    """A line that says something, cut when it is long. `order` puts lines of the same time into that of the files."""

    time: int | None
    order: tuple[int, int]
    pod: str
    classes: tuple[str, ...]
    text: str
    shown: str
    ms: float | None

    def key(self) -> tuple[int, tuple[int, int]]:
        """To sort by time; lines before any time come first."""
        return self.time or 0, self.order


@dataclass(slots=True)
class Scan:
    """What was read. notes: what could not be, each in a sentence. first, last: of all times."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    long_lines: int = 0
    first: int | None = None
    last: int | None = None
    notes: list[str] = field(default_factory=list)

    def seen(self, time: int | None) -> None:
        if time is not None:
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)

    def all_notes(self) -> list[str]:
        if not self.long_lines:
            return self.notes
        cut = texts.counted(self.long_lines, "line")
        return [*self.notes, f"{cut} longer than {texts.size(_LONGEST)}: the rest was not read"]


def events(files: list[LogFile], scan: Scan, most: int, pace: Pace) -> Iterator[Event]:
    """The events of all files, file by file; `scan` is filled on the way."""
    for number, file in enumerate(files):
        if scan.bytes >= most:
            left = texts.counted(len(files) - number, "file")
            scan.notes.append(
                f"stopped after {texts.size(scan.bytes)}, {left} not read;"
                ' the option "maxLogMiB" of etcd-diag allows more'
            )
            return
        try:
            with _open(file.path) as stream:
                yield from _file_events(stream, file, number, scan, most, pace)
            scan.files += 1
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            where = "/".join(file.path.parts[-4:])
            scan.notes.append(
                f"{named(file.pod)}: {named(where)} was not read to its end: {reason}"
            )


def _open(path: Path) -> Stream:
    # A packed log may have lost its ending; read as text, it would be one without any trouble.
    with path.open("rb") as stream:
        packed = stream.read(len(_GZIP)) == _GZIP or path.suffix == ".gz"
    return gzip.open(path) if packed else path.open("rb")


def _year(modified: float) -> int:
    """That of a file's time, which may be any number."""
    return datetime.fromtimestamp(min(max(modified, 0), _LATEST), UTC).year


def _file_events(
    stream: Stream, file: LogFile, number: int, scan: Scan, most: int, pace: Pace
) -> Iterator[Event]:
    year = _year(file.path.stat().st_mtime)
    latest: int | None = None
    last = b""
    for block, offset in _blocks(stream, scan):
        if not offset:
            latest = _time(block[: block.find(b"\n")], year)
            scan.seen(latest)
        for start, end in _interesting(block):
            scan.long_lines += end - start > _LONGEST
            raw = block[start : min(end, start + _LONGEST)]
            line = parse(raw.decode(errors="replace").rstrip(), year)
            latest = line.time if line.time is not None else latest
            scan.seen(line.time)
            if found := classes.classify(line):
                order = number, offset + start
                text, shown = line.text[:_KEPT], line.shown[:_KEPT]
                yield Event(latest, order, file.pod, found, text, shown, line.ms)
        last = block[block.rfind(b"\n", 0, -1) + 1 :]
        pace.tick(f"reading the logs ({texts.size(scan.bytes)} so far)")
        if scan.bytes >= most:
            break
    scan.seen(_time(last, year))


def _time(raw: bytes, year: int) -> int | None:
    return parse(raw[:_LONGEST].decode(errors="replace").rstrip(), year).time


def _interesting(block: bytes) -> list[tuple[int, int]]:
    """Where the lines are that hold one of the needles, in their order.

    Finding one text in a large block is very quick, and most lines hold none.
    """
    found = {}
    for needle in classes.NEEDLES:
        at = block.find(needle)
        while at >= 0:
            # A needle may begin with the newline before its line.
            at += needle[0] == _NEWLINE
            start = block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", at)
            found[start] = end if end >= 0 else len(block)
            at = block.find(needle, found[start])
    return sorted(found.items())


def _blocks(stream: Stream, scan: Scan) -> Iterator[tuple[bytes, int]]:
    """Whole lines in blocks, each with its offset; of a line that never ends, the beginning."""
    carried, offset, skipping = b"", 0, False
    while chunk := stream.read(_BLOCK):
        scan.bytes += len(chunk)
        scan.lines += chunk.count(b"\n")
        if skipping:
            newline = chunk.find(b"\n")
            if newline < 0:
                continue
            chunk, skipping = chunk[newline:], False
        block = carried + chunk
        end = block.rfind(b"\n") + 1
        carried = block[end:]
        if len(carried) > _BLOCK:
            carried, skipping = carried[: _LONGEST + 1], True
        if end:
            yield block[:end], offset
            offset += end
    if carried:
        scan.lines += 1
        yield carried, offset


class Recent:
    """The newest events, at most a number of them; count is of all that came."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[tuple[int, tuple[int, int]], Event]] = []
        self.count = 0

    def add(self, event: Event) -> None:
        self.count += 1
        if len(self._heap) < self._most:
            heappush(self._heap, (event.key(), event))
        elif self._most:
            heappushpop(self._heap, (event.key(), event))

    def newest(self, most: int) -> list[Event]:
        """Up to that many, oldest first."""
        kept = sorted(self._heap)[max(0, len(self._heap) - most) :] if most else []
        return [event for _, event in kept]
