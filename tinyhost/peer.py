"""The host's end of one plugin's pipes: many calls in flight, matched by id.

The price of a call is scheduler passes, so a call makes no task, lock, channel, event or
cancel scope. Its frame goes straight to the pipe when nothing is queued. Its deadline
stands in the table of pending calls, where one sweeper task finds it. And the task that
waits for the answer reads the pipe itself when nobody else does (it leads), which saves
waking it from another task. The reader task takes over whenever the leader leaves while
others still wait, and it watches the pipe when all is quiet.

A deadline covers queueing, writing and reading. A frame that has begun to be written is
always written to its end, because half a line would ruin every later one.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import trio

from tinyhost_sdk import wire

from . import codec
from .call import Call
from .dialects.base import Conduct
from .errors import CallTimeout, FrameTooLarge, PluginError, ProtocolError, RemoteError
from .outbox import Outbox
from .process import PIPE_MOST

# Short lines of junk cost the most for their length, a few milliseconds for a chunk of this
# size. So much, or so many seconds, are read in a row; then others get a turn.
_CHUNK = 16 * 1024
_READS_IN_A_ROW = 64
_TURN = 0.005
# How long the reader leaves the pipe to the callers after an answer. Taking the pipe back
# costs a caller more than all else, so it is done only when calls have stopped coming.
_QUIET = 0.02
# A pass through trio's scheduler takes as long as a quick plugin's answer. So while a plugin
# is known to be quick, and has one call under way, its caller waits for it in the kernel, no
# longer than this; one wait in vain and it goes through the scheduler until it is quick again.
_PATIENCE = 0.0002
# And the scheduler gets its turn at least this often, whatever a caller does in a loop.
_YIELD_AFTER = 0.001
_EXPIRED_KEPT = 1024
_UNREAD_KEPT = 1024  # frames in the outbox; a plugin may ask and ask, and read no answer


class Peer:
    """Calls over a pair of non-blocking pipe ends, which it owns and closes.

    on_notification and on_request get what the plugin sends unasked; on_request says whether
    it knows such requests. on_broken is called when the plugin has closed its output, or has
    done what its conduct ends it for.
    """

    def __init__(
        self,
        plugin: str,
        to_plugin: int,
        from_plugin: int,
        conduct: Conduct,
        *,
        on_notification: Callable[[wire.Notification], None],
        on_request: Callable[[wire.Request], bool],
        on_abandoned: Callable[[Call], None],
        on_broken: Callable[[str], None],
    ) -> None:
        self.plugin = plugin
        self.concurrency = 1
        self.max_line_out = conduct.max_line_out
        self.junk_lines = 0
        self.late_replies = 0
        self.notifications = 0  # read
        self.unsent = 0  # notifications and answers that the plugin was not there to read
        self.timeouts_in_row = 0
        self.last_junk: wire.Junk | None = None
        self._outbox = Outbox(to_plugin, self._input_closed)
        self.run_writer = self._outbox.run
        self._from = from_plugin
        self._conduct = conduct
        self._receiver = wire.Receiver(conduct.rules, codec.loads)
        self._on_notification = on_notification
        self._on_request = on_request
        self._on_abandoned = on_abandoned
        self._on_broken = on_broken
        self._last_id = 0
        self._pending: dict[int, Call] = {}  # sent, not answered, not expired
        self._expired: dict[int, None] = {}  # ids of calls that nobody waits for any more
        self._waiting_hooks: deque[Call] = deque()
        self._waiting_tools: deque[Call] = deque()
        self._broken: Callable[[Call], PluginError] | None = None
        self.output_ended = False  # the plugin will say no more
        self.input_ended = False  # the plugin will hear no more
        self._leading = False  # a caller waits for the pipe
        self._standby = True  # the reader leaves the pipe to callers
        self._calls_seen = False
        self._quick = False
        self._yield_at = 0.0
        self._wake_reader = trio.Event()
        self._wake_sweeper = trio.Event()
        self._sweep_at = math.inf

    @property
    def in_flight(self) -> int:
        """Calls that were sent and have neither been answered nor expired."""
        return len(self._pending)

    @property
    def queued(self) -> int:
        """Calls that wait behind others."""
        return len(self._waiting_hooks) + len(self._waiting_tools)

    # --- calling

    async def call(
        self,
        method: str,
        params: str,
        *,
        timeout: float,
        cap: float = 0.0,
        hook: bool = False,
        at_once: bool = False,
        on_progress: Callable[[str], None] | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Any:
        """Send a request and return its result.

        timeout: seconds from now until CallTimeout; progress starts it anew, up to `cap`.
        hook: goes before waiting calls that are not hooks.
        at_once: is sent even if the plugin is busy with other calls.
        on_sent: gets the request's id before it is written.

        Raises CallTimeout, RemoteError, ProtocolError, FrameTooLarge, or the error that the
        peer was broken with.
        """
        self._last_id += 1
        frame = wire.request(self._last_id, method, params)
        if 0 < self.max_line_out < len(frame):
            raise FrameTooLarge(self.plugin, method, len(frame), self.max_line_out, outgoing=True)
        call = Call(self._last_id, method, frame, timeout, cap, hook)
        call.on_progress = on_progress
        if on_sent is not None:
            on_sent(call.id)
        if self._broken is not None:
            raise self._broken(call)
        if call.deadline < self._sweep_at:
            self._wake_sweeper.set()
        if at_once or len(self._pending) < self.concurrency:
            self._send(call)
        else:
            (self._waiting_hooks if hook else self._waiting_tools).append(call)
        try:
            while not call.done:
                if not self._standby or self._leading or self.output_ended:
                    await call.park()
                elif not self._quick or not await self._read_soon():
                    await self._lead()
        except BaseException:
            self._abandon(call)
            raise
        finally:
            if self._pending and self._standby and not self._leading:
                # Others still wait, and this caller may have been the one who read.
                self._standby = False
                self._wake_reader.set()
        if call.error is not None:
            raise call.error
        return call.result

    async def _lead(self) -> None:
        self._calls_seen = True
        self._leading = True
        began = time.perf_counter()
        try:
            await trio.lowlevel.wait_readable(self._from)
        except trio.ClosedResourceError:
            return  # woken by the sweeper, or broken: the caller looks again
        finally:
            self._leading = False
        now = time.perf_counter()
        self._quick = now - began < _PATIENCE
        self._yield_at = now + _YIELD_AFTER
        self._read()

    async def _read_soon(self) -> bool:
        """Wait in the kernel, with everything else of this thread, for a quick answer."""
        if len(self._pending) != 1 or time.perf_counter() > self._yield_at:
            return False
        await trio.lowlevel.checkpoint_if_cancelled()
        self._calls_seen = True
        try:
            ready, _, _ = select.select([self._from], [], [], _PATIENCE)
        except (OSError, ValueError):  # a descriptor too great for select
            return False
        if ready:
            self._read()
        return bool(ready)

    def _abandon(self, call: Call) -> None:
        """The caller was cancelled. A sent call holds its place until its deadline."""
        if call.done:
            return
        if call.id in self._pending and not self._outbox.take_back(call):
            call.abandoned = True
            self._on_abandoned(call)
            if self._conduct.cancel_retires:
                self._on_broken("was retired because a call was cancelled")
            return
        call.finish(None)
        if self._pending.pop(call.id, None) is None:
            self._forget_waiting(call)
        self._send_waiting()

    def _forget_waiting(self, call: Call) -> None:
        queue = self._waiting_hooks if call.hook else self._waiting_tools
        with contextlib.suppress(ValueError):
            queue.remove(call)

    def _send(self, call: Call) -> None:
        self._pending[call.id] = call
        self._outbox.write(call.frame, call)

    def respond(self, frame: bytes) -> None:
        """Send the answer to a request of the plugin's; dropped when it reads none of them."""
        if self._broken is None and self._outbox.waiting < _UNREAD_KEPT:
            self._outbox.write(frame)
        else:
            self.unsent += 1

    def notify(self, method: str, params: str) -> None:
        """Send a notification, or drop it when the plugin is not reading."""
        if self._broken is None and self._outbox.empty:
            self._outbox.write(wire.notification(method, params))
        else:
            self.unsent += 1

    def _input_closed(self) -> None:
        self.input_ended = True
        self._on_broken("closed its standard input")

    # --- reading

    async def drain(self) -> None:
        """Take what the pipe holds, without waiting for more.

        As much as a pipe can hold, in turns, and not as much as there is time for: on a machine
        that stands still for a moment a last answer would be lost.
        """
        for _ in range(PIPE_MOST // _CHUNK):
            if not self._read():
                return
            await trio.lowlevel.checkpoint()

    def _read(self) -> bool:
        """Read for a turn; whether there may be more."""
        stop_at = 0.0
        for _ in range(_READS_IN_A_ROW):
            if self.output_ended or self._broken is not None:
                return False
            try:
                data = os.read(self._from, _CHUNK)
            except BlockingIOError:
                return False
            except OSError:
                data = b""
            if not data:
                self._end_of_output()
                return False
            for message in self._receiver.feed(data):
                self._take(message)
            if len(data) < _CHUNK:
                return False
            now = time.perf_counter()
            stop_at = stop_at or now + _TURN
            if now > stop_at:
                break
        return True

    def _end_of_output(self) -> None:
        self.output_ended = True
        for message in self._receiver.feed_eof():
            self._take(message)
        self._on_broken("closed its standard output")

    async def run_reader(self) -> None:
        """Read whenever no caller does, until the plugin closes its output."""
        while not self.output_ended and self._broken is None:
            if self._standby:
                await self._stand_by()
            else:
                await self._read_once()

    async def _stand_by(self) -> None:
        self._calls_seen = False
        with trio.move_on_after(_QUIET):
            await self._wake_reader.wait()
        if self._wake_reader.is_set():
            self._wake_reader = trio.Event()
        elif not self._calls_seen and not self._leading:
            self._standby = False

    async def _read_once(self) -> None:
        try:
            await trio.lowlevel.wait_readable(self._from)
        except trio.ClosedResourceError:
            return
        self._read()
        if not self._pending:
            self._standby = True

    def _take(self, message: wire.Message) -> None:
        if type(message) is wire.Response:
            self._take_reply(message)
        elif type(message) is wire.Junk:
            self._take_junk(message)
        elif type(message) is wire.Notification:
            self.notifications += 1
            self._on_notification(message)
        elif type(message) is wire.Request and not self._on_request(message):
            # Where the wire has no requests from plugins, an answer with our own ids in use
            # could itself be taken for a request, and be answered in turn.
            self._count_junk(wire.Junk("a request from the plugin", b"", 0))

    def _take_reply(self, reply: wire.Response) -> None:
        call = self._settle(reply.id)
        if call is None:
            return
        error = reply.error
        if error is None:
            call.finish(reply.result)
        else:
            told = RemoteError(self.plugin, call.method, error.code, error.message, error.data)
            call.finish(None, told)

    def _take_junk(self, junk: wire.Junk) -> None:
        self._count_junk(junk)
        id = junk.id
        if id is None and junk.oversize and len(self._pending) == 1:
            (id,) = self._pending
        call = None if id is None else self._settle(id)
        if call is None:
            return
        if junk.oversize:
            limit = self._receiver.rules.max_line
            told = FrameTooLarge(self.plugin, call.method, junk.size, limit, outgoing=False)
            call.finish(None, told)
        else:
            call.finish(None, ProtocolError(self.plugin, call.method, junk.reason))

    def _count_junk(self, junk: wire.Junk) -> None:
        self.junk_lines += 1
        self.last_junk = junk
        if self._conduct.junk_retires:
            self._on_broken(f"was retired because it broke the rules of its wire: {junk.reason}")

    def _settle(self, id: int | str) -> Call | None:
        """An answer came: give back the call that waits for it, and send the next one."""
        call = self._pending.pop(id, None)  # type: ignore[arg-type]
        if call is None:
            if id in self._expired:
                del self._expired[id]
                self.late_replies += 1
            else:
                self._count_junk(wire.Junk(f"a reply to no request (id {id!r:.40})", b"", 0))
            return None
        self.timeouts_in_row = 0
        self._send_waiting()
        if call.abandoned:
            self.late_replies += 1
            return None
        return call

    def _send_waiting(self) -> None:
        while len(self._pending) < self.concurrency:
            if self._waiting_hooks:
                call = self._waiting_hooks.popleft()
            elif self._waiting_tools:
                call = self._waiting_tools.popleft()
            else:
                return
            call.given = trio.current_time()
            self._send(call)

    # --- deadlines

    def extend(self, id: object, message: str) -> None:
        """Progress was reported for a call: its deadline starts anew, up to its cap."""
        call = self._pending.get(id) if type(id) is int else None
        if call is None:
            return
        call.deadline = min(trio.current_time() + call.timeout, call.cap)
        if call.on_progress is not None:
            try:
                call.on_progress(message)
            except Exception as error:
                self._give_up_on(call, error)

    def _give_up_on(self, call: Call, error: Exception) -> None:
        """What a caller was told of its call's progress made it fail: it alone is to hear."""
        del self._pending[call.id]
        self._forget_answer(call)
        call.finish(None, error)
        self._wake_leader()
        self._on_abandoned(call)
        self._send_waiting()

    async def run_sweeper(self) -> None:
        """End calls whose deadline has passed. Runs until cancelled."""
        while True:
            now = trio.current_time()
            if any(call.deadline <= now for call in self._pending.values()):
                # The host may be the one that is late: what came in time is in the pipe then.
                await self.drain()
                self._wake_leader()
            self._sweep(now)
            deadlines = [call.deadline for call in self._all_calls()]
            self._sweep_at = min(deadlines, default=math.inf)
            with trio.CancelScope(deadline=self._sweep_at):
                await self._wake_sweeper.wait()
            self._wake_sweeper = trio.Event()

    def _all_calls(self) -> list[Call]:
        return [*self._pending.values(), *self._waiting_hooks, *self._waiting_tools]

    def _sweep(self, now: float) -> None:
        for call in self._all_calls():
            if call.deadline <= now and not call.done:
                self._expire(call)
        self._send_waiting()

    def _expire(self, call: Call) -> None:
        if call.id in self._pending:
            del self._pending[call.id]
            if not self._outbox.take_back(call):
                call.sent = True
                self._forget_answer(call)
            self._count_timeout(call)
        else:
            self._forget_waiting(call)
        seconds = call.timeout
        call.finish(None, CallTimeout(self.plugin, call.method, seconds, sent=call.sent))
        self._wake_leader()

    def _wake_leader(self) -> None:
        """Whose call has ended may be the one that waits for the pipe."""
        if self._leading:
            trio.lowlevel.notify_closing(self._from)

    def _count_timeout(self, call: Call) -> None:
        """Count it if the plugin had a fair time to answer, and not what a queue left of it.

        Also when nothing was written: then the plugin did not read all that time.
        """
        if call.deadline - call.given < call.timeout / 4:
            return
        self.timeouts_in_row += 1
        if self.timeouts_in_row == self._conduct.wedged_after:
            self._on_broken(f"was given up after {_times(self.timeouts_in_row)}")

    def _forget_answer(self, call: Call) -> None:
        """Nobody will wait for the answer to this call, and it is no junk if it comes."""
        self._expired[call.id] = None
        if len(self._expired) > _EXPIRED_KEPT:
            del self._expired[next(iter(self._expired))]

    # --- the end

    def close_input(self) -> None:
        """Let the plugin see end-of-file."""
        self._outbox.close()

    def fail(self, make_error: Callable[[Call], PluginError]) -> None:
        """End all calls, now and later, with the error made for each. Closes the pipes."""
        if self._broken is not None:
            return
        self._broken = make_error
        calls = self._all_calls()
        self._pending.clear()
        self._waiting_hooks.clear()
        self._waiting_tools.clear()
        for call in calls:
            if not call.done:
                call.finish(None, make_error(call))
        self.close_input()
        trio.lowlevel.notify_closing(self._from)
        os.close(self._from)


def _times(timeouts: int) -> str:
    return "a timeout" if timeouts == 1 else f"{timeouts} timeouts in a row"
