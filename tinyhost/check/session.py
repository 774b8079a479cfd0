"""One process of a plugin under test, and raw lines to it and from it.

It does not go through Peer, because it must be able to send what the host never would, and
to see all that comes back. What is kept of the plugin's output is bounded.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import trio

from tinyhost_sdk import wire

from .. import codec
from ..process import Process, read_rest

_CHUNK = 64 * 1024
_MAX_BYTES = 64 * 1024 * 1024  # of one process's output; more is not read
_SHOWN = 300  # characters of a line in a report
_LINES_SHOWN = 12  # of each direction
_STRAYS_KEPT = 20
_STDERR_KEPT = 4096
_DRAIN = 0.25  # seconds; a grandchild may hold the pipe open for ever


class NoAnswer(Exception):
    """A request was not answered.

    died: the plugin's output has ended. bad: there was an answer, which is none.
    """

    def __init__(self, text: str, *, died: bool = False, bad: bool = False) -> None:
        self.died, self.bad = died, bad
        super().__init__(text)


class Session:
    """See the module. `run_reader` and `run_stderr` must run in the background.

    on_message gets notifications and requests, and says whether they belong to the wire.
    mark: the id that the process and its children carry in their environment.
    """

    def __init__(
        self,
        process: Process,
        rules: wire.Rules,
        mark: str,
        on_message: Callable[[wire.Notification | wire.Request], bool],
    ) -> None:
        self.process = process
        self.mark = mark
        self.sent: list[str] = []
        self.received: list[str] = []
        self.strays: list[str] = []
        self.notifications: list[wire.Notification] = []
        self.stderr = b""
        self.reading = trio.Event()  # exchanged for a fresh one while the host does not read
        self.reading.set()
        self._on_message = on_message
        self._receiver = wire.Receiver(rules, codec.loads)
        self._partial = b""
        self._answers: dict[int, wire.Response | wire.Junk] = {}
        self._asked: set[int] = set()
        self._last_id = 0
        self._size = 0  # of what was read
        self._arrived = trio.Event()
        self._output_ended = trio.Event()
        self._input_open = True
        self._writing = trio.Lock()

    # --- writing

    def next_id(self) -> int:
        """A fresh id."""
        self._last_id += 1
        return self._last_id

    def request(self, method: str, params: str, id: int | None = None) -> tuple[int, bytes]:
        """A request line, and the id whose answer is expected. Nothing is sent."""
        id = self.next_id() if id is None else id
        self._asked.add(id)
        return id, wire.request(id, method, params)

    async def write(self, data: bytes, *, seconds: float, pause: float | None = None) -> None:
        """Send bytes as they are. pause: one at a time, and seconds to wait after each.

        Raises NoAnswer when the plugin does not take them.
        """
        _show(self.sent, data)
        step = len(data) if pause is None else 1
        view = memoryview(data)
        with trio.move_on_after(seconds):
            async with self._writing:
                while view:
                    view = view[await self._write_some(view[:step]) :]
                    if pause:
                        await trio.sleep(pause)
            return
        raise NoAnswer(
            f"it stopped reading: {len(data) - len(view)} of {len(data)} bytes were taken within"
            f" {seconds:g} s"
        )

    async def _write_some(self, data: memoryview) -> int:
        while True:
            if not self._input_open:
                raise NoAnswer("its standard input was closed already", died=True)
            try:
                return os.write(self.process.to_plugin, data)
            except BlockingIOError:
                with contextlib.suppress(trio.ClosedResourceError):
                    await trio.lowlevel.wait_writable(self.process.to_plugin)
            except OSError:
                raise NoAnswer(
                    await self._gone("it closed its standard input"), died=True
                ) from None

    def close_input(self) -> None:
        """Let the plugin see end-of-file."""
        if self._input_open:
            self._input_open = False
            trio.lowlevel.notify_closing(self.process.to_plugin)
            os.close(self.process.to_plugin)

    # --- reading

    def pause(self) -> None:
        """Do not read any more until `reading` is set."""
        self.reading = trio.Event()

    async def run_reader(self) -> None:
        """Read until the plugin closes its output, or has written far too much."""
        fd = self.process.from_plugin
        while self._size < _MAX_BYTES:
            await self.reading.wait()
            await trio.lowlevel.wait_readable(fd)
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                break
            self._hear(data)
        else:
            self.note_stray("more output than is read: a flood")
        self._take(self._receiver.feed_eof())
        self._note(b"\n" if self._partial else b"")
        self._output_ended.set()
        self._wake()

    def _hear(self, data: bytes) -> None:
        self._size += len(data)
        self._note(data)
        self._take(self._receiver.feed(data))

    async def run_stderr(self) -> None:
        """Keep the last of what the plugin writes to standard error."""
        fd = self.process.stderr
        while True:
            await trio.lowlevel.wait_readable(fd)
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not data:
                return
            self._keep_stderr(data)

    def _keep_stderr(self, data: bytes) -> None:
        self.stderr = (self.stderr + data)[-_STDERR_KEPT:]

    def _note(self, data: bytes) -> None:
        """Keep the beginnings of the lines as they came, for the report."""
        if len(self.received) > _LINES_SHOWN:
            return
        *lines, rest = (self._partial + data[: 2 * _CHUNK]).split(b"\n")
        self._partial = rest[: 4 * _SHOWN]
        for line in lines:
            _show(self.received, line)

    def _take(self, messages: list[wire.Message]) -> None:
        for message in messages:
            if isinstance(message, wire.Response):
                self._take_answer(message.id, message)
            elif isinstance(message, wire.Junk):
                self._take_junk(message)
            else:
                if isinstance(message, wire.Notification) and len(self.notifications) < 10_000:
                    self.notifications.append(message)
                if not self._on_message(message):
                    kind = type(message).__name__.lower()
                    self.note_stray(f"a {kind} that its wire does not have: {message.method:.80}")
        self._wake()

    def _take_answer(self, id: int | str, answer: wire.Response | wire.Junk) -> None:
        if type(id) is not int or id not in self._asked:
            self.note_stray(f"an answer to no request, with the id {id!r:.60}")
        elif id in self._answers:
            self.note_stray(f"a second answer to the request {id}")
        else:
            self._answers[id] = answer

    def _take_junk(self, junk: wire.Junk) -> None:
        if type(junk.id) is int and junk.id in self._asked and junk.id not in self._answers:
            self._answers[junk.id] = junk
        else:
            text = junk.head.decode(errors="replace")
            self.note_stray(f"{junk.reason}: {text:.120}")

    def note_stray(self, text: str) -> None:
        """Keep what has no place on the plugin's output."""
        if len(self.strays) < _STRAYS_KEPT:
            self.strays.append(text)

    def _wake(self) -> None:
        self._arrived.set()
        self._arrived = trio.Event()

    async def answer(self, id: int, what: str, seconds: float) -> wire.Response:
        """Wait for the answer to a request; `what` names it in errors. Raises NoAnswer."""
        with trio.move_on_after(seconds):
            while id not in self._answers and not self._output_ended.is_set():
                await self._arrived.wait()
        answer = self._answers.get(id)
        if isinstance(answer, wire.Response):
            return answer
        if answer is not None:
            raise NoAnswer(f"its answer to {what} is none: {answer.reason}", bad=True)
        if self._output_ended.is_set():
            raise NoAnswer(await self._gone(f"it ended before it answered {what}"), died=True)
        said = f"; in its place came {self.strays[-1]}" if self.strays else ""
        raise NoAnswer(f"no answer to {what} within {seconds:.3g} s{said}")

    async def _gone(self, text: str) -> str:
        if not await self.exited(_DRAIN):
            return f"{text} (it still runs)"
        status = self.status()
        for data in read_rest(self.process.stderr):
            self._keep_stderr(data)
        tail = self.stderr.decode(errors="replace").strip().splitlines()[-3:]
        said = f"; its standard error ends: {' | '.join(tail):.400}" if tail else ""
        return f"{text} ({status}{said})"

    # --- the end

    def status(self) -> str:
        """How the process ended, in words. Only once it has."""
        self.process.reap()
        return f"it {self.process.status}"

    async def exited(self, seconds: float) -> bool:
        """Wait for the process to end, no longer than that."""
        with trio.move_on_after(seconds):
            await self.process.wait()
            return True
        return False

    async def drain(self) -> None:
        """Read what an ended process has left in the pipe."""
        with trio.move_on_after(_DRAIN):
            await self._output_ended.wait()
            return
        for data in read_rest(self.process.from_plugin):
            self._hear(data)

    def close(self) -> None:
        """Kill what is left and close the pipes. The background tasks must have ended."""
        self.process.reap()
        self.close_input()
        os.close(self.process.from_plugin)
        os.close(self.process.stderr)


def _show(lines: list[str], data: bytes) -> None:
    if len(lines) == _LINES_SHOWN:
        lines.append("...")
    if len(lines) > _LINES_SHOWN:
        return
    text = data[: 4 * _SHOWN].decode(errors="replace")
    if len(data) > 4 * _SHOWN or len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}... [{len(data)} bytes]"
    lines.append(text.removesuffix("\n"))
