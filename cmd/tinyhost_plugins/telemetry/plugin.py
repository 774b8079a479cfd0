"""The plugin: reads its options, follows the hooks, and offers the two tools."""

import os

from tinyhost_sdk import (
    Hooks,
    InitializeEvent,
    Plugin,
    SessionEnd,
    SessionStart,
    Tool,
    ToolContext,
    ToolExecuteAfter,
    ToolExecuteBefore,
    ToolResult,
)

from .options import Options, read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .recorder import Recorder

# Seconds that a tool waits for another process, to write what waits.
_TOOL_WAIT = 0.5
_QUERY = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "description": "Only this tool, by its exact name"},
        "days": {
            "type": "number",
            "description": "How many days to look back; parts of a day are possible (default 7)",
        },
        "limit": {
            "type": "integer",
            "description": "How many calls to show, up to 500 (default: what fits in 30 KB)",
        },
    },
}


class Telemetry:
    """The handlers. The database and its library are loaded with the first session."""

    def __init__(self) -> None:
        self._options: Options | None = None
        self._recorder: Recorder | None = None

    def initialize(self, event: InitializeEvent) -> None:
        self._options = read_options(event.options, os.environ)

    def session_start(self, event: SessionStart) -> None:
        self._get().session_start(event.session_id)

    def before(self, event: ToolExecuteBefore) -> None:
        # An error here would keep the tool from running.
        try:
            self._get().before(event.session_id, event.tool_name, event.tool_args)
        except Exception as error:
            import sys

            print(f"telemetry: {type(error).__name__}: {error}", file=sys.stderr)

    def after(self, event: ToolExecuteAfter) -> None:
        self._get().after(
            event.session_id, event.tool_name, event.tool_args, success=not event.is_error
        )

    def session_end(self, event: SessionEnd) -> None:
        self._get().session_end(event.session_id)

    def dispose(self) -> None:
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def report(self, _args: "Any", _context: ToolContext) -> ToolResult:
        from .report import report

        retention = self._set().retention_days
        return self._told(lambda recorder: report(recorder.store, retention))

    def query(self, args: "Any", _context: ToolContext) -> ToolResult:
        from .report import query, read_query

        most = self._set().retention_days
        return self._told(lambda recorder: query(recorder.store, read_query(args, most)))

    def _told(self, tell: "Callable[[Recorder], str]") -> ToolResult:
        from .store import StoreError

        recorder = self._get()
        recorder.flush(_TOOL_WAIT)
        try:
            text = tell(recorder)
        except (StoreError, ValueError) as error:
            return ToolResult(str(error), is_error=True)
        missing = recorder.missing()
        return ToolResult(f"{text}\n{missing}" if missing else text)

    def _set(self) -> Options:
        if self._options is None:
            self._options = read_options({}, os.environ)
        return self._options

    def _get(self) -> "Recorder":
        if self._recorder is None:
            from .recorder import Recorder

            self._recorder = Recorder(self._set())
        return self._recorder


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    telemetry = Telemetry()
    return Plugin(
        "telemetry",
        version="1.0",
        tools=[
            Tool(
                "telemetry_report",
                "Usage in numbers, from a local database: sessions, tool calls, the most used"
                " tools with failures and durations, and the last sessions.",
                {"type": "object", "properties": {}},
                telemetry.report,
            ),
            Tool(
                "telemetry_query",
                "Recorded tool calls, newest first: tool, time, success, session, duration.",
                _QUERY,
                telemetry.query,
            ),
        ],
        hooks=Hooks(
            session_start=telemetry.session_start,
            session_end=telemetry.session_end,
            tool_execute_before=telemetry.before,
            tool_execute_after=telemetry.after,
            dispose=telemetry.dispose,
        ),
        on_initialize=telemetry.initialize,
    )
