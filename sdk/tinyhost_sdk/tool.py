"""Tools: what they are, what they are called with, what they return."""

import time

from . import codec
from .errors import DefinitionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    class Flag(Protocol):
        """threading.Event, or as much of it as one thread needs."""

        def is_set(self) -> bool: ...
        def set(self) -> None: ...
        def wait(self, timeout: float | None = None, /) -> bool: ...

    Execute = Callable[[Any, "ToolContext"], Any]


class PlainFlag:
    """A cancel flag for plugins that do one thing at a time."""

    __slots__ = ("_set",)

    def __init__(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True

    def wait(self, timeout: "float | None" = None, /) -> bool:
        if timeout is not None and not self._set:
            time.sleep(timeout)
        return self._set


def _no_progress(_text: str) -> None:
    pass


class ToolContext:
    """What goes with one tool call.

    session_id, directory: of the caller; "" when it did not say.
    """

    __slots__ = ("_flag", "_progress", "directory", "session_id")

    def __init__(
        self,
        session_id: str = "",
        directory: str = "",
        *,
        flag: "Flag | None" = None,
        progress: "Callable[[str], None]" = _no_progress,
    ) -> None:
        self.session_id = session_id
        self.directory = directory
        self._flag: Flag = PlainFlag() if flag is None else flag
        self._progress = progress

    @property
    def cancelled(self) -> bool:
        """Whether the caller has given up. Only a plugin with concurrency > 1 can be told."""
        return self._flag.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but not past a cancel. Returns `cancelled`."""
        return self._flag.wait(seconds)

    def progress(self, text: str) -> None:
        """Tell the caller how far the work is; this also extends the call's deadline."""
        if not isinstance(text, str):
            raise TypeError(f"progress takes text, not a {type(text).__name__}")
        self._progress(text)


class ToolResult:
    """A tool's answer; is_error marks text that tells of a failure."""

    __slots__ = ("content", "is_error")

    def __init__(self, content: str, is_error: bool = False) -> None:
        if not isinstance(content, str) or type(is_error) is not bool:
            raise TypeError("a ToolResult is made of text, and True or False for is_error")
        self.content = content
        self.is_error = is_error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolResult):
            return NotImplemented
        return self.content == other.content and self.is_error == other.is_error

    def __hash__(self) -> int:
        return hash((self.content, self.is_error))

    def __repr__(self) -> str:
        return f"ToolResult({self.content!r}, is_error={self.is_error})"


class Tool:
    """A tool that the plugin offers.

    name: ASCII letters, digits, "_" and "-", at most 64.
    parameters: the JSON Schema of the arguments, an object schema; None takes any object.
    execute: called with the arguments, a dict, and a ToolContext. It returns text, a
        ToolResult, None for no text, or a value that is written as JSON. An exception
        becomes a result with is_error, holding the exception's text.
    permission: the category to be judged under; the host may not follow it.

    Raises DefinitionError.
    """

    __slots__ = ("description", "execute", "name", "parameters", "permission")

    def __init__(
        self,
        name: str,
        description: str,
        parameters: "Mapping[str, Any] | None",
        execute: "Execute",
        permission: "str | None" = None,
    ) -> None:
        _check_name(name)
        what = f"tool {name}"
        if not isinstance(description, str):
            raise DefinitionError(f"{what}: the description is not text")
        if permission is not None and not (isinstance(permission, str) and permission):
            raise DefinitionError(f"{what}: permission is not the name of a category")
        check_callable(execute, f"{what}: execute", ("args", "context"))
        self.name = name
        self.description = description
        self.parameters = _object_schema(what, parameters)
        self.execute = execute
        self.permission = permission

    def manifest(self) -> "dict[str, Any]":
        """The tool's entry in the handshake."""
        entry: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.parameters,
        }
        if self.permission is not None:
            entry["permission"] = self.permission
        return entry


def _check_name(name: object) -> None:
    plain = name.replace("_", "a").replace("-", "a") if isinstance(name, str) else ""
    if not (plain.isascii() and plain.isalnum()) or len(plain) > 64:
        raise DefinitionError(
            f"tool name {name!r:.80}: use 1 to 64 ASCII letters, digits, '_' and '-'"
        )


def _object_schema(what: str, parameters: "Mapping[str, Any] | None") -> "dict[str, Any]":
    if parameters is None:
        return {"type": "object"}
    if not isinstance(parameters, dict) or parameters.get("type", "object") != "object":
        raise DefinitionError(f'{what}: the parameters are not a JSON Schema of "type": "object"')
    try:
        codec.encode(parameters)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"{what}: the parameters are not JSON: {error}") from None
    return {"type": "object", **parameters}


def check_callable(fn: object, what: str, arguments: "tuple[str, ...]") -> None:
    """Refuse what cannot be called with that many arguments, as far as can be told cheaply.

    Raises DefinitionError.
    """
    if not callable(fn):
        raise DefinitionError(f"{what} is a {type(fn).__name__}, not a function")
    code = getattr(fn, "__code__", None)
    if code is None:
        return
    if code.co_flags & 0x2A0:  # generator, coroutine, asynchronous generator
        raise DefinitionError(f"{what} is asynchronous or a generator; use a plain function")
    bound = 0 if getattr(fn, "__self__", None) is None else 1
    most = code.co_argcount - bound
    least = most - len(getattr(fn, "__defaults__", None) or ())
    takes_more = code.co_flags & 0x04  # *args
    if len(arguments) < least or (len(arguments) > most and not takes_more):
        wanted = ", ".join(arguments) or "no arguments"
        raise DefinitionError(f"{what} is called with ({wanted}), but takes {most} arguments")
