"""What hooks are told and what they answer: immutable objects with named fields.

Python names are snake_case; the wire's are camelCase. Fields that are missing or null on
the wire get their default, fields that are not known are ignored, and a field of a wrong
type is refused with BadInput.
"""

from . import codec
from .errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn, Self

_set = object.__setattr__
ReadOnly = type(type.__dict__)  # types.MappingProxyType, without importing types
_KINDS = {str: "a string", bool: "true or false", dict: "an object"}


class Frozen:
    """Base of the event objects: no field can be set, equal fields make equal objects."""

    __slots__: "tuple[str, ...]" = ()

    def __setattr__(self, name: str, value: object) -> "NoReturn":
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> "NoReturn":
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")

    def _fields(self) -> "tuple[Any, ...]":
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), *self._fields()))

    def __repr__(self) -> str:
        pairs = zip(self.__slots__, self._fields(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


class Event(Frozen):
    """Base of what handlers receive."""

    __slots__ = ()
    # name here, name on the wire, type
    WIRE: "tuple[tuple[str, str, type], ...]" = ()

    @classmethod
    def from_wire(cls, value: "Any") -> "Self":
        """Build the event from decoded JSON. Raises BadInput."""
        if type(value) is not dict:
            raise BadInput("the input is not an object")
        fields: dict[str, Any] = {}
        for name, key, kind in cls.WIRE:
            field = value.get(key)
            if field is not None:
                if type(field) is not kind:
                    raise BadInput(f"{key} is not {_KINDS[kind]}")
                fields[name] = field
        return cls(**fields)


class InitializeEvent(Event):
    """The host's first words: protocol version, project directory, the plugin's options."""

    __slots__ = ("directory", "options", "version")
    WIRE = (
        ("version", "version", str),
        ("directory", "directory", str),
        ("options", "options", dict),
    )
    version: str
    directory: str
    options: "Mapping[str, Any]"

    def __init__(
        self, version: str = "", directory: str = "", options: "Mapping[str, Any] | None" = None
    ) -> None:
        _set(self, "version", version)
        _set(self, "directory", directory)
        _set(self, "options", ReadOnly(dict(options or {})))


class SessionStart(Event):
    """A session begins in `directory`."""

    __slots__ = ("directory", "session_id")
    WIRE = (("session_id", "sessionId", str), ("directory", "directory", str))
    session_id: str
    directory: str

    def __init__(self, session_id: str = "", directory: str = "") -> None:
        _set(self, "session_id", session_id)
        _set(self, "directory", directory)


class SessionEnd(Event):
    """A session is over."""

    __slots__ = ("session_id",)
    WIRE = (("session_id", "sessionId", str),)
    session_id: str

    def __init__(self, session_id: str = "") -> None:
        _set(self, "session_id", session_id)


class _ToolEvent(Event):
    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def tool_args(self) -> str:
            """The arguments as JSON text, as they came."""

    def args(self) -> "Any":
        """Decode tool_args: usually a dict; None when the text is not JSON."""
        try:
            return codec.decode(self.tool_args)
        except ValueError:
            return None


class PermissionAsk(_ToolEvent):
    """May this tool run? `tool_args` is JSON text or, from some hosts, a bare command."""

    __slots__ = ("permission", "session_id", "tool_args", "tool_name")
    WIRE = (
        ("session_id", "sessionId", str),
        ("tool_name", "toolName", str),
        ("tool_args", "toolArgs", str),
        ("permission", "permission", str),
    )
    session_id: str
    tool_name: str
    tool_args: str
    permission: str

    def __init__(
        self, session_id: str = "", tool_name: str = "", tool_args: str = "", permission: str = ""
    ) -> None:
        _set(self, "session_id", session_id)
        _set(self, "tool_name", tool_name)
        _set(self, "tool_args", tool_args)
        _set(self, "permission", permission)


class ShellEnv(Event):
    """A shell is about to start with the variables `env`."""

    __slots__ = ("directory", "env", "session_id")
    WIRE = (("session_id", "sessionId", str), ("directory", "directory", str), ("env", "env", dict))
    session_id: str
    directory: str
    env: "Mapping[str, str]"

    def __init__(
        self, session_id: str = "", directory: str = "", env: "Mapping[str, str] | None" = None
    ) -> None:
        _set(self, "session_id", session_id)
        _set(self, "directory", directory)
        _set(self, "env", ReadOnly(dict(env or {})))

    @classmethod
    def from_wire(cls, value: "Any") -> "Self":
        event = super().from_wire(value)
        for name, text in event.env.items():
            if type(text) is not str:
                raise BadInput(f"env.{name} is not a string")
        return event


class ToolExecuteBefore(_ToolEvent):
    """A tool is about to run with the arguments `tool_args`, a JSON text."""

    __slots__ = ("session_id", "tool_args", "tool_name")
    WIRE = (
        ("session_id", "sessionId", str),
        ("tool_name", "toolName", str),
        ("tool_args", "toolArgs", str),
    )
    session_id: str
    tool_name: str
    tool_args: str

    def __init__(self, session_id: str = "", tool_name: str = "", tool_args: str = "") -> None:
        _set(self, "session_id", session_id)
        _set(self, "tool_name", tool_name)
        _set(self, "tool_args", tool_args)


class ToolExecuteAfter(_ToolEvent):
    """A tool has run with `tool_args`, which not every host tells, and gave `output`."""

    __slots__ = ("is_error", "output", "session_id", "tool_args", "tool_name")
    WIRE = (
        ("session_id", "sessionId", str),
        ("tool_name", "toolName", str),
        ("output", "output", str),
        ("is_error", "isError", bool),
        ("tool_args", "toolArgs", str),
    )
    session_id: str
    tool_name: str
    output: str
    is_error: bool
    tool_args: str

    def __init__(
        self,
        session_id: str = "",
        tool_name: str = "",
        output: str = "",
        is_error: bool = False,
        tool_args: str = "",
    ) -> None:
        _set(self, "session_id", session_id)
        _set(self, "tool_name", tool_name)
        _set(self, "output", output)
        _set(self, "is_error", is_error)
        _set(self, "tool_args", tool_args)


def _optional(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be {_KINDS[kind]}, not {value!r:.60}")


def _strings(value: "Sequence[str]") -> "tuple[str, ...]":
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"additional_context must be strings, not {value!r:.60}")
    return tuple(value)


class SessionStartOutput(Frozen):
    """Texts that the session's model is to know from the start. One string will do."""

    __slots__ = ("additional_context",)
    additional_context: "tuple[str, ...]"

    def __init__(self, additional_context: "Sequence[str]" = ()) -> None:
        _set(self, "additional_context", _strings(additional_context))


class PermissionOutput(Frozen):
    """A verdict. `reason` is shown to the person, and to the model on a denial.

    ask: have the person asked, whatever rule allows the call; then `allowed` is None. A host
    that does not know it takes it for a denial.
    """

    __slots__ = ("allowed", "ask", "reason")
    allowed: "bool | None"
    reason: str
    ask: bool

    def __init__(
        self, allowed: "bool | None" = None, reason: str = "", *, ask: bool = False
    ) -> None:
        if (type(allowed) is not bool and allowed is not None) or type(reason) is not str:
            raise TypeError("a PermissionOutput is made of True or False, and a text as reason")
        if type(ask) is not bool or ask is (allowed is not None):
            raise TypeError("a PermissionOutput has either True or False, or ask=True")
        _set(self, "allowed", allowed)
        _set(self, "reason", reason)
        _set(self, "ask", ask)


class ShellEnvOutput(Frozen):
    """Variables to set; None as value unsets one."""

    __slots__ = ("env",)
    env: "Mapping[str, str | None]"

    def __init__(self, env: "Mapping[str, str | None]") -> None:
        copy = dict(env)
        for name, value in copy.items():
            if type(name) is not str or not (value is None or isinstance(value, str)):
                raise TypeError(f"the variable {name!r} must be a string or None")
        _set(self, "env", ReadOnly(copy))


class ToolExecuteBeforeOutput(Frozen):
    """Texts for the model, and the arguments as later plugins are to see them.

    tool_args: JSON text, or a value to be written as JSON; None leaves them as they are.
    """

    __slots__ = ("additional_context", "tool_args")
    additional_context: "tuple[str, ...]"
    tool_args: "str | None"

    def __init__(
        self,
        additional_context: "Sequence[str]" = (),
        tool_args: "str | dict[str, Any] | None" = None,
    ) -> None:
        if isinstance(tool_args, dict):
            tool_args = codec.encode_readable(tool_args)
        _optional("tool_args", tool_args, str)
        _set(self, "additional_context", _strings(additional_context))
        _set(self, "tool_args", tool_args)


class ToolExecuteAfterOutput(Frozen):
    """Changes to a tool's result: None leaves a field as it is, "" empties the output."""

    __slots__ = ("additional_context", "is_error", "output")
    output: "str | None"
    is_error: "bool | None"
    additional_context: "tuple[str, ...]"

    def __init__(
        self,
        output: "str | None" = None,
        is_error: "bool | None" = None,
        additional_context: "Sequence[str]" = (),
    ) -> None:
        _optional("output", output, str)
        _optional("is_error", is_error, bool)
        _set(self, "output", output)
        _set(self, "is_error", is_error)
        _set(self, "additional_context", _strings(additional_context))
