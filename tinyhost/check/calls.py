"""Checks of hooks, with harmless inputs, and of the tools that the person has named."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import trio

from tinyhost_sdk import names

from ..hooks import (
    HOOKS,
    PermissionAsk,
    SessionEnd,
    SessionStart,
    ShellEnv,
    ToolExecuteAfter,
    ToolExecuteBefore,
    from_wire,
    to_wire,
)
from ..model import ToolSpec
from .case import Case, reported
from .model import Failed, Skipped, Warned

_SESSION = "ses_check"
_ARGS = '{"path":"README.md"}'
# The tools' arguments are JSON text of any kind, and a model may have written them.
_ODD_ARGS = ("null", '"text"', "[1]", "", "{", '{"path":"\\ud83d é漢😀\\u0000"}')
_BEFORE_CANCEL = 0.2  # seconds that a call runs until it is cancelled


def samples(directory: str) -> dict[str, Any]:
    """A harmless event for each hook, as the wire has it."""
    events = {
        names.SESSION_START: SessionStart(session_id=_SESSION, directory=directory),
        names.PERMISSION_ASK: PermissionAsk(
            session_id=_SESSION, tool_name="read", tool_args=_ARGS, permission="read"
        ),
        names.TOOL_EXECUTE_BEFORE: ToolExecuteBefore(
            session_id=_SESSION, tool_name="read", tool_args=_ARGS
        ),
        names.SHELL_ENV: ShellEnv(session_id=_SESSION, directory=directory, env={"LANG": "C"}),
        names.TOOL_EXECUTE_AFTER: ToolExecuteAfter(
            session_id=_SESSION, tool_name="read", tool_args=_ARGS, output="text"
        ),
        names.SESSION_END: SessionEnd(session_id=_SESSION),
    }
    return {name: to_wire(event) for name, event in events.items()}


async def hooks(case: Case) -> str:
    """Each declared hook answers in time, with what the host understands."""
    declared = [hook for hook in samples("") if hook in case.manifest.hooks]
    if not declared:
        raise Skipped("it declares no hook that can be asked without effect")
    await case.start()
    for hook in declared:
        await _ask(case, hook, samples(case.link.directory)[hook])
    return ", ".join(declared)


async def _ask(case: Case, hook: str, event: Any) -> None:
    try:
        with reported():
            output = await case.dialect.invoke_hook(case.link, hook, event)
    except Failed as error:
        raise Failed(f"{hook}: {error.text}") from error
    kind = HOOKS[hook].output
    if kind is not None and output is not None:
        try:
            from_wire(kind, output)
        except ValueError as error:
            raise Failed(f"{hook}: its output is not understood: {error}") from error


async def odd_hooks(case: Case) -> str:
    """Arguments of any form are answered somehow, and survived."""
    with_args = (names.PERMISSION_ASK, names.TOOL_EXECUTE_BEFORE, names.TOOL_EXECUTE_AFTER)
    declared = [hook for hook in with_args if hook in case.manifest.hooks]
    if not declared or case.target.dialect != "native":
        raise Skipped("it declares no hook that gets the arguments of a tool")
    await case.start()
    for hook in declared:
        for args in _ODD_ARGS:
            event = {**samples(case.link.directory)[hook], "toolArgs": args}
            params = case.params({"name": hook, "input": event})
            try:
                await case.ask(names.HOOK_INVOKE, params, seconds=case.timeouts.hook)
            except Failed as error:
                raise Failed(f"{hook} with the arguments {args!r}: {error.text}") from error
    return ""


def _named_tools(case: Case) -> list[tuple[ToolSpec, str]]:
    if not case.target.calls:
        raise Skipped("no tool was named with --call, and tools may have effects")
    offered = {tool.name: tool for tool in case.manifest.tools}
    offered |= {tool.id: tool for tool in case.manifest.tools}
    for name in case.target.calls:
        if name not in offered:
            there = ", ".join(tool.name for tool in case.manifest.tools) or "none"
            raise Failed(f"it offers no tool {name}; there are: {there}")
    return [(offered[name], args) for name, args in case.target.calls.items()]


async def call(case: Case) -> str:
    """The named tools answer in the form that the wire asks for."""
    tools = _named_tools(case)
    await case.start()
    for tool, args in tools:
        with reported():
            result = await case.call_tool(tool, args)
        if result.is_error:
            raise Warned(f"tool {tool.name} answered that it failed: {result.content:.200}")
    return ", ".join(tool.name for tool, _ in tools)


@contextlib.contextmanager
def _another_checks() -> Iterator[None]:
    """Whether the tool is there, and its answer right, is what another check is about."""
    try:
        with reported():
            yield
    except Failed as error:
        raise Skipped(f"the call failed: {error.text}") from error


async def progress(case: Case) -> str:
    """What it reports belongs to the call that is under way."""
    if not case.manifest.progress:
        raise Skipped("it does not offer progress")
    with _another_checks():
        tools = _named_tools(case)
    session = await case.start()
    for tool, args in tools:
        first = session.next_id()
        with _another_checks():
            await case.call_tool(tool, args)
        asked = range(first, session.next_id())
        if case.target.dialect == "native":
            _check_progress(session.notifications, asked)
    count = len(session.notifications)
    return f"{count} reports" if count else "the call reported none"


def _check_progress(notifications: list[Any], asked: range) -> None:
    for note in notifications:
        params = note.params if isinstance(note.params, dict) else {}
        if note.method != names.TOOL_PROGRESS:
            raise Failed(f"a notification that the host does not know: {note.method:.80}")
        if type(params.get("id")) is not int or params["id"] not in asked:
            raise Failed(f"a report names the request {params.get('id')!r:.40}, not the call's id")
        if type(params.get("message")) is not str:
            raise Failed("a report's message is not a string")


async def cancel(case: Case) -> str:
    """A call can be cancelled, and the next request is answered."""
    if not case.manifest.cancel:
        raise Skipped("it does not offer cancel")
    with _another_checks():
        tool, args = _named_tools(case)[0]
    await case.start()
    with trio.move_on_after(_BEFORE_CANCEL) as scope, _another_checks():
        await case.call_tool(tool, args)
    await case.link.flush()
    await case.still_answers("a call was cancelled")
    return "" if scope.cancelled_caught else "the call had ended before it was cancelled"
