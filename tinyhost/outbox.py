"""Frames on their way into a pipe that may be full.

A frame goes straight to the pipe when nothing waits before it; only what the pipe does not
take at once is kept and written by a task. A frame that has been begun is always finished.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque

import trio

from .call import Call


class Outbox:
    """Writes to a non-blocking descriptor, which it owns and closes."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._waiting: deque[tuple[memoryview, Call | None]] = deque()
        self._wake = trio.Event()

    @property
    def empty(self) -> bool:
        """Whether the pipe took everything so far."""
        return not self._waiting

    def write(self, frame: bytes, call: Call | None = None) -> None:
        """Write a frame, now or as soon as the pipe takes it. Marks the call as sent."""
        written = 0
        if not self._waiting:
            written = self._write(frame)
        if call is not None and written:
            call.sent = True
        if written < len(frame):
            self._waiting.append((memoryview(frame)[written:], call))
            self._wake.set()

    def _write(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError:
            # The plugin closed its input. What it still says on its output, and how it
            # ends, tells more than this error, so those who watch these decide.
            return len(data)

    def take_back(self, call: Call) -> bool:
        """Forget a call's frame if nothing of it was written. Says whether that was so."""
        if call.sent:
            return False
        for index, (_, owner) in enumerate(self._waiting):
            if owner is call:
                del self._waiting[index]
                return True
        return False

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
            if call is not None and written:
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
