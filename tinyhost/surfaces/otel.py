"""Spans of what happens in a running host, for OpenTelemetry. It needs the extra `otel`.

Each session is a trace: the session, and in it each plugin's answer to a hook, each decision
and each call. Spans hold names and times; arguments, results and texts stay in the host.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import trio

from ..errors import ConfigError
from ..running import RunningHost
from .serving import Surface

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

_EXTRA = (
    "spans need the Python packages opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http,"
    " which come with tinyhost's extra otel: pip install 'tinyhost-runtime[otel]'"
)
_FLUSH = 5.0  # seconds that the last spans get to be sent


def otel_surface(provider: TracerProvider | None = None) -> Callable[[RunningHost], Surface]:
    """A surface for `Service.surfaces`.

    provider: where spans go. Without one they are sent by OTLP over HTTP, to where the
    environment's OTEL_EXPORTER_OTLP_* say. Raises ConfigError when the extra is not installed.
    """
    if not all(map(_is_there, ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"))):
        raise ConfigError(_EXTRA)

    def make(running: RunningHost) -> Surface:
        async def surface(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            own = None if provider else await trio.to_thread.run_sync(_provider)
            spans = Spans((provider or own).get_tracer("tinyhost"))  # type: ignore[union-attr]
            running.host.record_listeners.append(spans.record)
            task_status.started()
            try:
                await trio.sleep_forever()
            finally:
                running.host.record_listeners.remove(spans.record)
                spans.close()
                if own is not None:
                    with trio.CancelScope(shield=True), trio.move_on_after(_FLUSH):
                        await trio.to_thread.run_sync(own.shutdown, abandon_on_cancel=True)

        return surface

    return make


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _provider() -> Any:
    """One that sends by OTLP, from a thread of its own."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = Resource({SERVICE_NAME: "tinyhost"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Spans:
    """Makes spans of the host's records, which come when what they tell of is over."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._sessions: dict[str, Span] = {}

    def record(self, session: str, kind: str, fields: Mapping[str, Any]) -> None:
        """Take a record; see Recorder."""
        if kind == "session":
            self._session(session, fields["event"] == "start")
        elif kind == "hook":
            for answer in fields["answers"]:
                more = {"tinyhost.hook": fields["hook"], "tinyhost.plugin": answer["name"]}
                failed = "error" in answer
                self._span(session, f"hook {fields['hook']}", answer["ms"], more, failed=failed)
        elif kind == "decision":
            found = {key: fields[key] for key in ("decision", "by", "plugin") if fields[key]}
            more = {f"tinyhost.{key}": value for key, value in found.items()}
            self._span(session, f"decide {fields['tool']}", 0, more)
        elif kind == "call":
            more = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": fields["tool"],
                "tinyhost.plugin": fields.get("plugin", ""),
            }
            name = f"execute_tool {fields['tool']}"
            self._span(session, name, fields["ms"], more, failed=fields["isError"])

    def close(self) -> None:
        """End the spans of sessions that go on."""
        for session in list(self._sessions):
            self._session(session, begins=False)

    def _session(self, session: str, begins: bool) -> None:
        span = self._sessions.pop(session, None)
        if span is not None:
            span.end()
        if begins:
            attributes = {"session.id": session}
            self._sessions[session] = self._tracer.start_span("session", attributes=attributes)

    def _span(
        self,
        session: str,
        name: str,
        ms: float,
        attributes: Mapping[str, str],
        *,
        failed: bool = False,
    ) -> None:
        from opentelemetry.trace import StatusCode, set_span_in_context

        parent = self._sessions.get(session)
        end = time.time_ns()
        span = self._tracer.start_span(
            name,
            context=set_span_in_context(parent) if parent else None,
            start_time=end - int(ms * 1_000_000),
            attributes={**attributes, **({"session.id": session} if session else {})},
        )
        if failed:
            span.set_status(StatusCode.ERROR)
        span.end(end)
