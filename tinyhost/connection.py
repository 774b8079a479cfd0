"""A plugin's process and the peer on its pipes, from spawn to the last of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable

import trio

from tinyhost_sdk import wire

from .call import Call
from .dialects.base import Conduct
from .errors import OutcomeUncertain, PluginDied
from .peer import Peer
from .pluginlog import PluginLog
from .process import Process, read_rest

_STDERR_CHUNK = 64 * 1024
# How long standard error is still read after the process has ended. A grandchild may hold
# the pipe open for ever.
_STDERR_GRACE = 0.25
# A process that ends closes its output first; how long it may take to end after that.
_EXIT_GRACE = 0.5
# Between SIGTERM and SIGKILL, on top of the grace that end-of-file was given.
TERM_GRACE = 1.0


class Connection:
    """One life of one plugin. `run` watches it; the others may be called meanwhile.

    clean_up is awaited when the process and its group are dead, before it is reaped: it ends
    what has left the group.
    """

    def __init__(
        self,
        plugin: str,
        process: Process,
        conduct: Conduct,
        log: PluginLog,
        *,
        clean_up: Callable[[], Awaitable[None]],
        on_notification: Callable[[wire.Notification], None],
        on_request: Callable[[wire.Request], bool],
        on_abandoned: Callable[[Call], None],
    ) -> None:
        self.plugin = plugin
        self.process = process
        self.log = log
        self._clean_up = clean_up
        self.peer = Peer(
            plugin,
            process.to_plugin,
            process.from_plugin,
            conduct,
            on_notification=on_notification,
            on_request=on_request,
            on_abandoned=on_abandoned,
            on_broken=self.give_up,
        )
        self.broken: str | None = None  # why the peer was given up, in words
        self.usable = True  # neither given up nor ended
        self._broke = trio.Event()
        self.given_up = False  # and that is why it ended
        self._nursery: trio.Nursery | None = None
        self._early: list[Callable[[], Awaitable[None]]] = []  # tasks from before `run`
        self._stderr_ended = trio.Event()
        self.ended = trio.Event()

    @property
    def status(self) -> str:
        """How the plugin came to its end, in words that follow its name."""
        status = self.process.status or "is gone"
        # A process that ends by itself closes its pipes, too, which is no news then.
        if self.broken and (self.given_up or self.broken.startswith("was ")):
            return f"{self.broken} and {status}"
        return status

    def _tasks(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        peer = self.peer
        own = (self._copy_stderr, self._kill_when_broken)
        return (peer.run_reader, peer.run_writer, peer.run_sweeper, *own)

    async def run(self) -> None:
        """Do all that goes on beside the calls, until the process is gone."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                for task in (*self._early, *self._tasks()):
                    nursery.start_soon(_uninterrupted, task)
                await self.process.wait()
                # What it started must not outlive it, nor hold its pipes.
                self.process.signal_group(signal.SIGKILL)
                await self.peer.drain()
                with trio.move_on_after(_STDERR_GRACE):
                    await self._stderr_ended.wait()
                await self._clean_up()
                nursery.cancel_scope.cancel()
        finally:
            self._finish()

    def _finish(self) -> None:
        self.usable = False
        try:
            self.process.reap()
            for data in read_rest(self.process.stderr):
                self.log.write(data)
            self.log.close()
            os.close(self.process.stderr)
            self.peer.fail(self.death)
        finally:
            self.ended.set()  # a stop waits for it

    def death(self, call: Call | None = None) -> PluginDied:
        """The error that a call ends with when the plugin dies."""
        if call is not None and call.sent and not call.hook:
            return OutcomeUncertain(self.plugin, self.status, stderr=self.log.tail)
        return PluginDied(self.plugin, self.status, stderr=self.log.tail)

    def give_up(self, reason: str) -> None:
        """End the process soon; `reason` follows the plugin's name in words."""
        self.usable = False
        if self.broken is None:
            self.broken = reason
            self._broke.set()

    def spawn(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task until it ends or the process does."""
        if self._nursery is None:
            self._early.append(task)
        elif not self._nursery.cancel_scope.cancel_called:
            self._nursery.start_soon(_uninterrupted, task)

    async def _kill_when_broken(self) -> None:
        await self._broke.wait()
        if self.peer.output_ended or self.peer.input_ended:
            await trio.sleep(_EXIT_GRACE)
        self.given_up = True
        self.process.signal_group(signal.SIGKILL)

    async def _copy_stderr(self) -> None:
        while True:
            await trio.lowlevel.wait_readable(self.process.stderr)
            try:
                data = os.read(self.process.stderr, _STDERR_CHUNK)
            except OSError:
                data = b""
            if not data:
                self._stderr_ended.set()
                return
            self.log.write(data)

    async def stop(self, grace: float) -> None:
        """End the process: end-of-file, then SIGTERM, then SIGKILL to its whole group.

        Takes at most grace + TERM_GRACE seconds and what the system needs to kill.
        """
        self.peer.close_input()
        with trio.move_on_after(grace):
            await self.ended.wait()
            return
        self.process.signal_group(signal.SIGTERM)
        with trio.move_on_after(min(grace, TERM_GRACE)):
            await self.ended.wait()
            return
        await self.kill()

    async def kill(self) -> None:
        """End the process and its group at once."""
        self.process.signal_group(signal.SIGKILL)
        await self.ended.wait()


@trio.lowlevel.enable_ki_protection
async def _uninterrupted(task: Callable[[], Awaitable[None]]) -> None:
    """Run a task that a Ctrl+C must not end: without it nobody would see the process end."""
    await task()
