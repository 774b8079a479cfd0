"""provider/stream, provider/delta and provider/cancel.

Events are handed to a function as they are read, so nothing is queued: no stream can stop
the reader of its process, and the end never overtakes an event.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable
from typing import Any

import attrs
import trio

from tinyhost.errors import CallTimeout, PluginDied, ProtocolError, RemoteError, cut

from .errors import ProviderFailed
from .forms import read_any
from .messages import (
    ProviderCancel,
    ProviderStreamParams,
    ProviderStreamResult,
)
from .model_types import (
    ErrorStream,
    ErrorTimeout,
    ErrorTransport,
    ModelEvent,
    ModelRequest,
    ProviderError,
)
from .talk import Talk
from .types import EndpointCapabilities, ProviderSpec

_log = logging.getLogger(__name__)

STREAM, DELTA, CANCEL = "provider/stream", "provider/delta", "provider/cancel"

OnEvent = Callable[[ModelEvent], None]


class _Stream:
    """One response under way."""

    def __init__(self, call: str, on_event: OnEvent) -> None:
        self.call = call
        self.on_event = on_event
        self.request = 0
        self.scope = trio.CancelScope()
        self.failure: Exception | None = None

    def fail(self, error: Exception) -> None:
        """End it because of what an event, or who takes it, did wrong."""
        self.failure = self.failure or error
        self.scope.cancel()


class Streams:
    """The responses of one life of a plugin."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._numbers = itertools.count(1)
        self._streams: dict[str, _Stream] = {}

    async def run(self, provider: str, request: ModelRequest, on_event: OnEvent) -> None:
        """One response. Raises ProviderFailed, and what on_event raises."""
        talk = self._talk
        stream = _Stream(f"call-{next(self._numbers)}", on_event)
        # Before the request is written: a delta may come at once.
        self._streams[stream.call] = stream

        def sent(id: int) -> None:
            stream.request = id

        params = ProviderStreamParams(id=provider, call=stream.call, request=request)
        close = ProviderStreamResult()
        try:
            with stream.scope:
                close = await talk.call(
                    STREAM,
                    params,
                    ProviderStreamResult,
                    timeout=talk.deadlines.idle,
                    cap=math.inf,
                    on_sent=sent,
                )
        except (CallTimeout, PluginDied, RemoteError, ProtocolError) as error:
            raise ProviderFailed(talk.plugin, self._why(stream, error)) from error
        finally:
            del self._streams[stream.call]
        if stream.failure is not None:
            raise stream.failure
        if close.error is not None:
            raise ProviderFailed(talk.plugin, close.error)

    def _why(self, stream: _Stream, error: Exception) -> ProviderError:
        text = f"{self._talk.plugin}: {cut(str(error))}"
        if isinstance(error, CallTimeout):
            if error.sent:
                self._talk.notify(CANCEL, ProviderCancel(call=stream.call))
            return ErrorTimeout()
        return (
            ErrorTransport(message=text)
            if isinstance(error, PluginDied)
            else ErrorStream(message=text)
        )

    def delta(self, params: Any) -> None:
        """The plugin sent an event. Raises ValueError when it belongs nowhere."""
        call = params.get("call") if type(params) is dict else None
        stream = self._streams.get(call) if type(call) is str else None
        if stream is None or stream.failure is not None:
            return  # of a stream that has ended
        try:
            event = read_any(ModelEvent, params.get("event"), "event")
        except ValueError as error:
            text = f"{self._talk.plugin}: a delta is not understood: {error}"
            stream.fail(ProviderFailed(self._talk.plugin, ErrorStream(message=text)))
            return
        self._talk.link.extend(stream.request, "")
        try:
            stream.on_event(event)
        except Exception as error:
            # It is called by whoever reads the pipe, who must go on.
            stream.fail(error)

    def cancelled(self, request: int) -> None:
        """The caller of a stream does not wait any more."""
        for stream in self._streams.values():
            if stream.request == request:
                self._talk.notify(CANCEL, ProviderCancel(call=stream.call))


@attrs.frozen
class Provider:
    """A source of responses. It dies with its process: get it anew for each use."""

    spec: ProviderSpec
    _streams: Streams

    @property
    def family(self) -> str:
        """What kind of model it gives; its id, when it does not say."""
        return self.spec.family or self.spec.id

    def endpoint(self, model: str) -> EndpointCapabilities:
        """What it can do for a model; for one that it did not name, nothing."""
        known = any(info.id == model for info in self.spec.models)
        return self.spec.endpoint if known else EndpointCapabilities()

    async def stream(self, request: ModelRequest, on_event: OnEvent) -> None:
        """Get one response; on_event is called with each event, and must not block.

        A stream may last as long as it likes, but is given up when nothing comes for too long.
        To stop one, cancel the call. Raises ProviderFailed, and what on_event raises.
        """
        await self._streams.run(self.spec.id, request, on_event)
