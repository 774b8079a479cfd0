"""Hooks in config.json: shell commands, by the hook that they run at."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from tinyhost.config_object import read_object, setting
from tinyhost.config_values import COMMAND, DURATION, MATCH, Form, Place, nearest
from tinyhost.jsonc import Node
from tinyhost_sdk.names import (
    PERMISSION_ASK,
    SESSION_END,
    SESSION_START,
    TOOL_EXECUTE_AFTER,
    TOOL_EXECUTE_BEFORE,
)

# Where shell commands can run.
SHELL_EVENTS = (
    SESSION_START,
    SESSION_END,
    PERMISSION_ASK,
    TOOL_EXECUTE_BEFORE,
    TOOL_EXECUTE_AFTER,
)


@attrs.frozen(kw_only=True)
class ShellHookForm:
    """One shell command that runs at a hook."""

    command: str | None = setting(COMMAND, "Run by sh -c, in the session's directory.")
    match: Mapping[str, str] | None = setting(
        MATCH, "When to run it: values or globs for tool and session. Default: always."
    )
    timeout: float | None = setting(DURATION, "When it is stopped. Default 10s.")


@attrs.frozen(kw_only=True)
class ShellHook:
    """A shell command that can run. where: its key, file and line, for messages.

    match: patterns by lower-case key; a key that no event has makes it never match.
    timeout: in seconds.
    """

    event: str
    command: str
    where: str
    match: Mapping[str, str] = attrs.field(factory=dict)
    timeout: float = 10.0


def _read_hooks(node: Node, place: Place) -> dict[str, list[ShellHook]] | None:
    if node.kind == "null":
        return {}
    if node.kind != "object":
        place.error(node, 'must be an object such as {"tool.execute.before": [...]}')
        return None
    found: dict[str, list[ShellHook]] = {}
    last = {member.key.value: member for member in node.members}
    for member in node.members:
        if member is not last[member.key.value]:
            at = place.at(member.key.value)
            at.error(member.key, "this hook is repeated: the commands of this one do not run")
    for member in last.values():
        event, at = member.key.value, place.at(member.key.value)
        if event not in SHELL_EVENTS:
            close = nearest(event, SHELL_EVENTS) or "; there are: " + ", ".join(SHELL_EVENTS)
            at.warning(member.key, f"shell commands cannot run at this hook{close}")
        elif member.value.kind == "array":
            items = enumerate(member.value.items)
            hooks = [_read_shell_hook(event, item, at.at(index)) for index, item in items]
            found[event] = [hook for hook in hooks if hook is not None]
        elif member.value.kind != "null":
            at.error(member.value, 'must be an array such as [{"command": "..."}]')
    return found


def _read_shell_hook(event: str, node: Node, place: Place) -> ShellHook | None:
    form = read_object(ShellHookForm, node, place)
    if form is None or form.command is None:
        if form is not None and node.get("command") is None:
            place.error(node, "needs a command")
        return None
    match = form.match or {}
    if "tool" in match and event in (SESSION_START, SESSION_END):
        place.warning(node, "never runs: a session event has no tool to match")
    given = {} if form.timeout is None else {"timeout": form.timeout}
    where = f"{place.key} ({place.file}:{node.line})"
    return ShellHook(event=event, command=form.command, where=where, match=match, **given)


HOOKS = Form(
    {
        "type": ["object", "null"],
        "properties": {
            event: {
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/shellHook", "required": ["command"]},
            }
            for event in SHELL_EVENTS
        },
        "additionalProperties": False,
    },
    _read_hooks,
)
