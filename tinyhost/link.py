"""A dialect's side of one plugin process: requests with deadlines, and what goes beside."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import trio

from .connection import Connection
from .model import Manifest, Timeouts

_log = logging.getLogger(__name__)


class PluginLink:
    """Implements dialects.base.Link over a connection."""

    def __init__(
        self,
        connection: Connection,
        directory: str,
        options: Mapping[str, Any],
        timeouts: Timeouts,
        on_changed: Callable[[Manifest], None],
    ) -> None:
        self.plugin = connection.plugin
        self.directory = directory
        self.options = options
        self.timeouts = timeouts
        self.connection = connection
        self._peer = connection.peer
        self._on_changed = on_changed
        # The handshake's deadline, for all its requests together.
        self._ready_by = trio.current_time() + timeouts.handshake
        self._ready = False

    def handshake_done(self) -> None:
        """From now on requests have their own deadlines, and manifests may change."""
        self._ready = True
        # The hot path: one coroutine less for each call.
        self.request = self._peer.call  # type: ignore[method-assign]

    @property
    def stderr(self) -> str:
        """The last of what the process wrote to standard error."""
        return self.connection.log.tail

    async def request(
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
        """Send a request of the handshake and return its result; see Peer.call."""
        timeout = min(timeout, max(0.0, self._ready_by - trio.current_time()))
        return await self._peer.call(
            method,
            params,
            timeout=timeout,
            cap=cap,
            hook=hook,
            at_once=at_once,
            on_progress=on_progress,
            on_sent=on_sent,
        )

    def notify(self, method: str, params: str) -> None:
        """Send a notification; dropped when the plugin does not read."""
        self._peer.notify(method, params)

    def respond(self, frame: bytes) -> None:
        """Send the answer to a request of the plugin's."""
        self._peer.respond(frame)

    def extend(self, id: object, message: str) -> None:
        """Progress of a request."""
        self._peer.extend(id, message)

    def spawn(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task until it ends or the process does; what it raises is only logged."""

        async def run() -> None:
            try:
                await task()
            except Exception:
                _log.exception("a task of plugin %s failed", self.plugin)

        self.connection.spawn(run)

    def log(self, text: str) -> None:
        """Write a line to the plugin's log."""
        self.connection.log.write(text.encode(errors="replace") + b"\n")

    def changed(self, manifest: Manifest) -> None:
        """The plugin offers something else now."""
        if self._ready:
            self._on_changed(manifest)

    def give_up(self, reason: str) -> None:
        """End the process."""
        self.connection.give_up(reason)
