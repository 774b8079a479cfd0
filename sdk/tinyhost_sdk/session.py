"""The plugin's side of a session: messages in, replies out. No I/O of its own.

Whatever a handler does is answered: an exception is a reply, never the end. Only
SystemExit and KeyboardInterrupt pass through, as they mean to end the process.
"""

import sys

from . import answers, codec, names, wire
from .errors import BadInput, HandlerError
from .events import InitializeEvent
from .tool import PlainFlag, ToolContext, ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .plugin import Plugin
    from .tool import Flag, Tool


class _Refused(Exception):
    """The request is answered with this error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def rules(plugin: "Plugin") -> wire.Rules:
    """What the plugin accepts: as lenient about the envelope as its first hosts were."""
    return wire.Rules(max_line=plugin.max_line_bytes, require_jsonrpc=False, string_ids=True)


class Session:
    """One host, from initialize to the end of its requests.

    notify: takes the bytes of notifications to the host, possibly from other threads.
    new_flag: makes the flag that a cancel sets; threading.Event where threads are used.
    exit_code: set when the session is over before it began; None otherwise.
    """

    def __init__(
        self,
        plugin: "Plugin",
        notify: "Callable[[bytes], None]",
        new_flag: "Callable[[], Flag]" = PlainFlag,
    ) -> None:
        self.initialized = False
        self.exit_code: int | None = None
        self._plugin = plugin
        self._notify = notify
        self._new_flag = new_flag
        self._flags: dict[int | str, Flag] = {}  # of the requests that are open
        # A list, because taking the last item is one step, also between threads.
        self._to_dispose = [names.DISPOSE]

    def expect(self, request: wire.Request) -> None:
        """Make a request that waits for its turn known, so that it can be cancelled."""
        self._flags[request.id] = self._new_flag()

    def handle(self, message: "wire.Message") -> "bytes | None":
        """Do what the message asks for; the reply as a line of bytes, or None.

        Raises SystemExit and KeyboardInterrupt when a handler does.
        """
        if isinstance(message, wire.Request):
            return self._answer(message)
        if isinstance(message, wire.Notification):
            if message.method == names.TOOL_CANCEL and type(message.params) is dict:
                self._cancel(message.params.get("id"))
        elif isinstance(message, wire.Junk):
            if message.call_id is not None:
                return wire.failure(message.call_id, message.code, message.reason)
            note(f"ignored a line of {message.size} bytes from the host: {message.reason}")
        return None

    def cancel_all(self) -> None:
        """Set the flag of every open request."""
        for flag in list(self._flags.values()):
            flag.set()

    def close(self) -> None:
        """The host will ask no more: dispose, unless that was done or nothing began."""
        if self.initialized:
            try:
                self._dispose()
            except Exception as error:
                _report(error)

    def _cancel(self, id: object) -> None:
        # True and 1.0 would find the flag of request 1.
        flag = self._flags.get(id) if type(id) is int or type(id) is str else None
        if flag is not None:
            flag.set()

    def _answer(self, request: wire.Request) -> bytes:
        try:
            if not self.initialized:
                return wire.success(request.id, self._initialize(request))
            if request.method == names.TOOL_CALL:
                return self._call_tool(request)
            if request.method == names.HOOK_INVOKE:
                return wire.success(request.id, self._invoke_hook(request.params))
            raise _Refused(names.METHOD_NOT_FOUND, f"unknown method: {request.method:.200}")
        except _Refused as refusal:
            return wire.failure(request.id, refusal.code, str(refusal))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            _report(error)
            return wire.failure(request.id, names.HANDLER_ERROR, describe(error))
        finally:
            self._flags.pop(request.id, None)

    def _initialize(self, request: wire.Request) -> "dict[str, Any]":
        self.exit_code = 1  # unless all of this goes well
        if request.method != names.INITIALIZE:
            text = f"the first request must be {names.INITIALIZE}, not {request.method:.200}"
            raise _Refused(names.INVALID_REQUEST, text)
        event = _event(InitializeEvent, {} if request.params is None else request.params)
        if self._plugin.initializer is not None:
            self._plugin.initializer(event)
        manifest = self._plugin.manifest()
        self.exit_code = None
        self.initialized = True
        return manifest

    def _call_tool(self, request: wire.Request) -> bytes:
        tool, args, context = self._tool_call(request)
        try:
            result = _run_tool(tool, args, context)
            return wire.success(request.id, _tool_result(result))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            _report(error)
            return wire.success(request.id, _tool_result(ToolResult(describe(error), True)))

    def _tool_call(self, request: wire.Request) -> "tuple[Tool, Any, ToolContext]":
        params = _object(request.params, "params")
        name = _text(params, "name")
        tool = self._plugin.tools.get(name)
        if tool is None:
            raise _Refused(names.INVALID_PARAMS, f"unknown tool: {name:.200}")
        raw = params.get("context")
        given = {} if raw is None else _object(raw, "context")
        flag = self._flags.setdefault(request.id, self._new_flag())
        context = ToolContext(
            _text(given, "sessionId", ""),
            _text(given, "directory", ""),
            flag=flag,
            progress=self._progress_of(request.id, flag),
        )
        return tool, params.get("args"), context

    def _progress_of(self, id: "int | str", flag: "Flag") -> "Callable[[str], None]":
        def progress(text: str) -> None:
            if self._flags.get(id) is flag:  # not after the reply
                params = codec.encode({"id": id, "message": text})
                self._notify(wire.notification(names.TOOL_PROGRESS, params))

        return progress

    def _invoke_hook(self, params: "Any") -> "dict[str, Any]":
        params = _object(params, "params")
        name = _text(params, "name")
        if name == names.DISPOSE:
            self._dispose()
            return {}
        handler = self._plugin.hooks.get(name)
        if handler is None:
            return {}
        row = answers.HOOKS.get(name)
        if row is None:
            output = handler(params.get("input"))
        else:
            event_type, to_wire = row
            event = _event(event_type, params.get("input"))
            output = handler(event)
            if output is not None:
                output = to_wire(output, event)
        return {} if output is None else {"output": output}

    def _dispose(self) -> None:
        handler = self._plugin.hooks.get(names.DISPOSE)
        try:
            # One that fails counts as well.
            self._to_dispose.pop()
        except IndexError:
            return
        if handler is not None:
            handler()


def _event(kind: "Any", value: object) -> "Any":
    try:
        return kind.from_wire(value)
    except BadInput as error:
        raise _Refused(names.INVALID_PARAMS, f"bad input for {kind.__name__}: {error}") from None


def _object(value: "Any", what: str) -> "dict[str, Any]":
    if type(value) is not dict:
        raise _Refused(names.INVALID_PARAMS, f"invalid params: {what} must be an object")
    return value


def _text(values: "dict[str, Any]", key: str, default: "str | None" = None) -> str:
    value = values.get(key)
    if value is None:
        value = default
    if type(value) is not str:
        raise _Refused(names.INVALID_PARAMS, f"invalid params: {key} must be a string")
    return value


def _run_tool(tool: "Tool", args: "Any", context: ToolContext) -> ToolResult:
    if context.cancelled:
        raise HandlerError("cancelled before it started")
    if args is None:
        args = {}
    if type(args) is not dict:
        raise HandlerError(f"the arguments of {tool.name} must be an object")
    value = tool.execute(args, context)
    if isinstance(value, ToolResult):
        return value
    if value is None or isinstance(value, str):
        return ToolResult(value or "")
    if isinstance(value, (dict, list, tuple, int, float)):
        try:
            return ToolResult(codec.encode_readable(value))
        except (TypeError, ValueError) as error:
            raise HandlerError(f"the result of {tool.name} is not JSON: {error}") from None
    raise HandlerError(
        f"tool {tool.name} returned a {type(value).__name__};"
        " it may return text, a ToolResult, None, or a value to be written as JSON"
    )


def _tool_result(result: ToolResult) -> "dict[str, Any]":
    if result.is_error:
        return {"content": result.content, "isError": True}
    return {"content": result.content}


def describe(error: BaseException) -> str:
    """The exception's text, with its type where the text alone says too little."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = ""
    if not text:
        return name
    return f"{name}: {text}" if isinstance(error, KeyError) else text


def note(text: str) -> None:
    """Write a line to stderr, which the host keeps as the plugin's log."""
    if sys.stderr is not None:
        try:
            print(f"tinyhost_sdk: {text}", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass  # nobody reads it


def _report(error: BaseException) -> None:
    """Write the traceback to stderr, unless the failure was meant."""
    if not isinstance(error, HandlerError):
        # The interpreter's own printer: the traceback module is slow to import.
        sys.__excepthook__(type(error), error, error.__traceback__)
