"""A dialect's side of an MCP server behind HTTP: each message is a request of its own.

Up to MCP 2025-11-25 the server may name a session and say more on a stream of its own. From
2026-07-28 there is neither, and headers repeat what the body says.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2
import trio

from tinyhost_sdk import wire

from .. import codec
from ..dialects.mcp import CONCURRENCY, Mcp
from ..dialects.mcp_revisions import INITIALIZE, VERSION_KEY
from ..errors import (
    CallTimeout,
    FrameTooLarge,
    OutcomeUncertain,
    PluginDied,
    PluginError,
    ProtocolError,
    RemoteError,
    cut,
)
from ..model import Manifest, Timeouts
from ..pluginlog import PluginLog
from . import headers as mirror
from .endpoint import EVENTS, JSON, Endpoint, consume, content_type, read
from .http_call import (
    NOT_SENT,
    SESSION,
    Call,
    Events,
    SessionLost,
    read_session_id,
    refusal,
)
from .outgoing import Outgoing
from .sse import EventParser
from .unasked import Unasked

_log = logging.getLogger(__name__)

_REVISION = "mcp-protocol-version"
_MAX_REFUSAL = 64 * 1024  # bytes read of an answer that is an error
_MAX_RESUMED = 5  # times that an answer's broken stream is taken up again
_WEDGED_AFTER = 3


class HttpLink:
    """Implements dialects.base.Link. `run` does what goes on beside the calls.

    on_broken: called once when the server is given up, with the reason in words that follow
    the plugin's name.
    """

    def __init__(
        self,
        plugin: str,
        endpoint: Endpoint,
        dialect: Mcp,
        *,
        directory: str,
        options: Mapping[str, Any],
        timeouts: Timeouts,
        log: PluginLog,
        max_message: int,
        on_changed: Callable[[Manifest], None],
        on_broken: Callable[[str], None],
    ) -> None:
        self.plugin = plugin
        self.directory = directory
        self.options = options
        self.timeouts = timeouts
        self.session_id = ""
        self.broken: str | None = None
        self.timeouts_in_row = 0
        self.junk = 0
        self._endpoint = endpoint
        self._dialect = dialect
        self._log = log
        self._rules = dialect.conduct(max_message).rules
        self._max_out = dialect.conduct(max_message).max_line_out
        self._on_changed = on_changed
        self._on_broken = on_broken
        self._ready_by = trio.current_time() + timeouts.handshake
        self._ready = False
        self._last_id = 0
        self._calls: dict[int, Call] = {}
        self._limiter = trio.Semaphore(CONCURRENCY)
        self._outgoing = Outgoing(self._post)
        self._early: list[Callable[[], Awaitable[None]]] = []
        self._nursery: trio.Nursery | None = None
        self._closed = trio.Event()
        self._ended = trio.Event()  # of all that goes on beside the calls
        self._unasked = Unasked(endpoint, self._headers, self._take_events, self.log)

    # --- the life of it

    async def run(self) -> None:
        """Do what goes on beside the calls, until the link is closed."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(self._outgoing.run)
                for task in self._early:
                    nursery.start_soon(task)
                await self._closed.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._ended.set()

    async def handshake_done(self) -> None:
        """From now on requests have their own deadlines, and manifests may change.

        Up to 2025-11-25 what the server says unasked is lost until there is a stream for it.
        """
        self._ready = True
        if not self._modern:
            self.spawn(self._unasked.run)
            await self._unasked.tried()

    async def close(self, reason: str) -> None:
        """End all calls and tasks, and wait for the tasks."""
        self.broken = self.broken or reason
        self._closed.set()
        for call in self._calls.values():
            call.scope.cancel()
        with trio.CancelScope(shield=True):
            await self._ended.wait()

    async def end_session(self) -> None:
        """Tell the server that the session is over. What it says to that does not matter."""
        if not self.session_id:
            return
        try:
            async with self._endpoint.stream("DELETE", None, self._headers()):
                pass
        except (httpx2.HTTPError, ValueError) as error:
            _log.debug("the session of plugin %s was not ended: %s", self.plugin, error)

    @property
    def stderr(self) -> str:
        """The end of the plugin's log; there is no standard error over HTTP."""
        return self._log.tail

    @property
    def _modern(self) -> bool:
        spoken = self._dialect.spoken
        return spoken is not None and spoken.modern

    # --- what a dialect does with it

    async def request(
        self,
        method: str,
        params: str,
        *,
        timeout: float,
        cap: float = 0.0,
        hook: bool = False,  # noqa: ARG002
        at_once: bool = False,  # noqa: ARG002
        on_progress: Callable[[str], None] | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Any:
        """Send a request and return its result.

        Raises what Peer.call does, and SessionLost.
        """
        if self.broken is not None:
            raise PluginDied(self.plugin, self.broken)
        if not self._ready:
            timeout = min(timeout, max(0.0, self._ready_by - trio.current_time()))
        self._last_id += 1
        call = Call(self._last_id, method, timeout, cap)
        call.on_progress = on_progress
        frame = wire.request(call.id, method, params)
        if len(frame) > self._max_out:
            raise FrameTooLarge(self.plugin, method, len(frame), self._max_out, outgoing=True)
        if on_sent is not None:
            on_sent(call.id)
        self._calls[call.id] = call
        try:
            with call.scope:
                await self._exchange(call, frame, params)
        except trio.Cancelled:
            self._dialect.cancelled(self, call.id, method)
            raise
        except ValueError as error:
            raise ProtocolError(self.plugin, method, str(error)) from error
        finally:
            del self._calls[call.id]
        return self._outcome(call)

    def notify(self, method: str, params: str) -> None:
        """Send a notification. Modern revisions have none: a stream that closes says it all."""
        if not self._modern:
            self._outgoing.put(wire.notification(method, params))

    def respond(self, frame: bytes) -> None:
        """Send the answer to a request of the server's."""
        self._outgoing.put(frame)

    def extend(self, id: object, message: str) -> None:
        """Progress of a request."""
        call = self._calls.get(id) if type(id) is int else None
        if call is None:
            return
        call.scope.deadline = min(trio.current_time() + call.timeout, call.cap)
        if call.on_progress is not None:
            call.on_progress(message)

    def spawn(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task until it ends or the link does; what it raises is only logged."""

        async def run() -> None:
            try:
                await task()
            except Exception:
                _log.exception("a task of plugin %s failed", self.plugin)

        if self._nursery is None:
            self._early.append(run)
        elif not self._closed.is_set():
            self._nursery.start_soon(run)

    def log(self, text: str) -> None:
        """Write a line to the plugin's log."""
        self._log.write(text.encode(errors="replace") + b"\n")

    def changed(self, manifest: Manifest) -> None:
        """The server offers something else now."""
        if self._ready:
            self._on_changed(manifest)

    def give_up(self, reason: str) -> None:
        """Send nothing more; calls under way still get their answers."""
        if self.broken is None:
            self.broken = reason
            self._closed.set()
            self._on_broken(reason)

    # --- one request

    async def _exchange(self, call: Call, frame: bytes, params: str) -> None:
        if not self._ready:
            await self._outgoing.flush()
        headers = self._request_headers(call, params)
        try:
            if call.listens:
                await self._answered(call, frame, headers)
            else:
                async with self._limiter:
                    await self._answered(call, frame, headers)
        except httpx2.TransportError as error:
            raise self._failed(call, error) from error

    async def _answered(self, call: Call, frame: bytes, headers: Mapping[str, str]) -> None:
        call.sent = True
        async with self._endpoint.stream("POST", frame, headers) as response:
            events = await self._take_answer(response, call)
        for _ in range(_MAX_RESUMED):
            if call.answer is not None or events is None or not events.last_id or self._modern:
                break
            await trio.sleep(events.retry)
            again = {**self._headers(), "last-event-id": events.last_id}
            async with self._endpoint.stream("GET", None, again) as response:
                events = await self._take_answer(response, call)
        if call.answer is None:
            raise self._lost(call, "ended its stream before it answered")

    async def _take_answer(self, response: httpx2.Response, call: Call) -> Events | None:
        """Read an answer, and what comes before it; how to go on if the stream ended first."""
        if not 200 <= response.status_code < 300:
            await self._refused(response, call)
        if call.method == INITIALIZE:
            self.session_id = read_session_id(response)
        kind = content_type(response)
        if kind == EVENTS:
            return await self._take_events(response, Events(), call)
        if kind != JSON:
            raise ValueError(f"status {response.status_code} with content of type {kind[:80]!r}")
        self._take(await read(response, self._rules.max_line), call)
        if call.answer is None:
            raise ValueError("the body is no answer to the request")
        return None

    async def _take_events(
        self, response: httpx2.Response, events: Events, call: Call | None = None
    ) -> Events:
        parser = EventParser(self._rules.max_line)

        def take(piece: bytes) -> bool:
            for event in parser.feed(piece):
                events.saw(event.id, event.retry)
                if event.kind == "message" and event.data:
                    self._take(event.data, call)
            return call is not None and call.answer is not None

        await consume(response, take)
        return events

    def _take(self, data: bytes, call: Call | None) -> None:
        message = wire.parse(data.strip(), self._rules, codec.loads)
        if isinstance(message, wire.Notification):
            self._dialect.notified(self, message)
        elif isinstance(message, wire.Request):
            during = call.id if call else None
            self.junk += not self._dialect.requested(self, message, during)
        else:
            self._settle(message, call)

    def _settle(self, message: wire.Response | wire.Junk, call: Call | None) -> None:
        """An answer, which some servers send on a stream that another request opened."""
        meant = self._calls.get(message.id) if type(message.id) is int else None
        if meant is None or meant.answer is not None:
            self.junk += 1
            return
        meant.answer = message
        if meant is not call:
            meant.scope.cancel()  # it waits for its own stream

    def _outcome(self, call: Call) -> Any:
        answer = call.answer
        if answer is None:
            if self._closed.is_set():
                raise self._lost(call, self.broken or "was stopped")
            raise self._timed_out(call)
        self.timeouts_in_row = 0
        if type(answer) is wire.Junk:
            raise ProtocolError(self.plugin, call.method, answer.reason)
        assert type(answer) is wire.Response
        error = answer.error
        if error is not None:
            raise RemoteError(self.plugin, call.method, error.code, error.message, error.data)
        return answer.result

    def _timed_out(self, call: Call) -> CallTimeout:
        if call.sent:
            self.timeouts_in_row += 1
            if self.timeouts_in_row == _WEDGED_AFTER:
                self.give_up(f"was given up after {_WEDGED_AFTER} timeouts in a row")
        return CallTimeout(self.plugin, call.method, call.timeout, sent=call.sent)

    def _lost(self, call: Call, reason: str) -> PluginDied:
        kind = OutcomeUncertain if call.sent and self._ready else PluginDied
        return kind(self.plugin, reason)

    def _failed(self, call: Call, error: httpx2.TransportError) -> PluginError:
        words = str(error) or type(error).__name__
        if isinstance(error, NOT_SENT):
            call.sent = False
            reason = f"cannot be reached at {self._endpoint.shown}: {cut(words, 300)}"
        else:
            reason = f"broke the connection: {cut(words, 300)}"
        if not call.listens:
            self.give_up(reason)
        return self._lost(call, reason)

    async def _refused(self, response: httpx2.Response, call: Call) -> None:
        """Raises what an answer with the status of an error means."""
        body = await read(response, _MAX_REFUSAL, or_less=True)
        in_session = bool(self.session_id) and call.method != INITIALIZE
        error = refusal(self.plugin, call.method, response, body, in_session=in_session)
        if isinstance(error, SessionLost):
            self.give_up(error.status)
        raise error

    # --- headers

    def _headers(self) -> dict[str, str]:
        found = {"accept": f"{JSON}, {EVENTS}", "accept-encoding": "identity"}
        spoken = self._dialect.spoken
        if spoken is not None:
            found[_REVISION] = spoken.version
        if self.session_id:
            found[SESSION] = self.session_id
        return found

    def _request_headers(self, call: Call, params: str) -> dict[str, str]:
        found = {**self._headers(), "content-type": JSON}
        said = codec.loads(params.encode("utf-8", "surrogatepass"))
        version = said.get("_meta", {}).get(VERSION_KEY)
        if version is not None:
            found[_REVISION] = version
            schema = self._dialect.schema_of(str(said.get("name")))
            found.update(mirror.mirrored(call.method, said, schema))
        return found

    # --- what is sent without an answer

    async def _post(self, frame: bytes) -> None:
        headers = {**self._headers(), "content-type": JSON}
        try:
            async with self._endpoint.stream("POST", frame, headers) as response:
                if response.status_code >= 300:
                    self.log(f"warning: a message got HTTP status {response.status_code}")
        except (httpx2.HTTPError, ValueError) as error:
            self.log(f"warning: a message was not taken: {cut(str(error), 300)}")
