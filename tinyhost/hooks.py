"""The hook table: what each hook is called with, what it may answer, how answers combine.

Names here are snake_case and typed; on the wire they are camelCase. Answers are checked by
hand and strictly, because a coerced answer of a guard would be a hole: "no" is not True.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from tinyhost_sdk import names

_T = TypeVar("_T")


class Semantics(enum.StrEnum):
    """How a hook walks the plugins and what becomes of their answers."""

    NOTIFY = "notify"  # all side by side; answers may carry context; errors are only reported
    QUERY = "query"  # all side by side; any denial wins
    ACCUMULATE = "accumulate"  # one after the other; each sees what came before
    GATE = "gate"  # one after the other; the first error stops the call
    CHAIN = "chain"  # one after the other; each sees the last one's output


def _context() -> Any:
    return attrs.field(default=(), metadata={"kind": "strings"})


@attrs.frozen(kw_only=True)
class SessionStart:
    """session.start"""

    session_id: str = ""
    directory: str = ""


@attrs.frozen(kw_only=True)
class SessionStartOutput:
    """additional_context: texts for the first prompt of the session."""

    additional_context: tuple[str, ...] = _context()


@attrs.frozen(kw_only=True)
class SessionEnd:
    """session.end"""

    session_id: str = ""


@attrs.frozen(kw_only=True)
class PermissionAsk:
    """permission.ask; tool_args is the JSON text of the tool's arguments."""

    session_id: str = ""
    tool_name: str = ""
    tool_args: str = ""
    permission: str = ""


@attrs.frozen(kw_only=True)
class PermissionOutput:
    """An answer without `allowed` is a denial: to allow has to be said.

    ask: the person is to be asked. It can only tighten: beside `allowed` it still asks, and a
    denial stays one.
    """

    allowed: bool | None = None
    reason: str = ""
    ask: bool | None = None

    @property
    def denies(self) -> bool:
        """Whether the call must not be made."""
        return self.allowed is False or (self.allowed is None and not self.ask)


@attrs.frozen(kw_only=True)
class ShellEnv:
    """shell.env; env is what has been decided so far."""

    session_id: str = ""
    directory: str = ""
    env: Mapping[str, str] = attrs.field(factory=dict, metadata={"kind": "env"})


@attrs.frozen(kw_only=True)
class ShellEnvOutput:
    """Variables to set; a value of None unsets."""

    env: Mapping[str, str | None] = attrs.field(factory=dict, metadata={"kind": "env?"})


@attrs.frozen(kw_only=True)
class ToolExecuteBefore:
    """tool.execute.before; tool_args is the JSON text of the tool's arguments."""

    session_id: str = ""
    tool_name: str = ""
    tool_args: str = ""


@attrs.frozen(kw_only=True)
class ToolExecuteBeforeOutput:
    """tool_args: the JSON text to run the tool with, or None to leave it."""

    additional_context: tuple[str, ...] = _context()
    tool_args: str | None = None


@attrs.frozen(kw_only=True)
class ToolExecuteAfter:
    """tool.execute.after; the arguments are those that the tool ran with."""

    session_id: str = ""
    tool_name: str = ""
    tool_args: str = ""
    output: str = ""
    is_error: bool = False


@attrs.frozen(kw_only=True)
class ToolExecuteAfterOutput:
    """None leaves a part as it is; an empty output empties it."""

    output: str | None = None
    is_error: bool | None = None
    additional_context: tuple[str, ...] = _context()


@attrs.frozen
class HookSpec:
    """One row of the table. Types are None where the hook carries nothing."""

    name: str
    semantics: Semantics
    input: type[Any] | None
    output: type[Any] | None


HOOKS: Mapping[str, HookSpec] = {
    spec.name: spec
    for spec in (
        HookSpec(names.SESSION_START, Semantics.NOTIFY, SessionStart, SessionStartOutput),
        HookSpec(names.SESSION_END, Semantics.NOTIFY, SessionEnd, None),
        HookSpec(names.PERMISSION_ASK, Semantics.QUERY, PermissionAsk, PermissionOutput),
        HookSpec(names.SHELL_ENV, Semantics.ACCUMULATE, ShellEnv, ShellEnvOutput),
        HookSpec(
            names.TOOL_EXECUTE_BEFORE, Semantics.GATE, ToolExecuteBefore, ToolExecuteBeforeOutput
        ),
        HookSpec(
            names.TOOL_EXECUTE_AFTER, Semantics.CHAIN, ToolExecuteAfter, ToolExecuteAfterOutput
        ),
        HookSpec(names.DISPOSE, Semantics.NOTIFY, None, None),
    )
}


def spec_of(name: str) -> HookSpec:
    """The table's row; a name that is not in it is a custom event, which only notifies."""
    return HOOKS.get(name) or HookSpec(name, Semantics.NOTIFY, None, None)


# --- to and from the wire


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_Member = tuple[str, str, Callable[[Any, str], Any]]
_members_of: dict[type[Any], Sequence[_Member]] = {}


def _members(kind: type[Any]) -> Sequence[_Member]:
    """Attribute name, name on the wire, and reader of each member."""
    members = _members_of.get(kind)
    if members is None:
        members = _members_of[kind] = [
            (
                field.name,
                _camel(field.name),
                _READERS[field.metadata.get("kind") or str(field.type).split(" ")[0]],
            )
            for field in attrs.fields(kind)
        ]
    return members


def to_wire(event: Any) -> dict[str, Any]:
    """The camelCase form; None and empty maps and tuples are left out."""
    wire: dict[str, Any] = {}
    for name, key, _ in _members(type(event)):
        value = getattr(event, name)
        if value is not None and value != () and value != {}:
            wire[key] = value
    return wire


def from_wire(kind: type[_T], value: Any) -> _T:
    """Read the camelCase form strictly; unknown members are ignored, null is absent.

    Raises ValueError naming the member that is wrong.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"not an object but {value!r:.80}")
    given: dict[str, Any] = {}
    for name, key, read in _members(kind):
        member = value.get(key)
        if member is not None:
            given[name] = read(member, key)
    return kind(**given)


def _read_str(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} is not a string")
    return value


def _read_bool(value: Any, key: str) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{key} is not true or false")
    return value


def _read_strings(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{key} is not a list of strings")
    return tuple(value)


def _read_env(value: Any, key: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise ValueError(f"{key} is not an object of strings")
    return _checked_env(value, key)


def _read_nullable_env(value: Any, key: str) -> dict[str, str | None]:
    if not isinstance(value, Mapping) or not all(
        item is None or isinstance(item, str) for item in value.values()
    ):
        raise ValueError(f"{key} is not an object of strings and nulls")
    return _checked_env(value, key)


def _checked_env(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    for name, item in value.items():
        if not name or "=" in name or "\0" in name or (item is not None and "\0" in item):
            raise ValueError(f"{key}: {name!r:.80} cannot be an environment variable")
    return dict(value)


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "str": _read_str,
    "bool": _read_bool,
    "strings": _read_strings,
    "env": _read_env,
    "env?": _read_nullable_env,
}
