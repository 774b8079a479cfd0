"""Server-sent events: bytes to events. Pure: no I/O."""

from __future__ import annotations

import re

import attrs

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_LONGEST_RETRY = 10 * 60 * 1000


@attrs.frozen
class Event:
    """One event. id: the last one that was named, "" for none. retry: milliseconds or None."""

    data: bytes
    kind: str
    id: str
    retry: int | None


class EventParser:
    """Takes bytes in chunks cut anywhere. max_event: bytes in one event, lines included."""

    def __init__(self, max_event: int) -> None:
        self._max = max_event
        self._pieces: list[bytes] = []  # of a line that has not ended
        self._after_cr = False
        self._first = True
        self._size = 0  # of the event so far
        self._data: list[bytes] = []
        self._kind = ""
        self._id = ""
        self._retry: int | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that the bytes complete. Raises ValueError for one too long."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        events: list[Event] = []
        *lines, rest = _LINE_END.split(data)
        for line in lines:
            if self._pieces:
                line = b"".join((*self._pieces, line))
                self._size -= sum(map(len, self._pieces))
                self._pieces.clear()
            self._take_line(line, events)
        if rest:
            self._pieces.append(rest)
            self._grow(len(rest))
        return events

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._max:
            raise ValueError(f"an event is longer than {self._max} bytes")

    def _take_line(self, line: bytes, events: list[Event]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            self._end_event(events)
            return
        self._grow(len(line) + 1)
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._kind = value.decode(errors="replace")
        elif field == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif field == b"retry" and value.isdigit() and len(value) < 12:
            self._retry = min(int(value), _LONGEST_RETRY)

    def _end_event(self, events: list[Event]) -> None:
        data = b"\n".join(self._data)
        if self._data or self._retry is not None:
            events.append(Event(data, self._kind or "message", self._id, self._retry))
        self._data, self._kind, self._retry, self._size = [], "", None, 0
