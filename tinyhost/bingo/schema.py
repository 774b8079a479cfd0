"""schema/plugin.json: the wire as JSON Schema, made from the types that read and write it.

`python -m tinyhost.bingo.schema > schema/plugin.json` writes it anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from . import context_messages as context
from . import hook_messages as hooks
from . import messages
from .forms import Defs, schema
from .manifest import PluginManifest
from .refusal import HOST
from .talk import NEWEST, PROTOCOLS
from .types import HookPoint

_HOST, _PLUGIN, _BOTH = "host to plugin", "plugin to host", "both"

# Direction, params, result.
METHODS: Mapping[str, tuple[str, Any, Any]] = {
    "initialize": (_HOST, messages.InitializeParams, messages.InitializeResult),
    "tool/call": (_HOST, messages.ToolCallParams, messages.ToolCallResult),
    "command/run": (_HOST, messages.CommandRunParams, messages.CommandRunResult),
    "command/complete": (_HOST, messages.CommandCompleteParams, messages.CommandCompleteResult),
    "context/contribute": (_HOST, context.ContributeParams, context.ContributeResult),
    "compactor/compact": (_HOST, context.CompactParams, context.CompactResult),
    "provider/stream": (_HOST, messages.ProviderStreamParams, messages.ProviderStreamResult),
    "hook/decide": (_HOST, hooks.HookParams, hooks.HookResult),
    "service/call": (_BOTH, messages.ServiceCallParams, messages.ServiceCallResult),
}
# Direction, params.
NOTIFICATIONS: Mapping[str, tuple[str, Any]] = {
    "tool/progress": (_PLUGIN, messages.ToolProgress),
    "tool/cancel": (_HOST, messages.ToolCancel),
    "provider/delta": (_PLUGIN, messages.ProviderDelta),
    "provider/cancel": (_HOST, messages.ProviderCancel),
    "hook/observe": (_HOST, hooks.HookParams),
}
# The payload at each point; none at `stop`.
PAYLOADS: Mapping[HookPoint, Any] = {
    HookPoint.SUBMIT: hooks.PayloadSubmit,
    HookPoint.BEFORE_TOOL: hooks.PayloadBeforeTool,
    HookPoint.AFTER_TOOL: hooks.PayloadAfterTool,
    HookPoint.TURN: hooks.PayloadTurn,
    HookPoint.COMPACT: hooks.PayloadPhase,
    HookPoint.SESSION: hooks.PayloadPhase,
    HookPoint.EVENT: hooks.PayloadEvent,
}
HOST_SERVICE: Mapping[str, tuple[Any, Any]] = {
    "ask": (messages.AskParams, messages.AskResult),
    "notice": (messages.NoticeParams, messages.NoticeResult),
}


def document() -> dict[str, Any]:
    """The whole document."""
    defs: Defs = {}
    older = {
        "compactor/compact": _method(_HOST, context.CompactParams5, context.CompactResult5, defs)
    }
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bingo plugin",
        "description": "The wire of bingo's plugins as tinyhost speaks it: JSON-RPC 2.0 in lines.",
        "protocol": NEWEST,
        "accepted": list(PROTOCOLS),
        "manifest": schema(PluginManifest, defs),
        "methods": {name: _method(*shape, defs) for name, shape in METHODS.items()},
        "notifications": {
            name: {"direction": direction, "params": schema(params, defs)}
            for name, (direction, params) in NOTIFICATIONS.items()
        },
        "payloads": {str(point): schema(kind, defs) for point, kind in PAYLOADS.items()},
        "hostService": {
            "key": HOST,
            "methods": {
                name: {"params": schema(params, defs), "result": schema(result, defs)}
                for name, (params, result) in HOST_SERVICE.items()
            },
        },
        "protocol5": older,
    }
    return {**found, "$defs": dict(sorted(defs.items()))}


def _method(direction: str, params: Any, result: Any, defs: Defs) -> dict[str, Any]:
    return {
        "direction": direction,
        "params": schema(params, defs),
        "result": schema(result, defs),
    }


def text() -> str:
    """The document as the file has it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
