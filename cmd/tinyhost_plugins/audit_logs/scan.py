"""One pass over the logs: events in blocks, and an account of what was not counted."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from time import monotonic
from typing import Any, BinaryIO

import msgspec

from tinyhost_sdk import HandlerError, ToolContext

from .events import LAST_STAGES, Event, FullEvent
from .files import LogFile
from .filters import Query
from .lines import Damaged, blocks, chunks
from .options import Options

# Often enough for the host to keep waiting.
_PROGRESS_EVERY = 2.0
_MIB = 1024 * 1024
# What a line that is no event can raise; the last one is deep nesting.
_NO_EVENT = (msgspec.MsgspecError, ValueError, RecursionError)
# Without links, and without waiting for a writer where a pipe took the file's place.
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _TimeIsUp(Exception):
    """The call has read for as long as it may."""


class Tally:
    """What a pass has met.

    events: of each area, before the filters. early: events of earlier stages. other: lines that
    are no audit events, and other_first the log that holds the first. long: lines left out for
    their length. damaged: logs that could not be read to the end, with the reason, and unread
    those that could not be read at all. stopped: how many logs were read when time ran out, or
    None.
    """

    def __init__(self) -> None:
        self.events: dict[str, int] = {}
        self.early = 0
        self.other = 0
        self.other_first = ""
        self.long = 0
        self.damaged: list[tuple[str, str]] = []
        self.unread: list[tuple[str, str]] = []
        self.stopped: int | None = None


class Scan:
    """Iterate over it once; then `tally` says what was read.

    Iterating gives pairs of a log and events of it that fit the query, FullEvent where `full`
    or the query needs it. Raises HandlerError when the call is cancelled and when no log can
    be opened.
    """

    def __init__(
        self,
        files: list[LogFile],
        query: Query,
        options: Options,
        context: ToolContext,
        *,
        full: bool = False,
    ) -> None:
        self.files = files
        self.tally = Tally()
        self._query = query
        self._options = options
        self._context = context
        kind = FullEvent if full or query.full else Event
        self._kind = kind
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
        self._began = monotonic()
        self._told = self._began
        self._done_bytes = 0

    def __iter__(self) -> Iterator[tuple[LogFile, list[Any]]]:
        for number, file in enumerate(self.files):
            try:
                for block in self._blocks(file, number):
                    events = self._query(self._events(block, file))
                    if events:
                        yield file, events
            except _TimeIsUp:
                self.tally.stopped = number
                return
            except Damaged as damage:
                self.tally.damaged.append((file.label, str(damage)))
            except OSError as error:
                self.tally.unread.append((file.label, error.strerror or str(error)))
            self._done_bytes += file.size
        if len(self.tally.unread) == len(self.files):
            label, why = self.tally.unread[0]
            raise HandlerError(f"none of {len(self.files)} logs can be read; {label}: {why}")

    def _blocks(self, file: LogFile, number: int) -> Iterator[bytes]:
        with _open(file.path) as opened:
            pieces = self._in_time(opened, number)
            yield from blocks(pieces, self._options.max_line_bytes, self._too_long)

    def _too_long(self) -> None:
        self.tally.long += 1

    def _in_time(self, opened: BinaryIO, number: int) -> Iterator[bytes]:
        # With each piece and not with events: a log may have none, and go on for ever.
        for piece in chunks(opened):
            if self._context.cancelled:
                raise HandlerError("cancelled")
            now = monotonic()
            if now - self._began > self._options.max_seconds:
                raise _TimeIsUp
            self._tell(now, number, self._done_bytes + opened.tell())
            yield piece

    def _tell(self, now: float, number: int, done: int) -> None:
        if now - self._told >= _PROGRESS_EVERY:
            self._told = now
            whole = sum(file.size for file in self.files) / _MIB
            self._context.progress(
                f"reading log {number + 1} of {len(self.files)},"
                f" {done / _MIB:.0f} of {whole:.0f} MiB are done"
            )

    def _events(self, block: bytes, file: LogFile) -> list[Any]:
        try:
            decoded = self._decoder.decode_lines(block)
        except _NO_EVENT:
            decoded = self._one_by_one(block, file)
        if self._query.all_stages:
            events = [event for event in decoded if event.verb]
        else:
            events = [event for event in decoded if event.stage in LAST_STAGES and event.verb]
        if len(events) != len(decoded):
            others = sum(1 for event in decoded if not event.verb)
            self._no_events(others, file)
            self.tally.early += len(decoded) - len(events) - others
        if events:
            self.tally.events[file.area] = self.tally.events.get(file.area, 0) + len(events)
        return events

    def _one_by_one(self, block: bytes, file: LogFile) -> list[Any]:
        """For blocks that hold more than events: other lines, or text before each event."""
        decoded = []
        others = 0
        for line in block.split(b"\n"):
            start = line.find(b"{")
            try:
                if start >= 0:
                    decoded.append(self._decode(line[start:]))
                elif line.strip():
                    others += 1
            except _NO_EVENT:
                others += 1
        self._no_events(others, file)
        return decoded

    def _decode(self, line: bytes) -> Any:
        try:
            return self._decoder.decode(line)
        except msgspec.ValidationError:
            if b"null" not in line:
                raise
        # Some programs write null for what an API server leaves out.
        return msgspec.convert(_without_nulls(msgspec.json.decode(line)), self._kind)

    def _no_events(self, number: int, file: LogFile) -> None:
        if number:
            self.tally.other += number
            self.tally.other_first = self.tally.other_first or file.label


def _without_nulls(value: Any) -> Any:
    """The fields that have a value. Raises RecursionError for what is nested too deeply."""
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}


def _open(path: str) -> BinaryIO:
    descriptor = os.open(path, _OPEN)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a file")
    return os.fdopen(descriptor, "rb", buffering=0)
