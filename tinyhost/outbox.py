"""Frames on their way into a pipe that may be full.

A frame goes straight to the pipe when nothing waits before it; only what the pipe does not
take at once is kept and written by a task. A frame that has been begun is always finished.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable

import trio

from .call import Call


class Outbox:
    """Writes to a non-blocking descriptor, which it owns and closes.

    on_closed is called when a frame finds that nobody reads the pipe any more.
    """

    def __init__(self, fd: int, on_closed: Callable[[], None]) -> None:
        self._fd = fd
        self._on_closed = on_closed
        self._unread = False  # nobody has the other end open
        self._waiting: deque[tuple[memoryview, Call | None]] = deque()
        self._wake = trio.Event()

    @property
    def empty(self) -> bool:
        """Whether the pipe took everything so far."""
        return not self._waiting

    @property
    def waiting(self) -> int:
        """Frames that the pipe has not taken yet."""
        return len(self._waiting)

    def write(self, frame: bytes, call: Call | None = None) -> None:
        """Write a frame, now or as soon as the pipe takes it. Marks the call as sent."""
        written = 0
        if not self._waiting:
            written = self._write(frame)
        if call is not None and written and not self._unread:
            call.sent = True
        if written < len(frame):
            self._waiting.append((memoryview(frame)[written:], call))
            self._wake.set()

    def _write(self, data: bytes | memoryview) -> int:
        if self._fd < 0:
            return len(data)
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError:
            # The plugin closed its input, or is dying. Nothing of this was seen.
            self._unread = True
            self._on_closed()
            return len(data)

    def take_back(self, call: Call) -> bool:
        """Forget a call's frame if nothing of it was written. Says whether that was so."""
        if call.sent:
            return False
        for index, (_, owner) in enumerate(self._waiting):
            if owner is call:
                del self._waiting[index]
                return True
        return self._unread or self._fd < 0

    async def run(self) -> None:
        """Write what had to wait. Runs until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            with contextlib.suppress(trio.ClosedResourceError):
                while self._waiting:
                    await trio.lowlevel.wait_writable(self._fd)
                    self._write_waiting()

    def _write_waiting(self) -> None:
        while self._waiting:
            rest, call = self._waiting[0]
            written = self._write(rest)
            if call is not None and written and not self._unread:
                call.sent = True
            if written < len(rest):
                self._waiting[0] = (rest[written:], call)
                return
            self._waiting.popleft()

    def close(self) -> None:
        """Let the plugin see end-of-file. A second close does nothing."""
        if self._fd >= 0:
            self._waiting.clear()
            trio.lowlevel.notify_closing(self._fd)
            os.close(self._fd)
            self._fd = -1
