"""Checks of the handshake, and of what the plugin says of itself in it."""

from __future__ import annotations

import difflib
from typing import Any

from ..errors import CallTimeout, PluginDied, PluginError, RemoteError
from ..hooks import HOOKS
from ..json_schema import BadSchema, compile_schema
from .case import Case, reported
from .model import Failed, Skipped, Warned

_SLOW_START = 0.2  # of the time that the handshake may take
_CLOSE = 0.8  # how alike a misspelt hook and a real one are
_SHOWN = 5


async def handshake(case: Case) -> str:
    """The first request is answered in time, with a result."""
    session = case.spawn()
    try:
        case.known.manifest = await case.shake_hands()
    except (CallTimeout, PluginDied, RemoteError):
        with reported():
            raise
    except (PluginError, ValueError, TypeError) as error:
        # That it answered is all that is asked here.
        case.known.broken = f"{error}"
        return f"answered, with what the host refuses: {error}"
    return f"answered in {case.known.starts[-1] * 1000:.0f} ms, process {session.process.pid}"


async def manifest(case: Case) -> str:
    """The host takes the manifest, and finds something in it."""
    if case.known.broken:
        raise Failed(f"the host refuses it: {case.known.broken}")
    known = case.manifest
    if case.target.dialect == "native" and not known.tools and not known.hooks:
        raise Warned("it offers no tools and declares no hooks, so nothing is ever asked of it")
    return f"tools: {len(known.tools)}, hooks: {len(known.hooks)}"


async def find_ping(case: Case, candidate: tuple[str, str]) -> bool:
    """Whether a plugin that has just been started answers this, with whatever."""
    try:
        await case.start()
        await case.ask(*candidate)
    except Failed:
        return False
    return True


async def identity(case: Case) -> str:
    """It has a name and a version."""
    known = case.manifest
    missing = [
        what for what, value in (("id", known.reported_id), ("version", known.version)) if not value
    ]
    if missing:
        raise Failed(f"it says no {' and no '.join(missing)}")
    return f"{known.reported_id} {known.version}"


async def descriptions(case: Case) -> str:
    """Each tool says what it does."""
    tools = case.manifest.tools
    if not tools:
        raise Skipped("it offers no tools")
    bare = [tool.name for tool in tools if not tool.description.strip()]
    if bare:
        raise Failed(f"no description: {_list(bare)}")
    return ""


async def schemas(case: Case) -> str:
    """Each tool's schema can be compiled, and what it requires is described."""
    tools = case.manifest.tools
    if not tools:
        raise Skipped("it offers no tools")
    for tool in tools:
        if problem := _schema_problem(dict(tool.input_schema)):
            raise Failed(f"tool {tool.name}: {problem}")
    for tool in tools:
        schema = tool.input_schema
        described = schema.get("properties", {})
        lost = [name for name in schema.get("required", ()) if name not in described]
        if lost and not schema.get("patternProperties"):
            raise Warned(f"tool {tool.name}: required but not in properties: {_list(lost)}")
    return f"{len(tools)} compiled"


def _schema_problem(schema: dict[str, Any]) -> str | None:
    try:
        compile_schema(schema)
    except BadSchema as error:
        return f"its schema does not compile: {error}"
    except RecursionError:
        return "its schema is nested too deeply"
    return None


async def hook_names(case: Case) -> str:
    """No hook looks like a misspelt one."""
    hooks = case.manifest.hooks
    if not hooks:
        raise Skipped("it declares no hooks")
    custom = [hook for hook in hooks if hook not in HOOKS]
    for hook in custom:
        if close := _meant(hook):
            raise Failed(f"{hook} is not a hook that the host knows; is {close} meant?")
    return f"custom events: {_list(custom)}" if custom else ""


def _meant(hook: str) -> str | None:
    # As letters alone, so that tool_execute_before and toolExecuteBefore are found, too.
    plain = {_letters(name): name for name in HOOKS}
    close = difflib.get_close_matches(_letters(hook), plain, n=1, cutoff=_CLOSE)
    return plain[close[0]] if close else None


def _letters(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalpha())


async def start_time(case: Case) -> str:
    """It starts quickly."""
    seconds = sorted(case.known.starts)[len(case.known.starts) // 2]
    text = f"{seconds * 1000:.0f} ms, the median of {len(case.known.starts)} starts"
    if seconds > _SLOW_START * case.timeouts.handshake:
        raise Failed(text)
    return text


def _list(names: list[str]) -> str:
    shown = ", ".join(f"{name:.80}" for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
