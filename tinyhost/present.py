"""The host's records as JSON values, in one form for the command, the socket and HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    # An error is shown without all that a host is made of.
    from .dispatch import DispatchResult
    from .errors import CallDenied
    from .manager import Loaded
    from .model import Confinement, Limits, PluginInfo, ToolSpec
    from .offers import Offer
    from .outcomes import Outcome, Session


def camel(name: str) -> str:
    """The name of a field as it is written in JSON."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def plugin_value(info: PluginInfo) -> dict[str, Any]:
    """A loaded plugin."""
    counters = {camel(name): count for name, count in attrs.asdict(info.counters).items()}
    return {
        "name": info.name,
        "id": info.id,
        "version": info.version,
        "dialect": info.dialect,
        "pid": info.pid,
        "state": str(info.state),
        "message": info.message or None,
        "path": info.path,
        "hooks": list(info.hooks),
        "tools": [tool_value(tool) for tool in info.tools],
        "capabilities": {kind: list(names) for kind, names in info.capabilities.items()},
        "spawnMs": round(info.spawn_ms, 3),
        "handshakeMs": round(info.handshake_ms, 3),
        "limits": limits_value(info.limits),
        "sandbox": confinement_value(info.confinement),
        "counters": counters,
    }


def loaded_value(result: Loaded) -> dict[str, Any]:
    """What became of one plugin that was to be loaded."""
    ms = round(result.seconds * 1000, 3)
    if result.plugin is None:
        assert result.error is not None
        return {
            "name": result.spec.name,
            "loaded": False,
            "error": error_value(result.error),
            "ms": ms,
        }
    return {**plugin_value(result.plugin.info), "loaded": True, "ms": ms}


def tool_value(tool: ToolSpec) -> dict[str, Any]:
    """A tool."""
    return {
        "id": tool.id,
        "name": tool.name,
        "plugin": tool.plugin,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "permission": tool.permission,
        **({"hints": dict(tool.hints)} if tool.hints else {}),
    }


def limits_value(limits: Limits) -> dict[str, Any]:
    """The limits that are set: bytes, seconds and counts."""
    found = attrs.asdict(limits)
    return {camel(name): value for name, value in found.items() if value is not None}


def confinement_value(confinement: Confinement | None) -> dict[str, Any] | None:
    """A sandbox in force; null where there is none."""
    if confinement is None:
        return None
    return {
        "engine": confinement.engine,
        "read": list(confinement.read),
        "write": list(confinement.write),
        "network": confinement.network,
        "gaps": list(confinement.gaps),
    }


def outcome_value(tool_id: str, outcome: Outcome, ms: float) -> dict[str, Any]:
    """What a tool answered. ms: how long it took, with all that was asked before and after."""
    return {
        "tool": tool_id,
        "content": outcome.content,
        "isError": outcome.is_error,
        "additionalContext": list(outcome.contexts),
        **({"details": outcome.details} if outcome.details else {}),
        "ms": round(ms, 3),
    }


def hook_value(result: DispatchResult, loaded: Sequence[Loaded] = ()) -> dict[str, Any]:
    """What plugins answered to a hook, and what it means.

    loaded: those that were to be loaded for it; one that did not load is one that failed.
    verdict: the meaning in words; stopped: whether it keeps a call from going ahead at once.
    """
    said = {answer.plugin: answer.to_json() for answer in result.answers}
    for one in loaded:
        if one.plugin is None and one.error is not None and not _is_skip(one.error):
            ms = round(one.seconds * 1000, 3)
            said[one.spec.name] = {"name": one.spec.name, "error": str(one.error), "ms": ms}
    order = dict.fromkeys([*(one.spec.name for one in loaded), *said])
    verdict, stopped = _meaning(result)
    return {
        **result.to_json(),
        "plugins": [said[name] for name in order if name in said],
        "verdict": verdict,
        "stopped": stopped,
    }


def _is_skip(error: BaseException) -> bool:
    from .errors import PluginSkipped

    return isinstance(error, PluginSkipped)  # what is built in need not be loaded


def _meaning(result: DispatchResult) -> tuple[str, bool]:
    from . import codec
    from .dispatch import BeforeResult, PermissionResult

    if isinstance(result, PermissionResult) and result.allowed is not None:
        reason = f": {result.reason}" if result.reason else ""
        return (
            ("allowed", False) if result.allowed else (f"denied by {result.plugin}{reason}", True)
        )
    if isinstance(result, PermissionResult) and result.ask:
        reason = result.reason or "it gives no reason"
        return f"{result.plugin} wants the person asked: {reason}", True
    if isinstance(result, BeforeResult) and result.blocked_by:
        return f"stopped by {result.blocked_by}: {result.reason}", True
    merged = result.output()
    if merged is not None:
        return codec.dumps(merged), False
    failed = "no opinion, but a plugin failed to answer"
    return (failed if result.failures else "no opinion"), False


def run_value(session: Session, done: Outcome | CallDenied) -> dict[str, Any]:
    """What was decided about a command that was to run.

    args: its arguments as JSON text where a plugin rewrote them.
    """
    if isinstance(done, BaseException):
        to_json = getattr(done.decision, "to_json", None)
        decision, reason = to_json() if to_json else None, done.reason
        return _run_value(session, decision, [], denied=True, reason=reason)
    verdict = done.verdict
    args = verdict.args_text if verdict.rewritten else None
    contexts = [*session.contexts, *done.contexts]
    return _run_value(session, verdict.decision.to_json(), contexts, args=args)


def _run_value(
    session: Session,
    decision: Any,
    contexts: Sequence[str],
    *,
    denied: bool = False,
    reason: str = "",
    args: str | None = None,
) -> dict[str, Any]:
    return {
        "session": session.id,
        "denied": denied,
        "reason": reason,
        "decision": decision,
        "args": args,
        "contexts": contexts,
    }


def command_value(offer: Offer) -> dict[str, Any]:
    """A command that a plugin offers."""
    from .bingo.forms import write

    return {"plugin": offer.plugin.name, **write(offer.what.spec)}


def service_value(offer: Offer) -> dict[str, Any]:
    """A service that a plugin offers."""
    methods = dict(offer.what.spec.methods)
    return {"key": offer.name, "plugin": offer.plugin.name, "methods": methods}


def error_value(error: BaseException) -> dict[str, Any]:
    """An error: its type, its text, and its fields."""
    fields = {
        camel(name): _plain(value)
        for name, value in vars(error).items()
        if not name.startswith("_")
    }
    notes = list(getattr(error, "__notes__", ()))
    extra = {"notes": notes} if notes else {}
    return {"type": type(error).__name__, "message": str(error), **fields, **extra}


def _plain(value: Any) -> Any:
    to_json = getattr(value, "to_json", None)
    if to_json is not None:
        return to_json()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
