"""What hook handlers returned, as the `output` of the wire. None means: no output.

Where a plain value says it all, a handler may return that. Any other type is refused with
HandlerError: a guard that answers "no" must not be understood as a yes.
"""

from . import events, names
from .errors import HandlerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Answer = dict[str, Any] | None
    Row = tuple[type[events.Event], Callable[[Any, Any], Answer]]


def _refuse(hook: str, value: object, wanted: str) -> HandlerError:
    return HandlerError(
        f"the {hook} handler returned {value!r:.60}, a {type(value).__name__}; it may return {wanted}"
    )


def _context(texts: "Sequence[str]") -> "dict[str, Any]":
    return {"additionalContext": list(texts)} if texts else {}


def _session_start(value: "Any", _event: "Any") -> "Answer":
    if isinstance(value, (str, list, tuple)):
        try:
            value = events.SessionStartOutput(value)
        except TypeError:
            pass
    if not isinstance(value, events.SessionStartOutput):
        raise _refuse(names.SESSION_START, value, "text, a list of texts or a SessionStartOutput")
    return _context(value.additional_context)


def _session_end(_value: "Any", _event: "Any") -> "Answer":
    return None


def _permission_ask(value: "Any", _event: "Any") -> "Answer":
    if type(value) is bool:
        return {"allowed": value}
    if not isinstance(value, events.PermissionOutput):
        raise _refuse(names.PERMISSION_ASK, value, "True, False, None or a PermissionOutput")
    said: dict[str, object] = {"ask": True} if value.ask else {"allowed": value.allowed}
    if value.reason:
        said["reason"] = value.reason
    return said


def _shell_env(value: "Any", _event: "Any") -> "Answer":
    if isinstance(value, (dict, events.ReadOnly)):
        try:
            value = events.ShellEnvOutput(value)
        except TypeError as error:
            raise HandlerError(f"the {names.SHELL_ENV} handler: {error}") from None
    if not isinstance(value, events.ShellEnvOutput):
        raise _refuse(names.SHELL_ENV, value, "a dict of variables or a ShellEnvOutput")
    return {"env": dict(value.env)}


def _before(value: "Any", _event: "Any") -> "Answer":
    if not isinstance(value, events.ToolExecuteBeforeOutput):
        raise _refuse(names.TOOL_EXECUTE_BEFORE, value, "None or a ToolExecuteBeforeOutput")
    answer = _context(value.additional_context)
    if value.tool_args is not None:
        answer["toolArgs"] = value.tool_args
    return answer


def _after(value: "Any", event: "events.ToolExecuteAfter") -> "Answer":
    if not isinstance(value, events.ToolExecuteAfterOutput):
        raise _refuse(names.TOOL_EXECUTE_AFTER, value, "None or a ToolExecuteAfterOutput")
    answer = _context(value.additional_context)
    if value.output is not None or value.is_error is not None:
        # Both or neither: to some hosts a missing flag means false, and a flag without
        # output means nothing.
        answer["output"] = event.output if value.output is None else value.output
        answer["isError"] = event.is_error if value.is_error is None else value.is_error
    return answer


HOOKS: "dict[str, Row]" = {
    names.SESSION_START: (events.SessionStart, _session_start),
    names.SESSION_END: (events.SessionEnd, _session_end),
    names.PERMISSION_ASK: (events.PermissionAsk, _permission_ask),
    names.SHELL_ENV: (events.ShellEnv, _shell_env),
    names.TOOL_EXECUTE_BEFORE: (events.ToolExecuteBefore, _before),
    names.TOOL_EXECUTE_AFTER: (events.ToolExecuteAfter, _after),
}
