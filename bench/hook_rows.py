"""A hook's round trip: plugin, dispatcher and builtin against a blocking ping-pong."""

from __future__ import annotations

import os

from tinyhost import hooks
from tinyhost.builtins.base import BuiltinPlugin
from tinyhost.dispatch import Dispatcher
from tinyhost_sdk import names

from . import placement
from .harness import Row, one_by_one, one_by_one_blocking, take_turns
from .programs import PingPong
from .traffic import HOOK, HOOK_INPUT, HOOK_OUTPUT, HOOK_PARAMS, expect
from .workspace import Workspace

# Case, what it is, whether the goal is its own.
_CASES = (
    ("plugin", "hook round trip, SDK plugin", True),
    ("dispatcher", "the same through the dispatcher", False),
    ("builtin", "the same hook of a builtin", False),
)


class _Guard(BuiltinPlugin):
    name = "bench-builtin"

    async def permission_ask(self, event: hooks.PermissionAsk) -> hooks.PermissionOutput | None:
        if "forbidden" in event.tool_args:
            return hooks.PermissionOutput(allowed=False, reason="the command contains: forbidden")
        return None


async def measure(workspace: Workspace, quick: bool) -> list[Row]:
    """The rows of this family, for each placement."""
    rounds, count = (5, 50) if quick else (21, 500)
    program = workspace.add_plugin("bench-hook", "bench_children.sdk_plugin", "main")
    event = hooks.from_wire(hooks.PermissionAsk, HOOK_INPUT)
    builtin = _Guard()
    rows = []
    with PingPong(workspace, [program]) as floor:
        async with workspace.open_manager() as manager:
            plugin = await manager.load_spec(workspace.spec("bench-hook"))
            dispatcher = Dispatcher(manager.with_hook)
            expect("the plugin", await plugin.invoke_hook(HOOK, HOOK_INPUT), HOOK_OUTPUT)
            expect("the builtin", await builtin.invoke_hook(HOOK, HOOK_INPUT), HOOK_OUTPUT)
            cases = {
                "floor": one_by_one_blocking(
                    lambda: floor.ask(names.HOOK_INVOKE, HOOK_PARAMS), count
                ),
                "plugin": one_by_one(lambda: plugin.invoke_hook(HOOK, HOOK_INPUT), count),
                "dispatcher": one_by_one(lambda: dispatcher.permission_ask(event), count),
                "builtin": one_by_one(lambda: builtin.invoke_hook(HOOK, HOOK_INPUT), count),
            }
            children = [floor.pid, plugin.info.pid or 0]
            for where in placement.every():
                with placement.placed(where, callers=[os.getpid()], children=children):
                    times = await take_turns(cases, rounds=rounds, warm_up=2)
                rows += [
                    Row(
                        name=f"hook.{case}.{where}",
                        what=what,
                        against="blocking ping-pong",
                        goal=1.5 if has_goal and where != placement.FREE else None,
                        seconds=times[case],
                        floor_seconds=times["floor"],
                    )
                    for case, what, has_goal in _CASES
                    # Without a child there is nothing to place.
                    if case != "builtin" or where == placement.every()[0]
                ]
    return rows
