"""tool/call, tool/progress and tool/cancel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import trio

from tinyhost import codec, ids
from tinyhost.errors import CallTimeout
from tinyhost.model import CallContext, ToolResult
from tinyhost.model import ToolSpec as HostTool
from tinyhost.names import tool_id

from .forms import read, write
from .messages import ToolCallResult, ToolCancel, ToolProgress
from .talk import Talk
from .types import (
    ContentPart,
    PartImage,
    PartReasoning,
    PartText,
    PartToolResult,
    PartToolUse,
    ToolOutput,
    ToolSpec,
)
from .views import fold

CALL, PROGRESS, CANCEL = "tool/call", "tool/progress", "tool/cancel"


def host_tools(plugin: str, declared: Sequence[ToolSpec]) -> tuple[HostTool, ...]:
    """The tools under the host's ids. What they claim of themselves does not count.

    Of two with one name the first counts. Raises ValueError.
    """
    found: dict[str, HostTool] = {}
    for index, spec in enumerate(declared):
        try:
            id = tool_id(plugin, spec.name)
        except ValueError as error:
            raise ValueError(f"tools[{index}].name: {error}") from None
        schema = spec.input_schema if type(spec.input_schema) is dict else {}
        tool = HostTool(
            id=id,
            name=spec.name,
            plugin=plugin,
            description=spec.description,
            input_schema={"type": "object", "properties": {}, **schema},
        )
        found.setdefault(id, tool)
    return tuple(found.values())


@attrs.define
class Running:
    """A call under way. asking: the questions that are put to the person for it."""

    request: int
    asking: set[trio.CancelScope] = attrs.field(factory=set)


class Tools:
    """The calls of one life of a plugin."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._running: dict[str, Running] = {}

    def running(self, call_id: str) -> Running | None:
        """The call of that id, while it runs."""
        return self._running.get(call_id)

    async def call(
        self,
        tool: HostTool,
        args: str,
        context: CallContext,
        directory: str,
        on_progress: Callable[[str], None] | None,
    ) -> ToolResult:
        """Call a tool; args is JSON text on one line. Raises PluginError and InvalidCall."""
        talk, timeouts = self._talk, self._talk.link.timeouts
        call_id = ids.new_id("call")

        def sent(request: int) -> None:
            self._running[call_id] = Running(request)

        def progressed(text: str) -> None:
            # An empty line only keeps the call alive.
            if text and on_progress is not None:
                on_progress(text)

        text = self._params(call_id, tool.name, args, context, talk.directory(directory))
        try:
            result = await talk.link.request(
                CALL,
                text,
                timeout=timeouts.tool,
                cap=timeouts.tool_cap,
                on_progress=progressed,
                on_sent=sent,
            )
        except CallTimeout as error:
            if error.sent:
                talk.notify(CANCEL, ToolCancel(call_id=call_id))
            raise
        finally:
            if ended := self._running.pop(call_id, None):
                for scope in ended.asking:
                    scope.cancel()
        return _tool_result(talk.read(CALL, ToolCallResult, result).output)

    @staticmethod
    def _params(call_id: str, name: str, args: str, context: CallContext, directory: str) -> str:
        where = {
            "callId": call_id,
            "name": name,
            "cwd": directory,
            "session": context.session_id,
            "turn": ids.new_id("trn"),
        }
        # The arguments go in as they are written.
        return f'{codec.dumps(where)[:-1]},"input":{args}}}'

    def progress(self, params: Any) -> None:
        """The plugin reports on a call. Raises ValueError."""
        said = read(ToolProgress, params)
        if running := self._running.get(said.call_id):
            self._talk.link.extend(running.request, said.tail)

    def cancelled(self, request: int) -> None:
        """The caller of a call does not wait any more."""
        for call_id, running in self._running.items():
            if running.request == request:
                self._talk.notify(CANCEL, ToolCancel(call_id=call_id))


def _tool_result(output: ToolOutput) -> ToolResult:
    content = text_of(output.parts)
    if not content and output.display is not None:
        content = fold(output.display)
    details: dict[str, Any] = {}
    if output.display is not None:
        details["display"] = write(output.display)
    if any(not isinstance(part, PartText) for part in output.parts):
        details["parts"] = [write(part) for part in output.parts]
    return ToolResult(content, output.is_error, details)


def text_of(parts: Sequence[ContentPart]) -> str:
    """Parts as one text; what is no text is named."""
    return "\n".join(_part_text(part) for part in parts)


def _part_text(part: ContentPart) -> str:
    match part:
        case PartText(text=text) | PartReasoning(text=text):
            return text
        case PartImage(media_type=kind):
            return f"[image: {kind}]"
        case PartToolUse(name=name):
            return f"[call of {name}]"
        case PartToolResult(parts=parts):
            return text_of(parts)
