"""What a dialect object speaks through while its plugin is checked: see dialects.base.Link."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import trio

from tinyhost_sdk import wire

from .. import codec
from ..dialects.base import Dialect
from ..errors import CallTimeout, PluginDied, ProtocolError, RemoteError
from ..model import Manifest, Timeouts
from .session import NoAnswer, Session

_META = "_meta"


class RawLink:
    """Implements dialects.base.Link over a Session. Requests are sent at once, side by side.

    patience: seconds that no request waits longer than, whatever its own timeout.
    """

    def __init__(
        self,
        plugin: str,
        dialect: Dialect,
        *,
        directory: str,
        options: Mapping[str, Any],
        timeouts: Timeouts,
        nursery: trio.Nursery,
    ) -> None:
        self.plugin = plugin
        self.directory = directory
        self.options = options
        self.timeouts = timeouts
        self.patience = timeouts.handshake
        self.session: Session  # set as soon as there is one
        self.manifest: Manifest | None = None  # what the plugin changed its offer to
        self._dialect = dialect
        self._nursery = nursery
        self._envelope: dict[str, Any] = {}
        self._unsent: list[trio.Event] = []
        self._progress: dict[int, Callable[[str], None]] = {}
        self._ready_by: float | None = trio.current_time() + timeouts.handshake

    def handshake_done(self) -> None:
        """From now on requests have their own deadlines."""
        self._ready_by = None

    @property
    def stderr(self) -> str:
        """The last of what the process wrote to standard error."""
        return self.session.stderr.decode(errors="replace")

    async def request(
        self,
        method: str,
        params: str,
        *,
        timeout: float,
        cap: float = 0.0,  # noqa: ARG002
        hook: bool = False,  # noqa: ARG002
        at_once: bool = False,  # noqa: ARG002
        on_progress: Callable[[str], None] | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Any:
        """Send a request and return its result. Raises as Peer.call does."""
        seconds = min(timeout, self.patience)
        if self._ready_by is not None:
            seconds = min(seconds, max(0.0, self._ready_by - trio.current_time()))
        if self._ready_by is not None:
            self._learn(params)
        id, frame = self.session.request(method, params)
        if on_sent is not None:
            on_sent(id)
        if on_progress is not None:
            self._progress[id] = on_progress
        try:
            answer = await self._exchange(id, frame, method, seconds)
        except trio.Cancelled:
            self._dialect.cancelled(self, id, method)
            raise
        if answer.error is not None:
            error = answer.error
            raise RemoteError(self.plugin, method, error.code, error.message, error.data)
        return answer.result

    def _learn(self, params: str) -> None:
        """What a wire puts into the params of every request has to be in ours, too."""
        value = codec.loads(params.encode(errors="surrogatepass")) if _META in params else None
        if isinstance(value, dict) and isinstance(value.get(_META), dict):
            self._envelope = {_META: value[_META]}

    def enveloped(self, params: str) -> str:
        """The params of a request that is not the dialect's, with what every request has."""
        if not self._envelope or not params.startswith("{"):
            return params
        return codec.dumps({**codec.loads(params.encode()), **self._envelope})

    async def _exchange(self, id: int, frame: bytes, method: str, seconds: float) -> wire.Response:
        try:
            await self.session.write(frame, seconds=seconds)
            return await self.session.answer(id, method, seconds)
        except NoAnswer as error:
            if error.died:
                raise PluginDied(self.plugin, str(error)) from error
            if error.bad:
                raise ProtocolError(self.plugin, method, str(error)) from error
            raise CallTimeout(self.plugin, method, seconds, sent=True) from error

    def notify(self, method: str, params: str) -> None:
        """Send a notification."""
        self.respond(wire.notification(method, params))

    async def flush(self) -> None:
        """Wait until what was to be sent soon has been."""
        for done in self._unsent:
            await done.wait()
        self._unsent.clear()

    def respond(self, frame: bytes) -> None:
        """Send bytes, soon."""
        done = trio.Event()
        self._unsent.append(done)

        async def write() -> None:
            try:
                await self.session.write(frame, seconds=self.patience)
            finally:
                done.set()

        self.spawn(write)

    def extend(self, id: object, message: str) -> None:
        """Progress of a request: its caller is told."""
        report = self._progress.get(id) if type(id) is int else None
        if report is not None:
            report(message)

    def spawn(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a coroutine function beside the check. What goes wrong in it, shows otherwise."""

        async def run() -> None:
            try:
                await task()
            except Exception as error:
                self.log(f"a task failed: {error}")

        self._nursery.start_soon(run)

    def log(self, text: str) -> None:
        """The dialect has something to say; it goes where standard error goes."""
        self.session.stderr += text.encode(errors="replace") + b"\n"

    def changed(self, manifest: Manifest) -> None:
        """The plugin offers something else now."""
        self.manifest = manifest

    def give_up(self, reason: str) -> None:
        """The dialect would end the process: that is a finding, and goes on."""
        self.session.note_stray(f"what a host gives it up for: it {reason}")
