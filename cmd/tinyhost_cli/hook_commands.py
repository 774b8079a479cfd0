"""`tinyhost hook`: ask plugins what a host program would ask them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import completion, output
from tinyhost_cli.common import (
    Setup,
    host_options,
    json_object,
    plugin_option,
    read_config,
    wanted_specs,
)
from tinyhost_cli.lazy import LazyGroup

if TYPE_CHECKING:
    from tinyhost.dispatch import DispatchResult
    from tinyhost.manager import Loaded, Manager

hook = LazyGroup(
    "hook",
    help="Ask plugins, as a host program does.",
    lazy={
        "invoke": (f"{__name__}:invoke", "Invoke a hook, and show what plugins answer"),
        "claude-code": ("tinyhost_cli.bridge_commands:claude_code", "Answer a hook of Claude Code"),
        "codex": ("tinyhost_cli.bridge_commands:codex", "Answer a hook of Codex"),
        "gemini": ("tinyhost_cli.bridge_commands:gemini", "Answer a hook of Gemini CLI"),
        "opencode": ("tinyhost_cli.bridge_commands:opencode", "Answer a hook of opencode"),
    },
)


@click.command()
@click.argument("name", shell_complete=completion.hook_names)
@click.option("--input", "given", metavar="JSON", help="The hook's input, an object; '-' reads it.")
@plugin_option
@host_options
def invoke(setup: Setup, name: str, given: str | None) -> int:
    """Invoke a hook of all loaded plugins, and show the merged answer and each plugin's own.

    Exit code 1 when a plugin denies or stops the call, wants the person asked, fails to
    answer, or does not load.
    For example:

    \b
      tinyhost hook invoke permission.ask --plugin safety-net --input \\
        '{"toolName": "bash", "toolArgs": "{\\"command\\": \\"rm -rf /\\"}"}'
    """
    from tinyhost.dispatch import Dispatcher
    from tinyhost_cli.hosting import failures, report_failures, with_plugins

    parsed = json_object(given, "--input")
    config = read_config(setup)

    async def ask(
        manager: Manager, loaded: Sequence[Loaded]
    ) -> tuple[DispatchResult, Sequence[Loaded]]:
        dispatcher = Dispatcher(manager.with_hook)
        return await dispatcher.dispatch(name, parsed[0] if parsed else None), loaded

    result, loaded = with_plugins(setup, config, wanted_specs(setup, config), ask)
    failed = failures(loaded)
    if setup.as_json:
        output.emit({**result.to_json(), "plugins": _answers(result, loaded, failed)})
    else:
        _show(name, result)
        report_failures(loaded)
    return 1 if failed or result.failures or _stopped(result) else 0


def _answers(
    result: DispatchResult, loaded: Sequence[Loaded], failed: Sequence[Loaded]
) -> Sequence[Mapping[str, Any]]:
    """Each plugin's answer in load order; one that did not load is one that failed."""
    said = {answer.plugin: answer.to_json() for answer in result.answers}
    for one in failed:
        ms = round(one.seconds * 1000, 3)
        said[one.spec.name] = {"name": one.spec.name, "error": str(one.error), "ms": ms}
    order = dict.fromkeys(one.spec.name for one in loaded)
    return [said[name] for name in order if name in said]


def _show(name: str, result: DispatchResult) -> None:
    from tinyhost import codec

    if not result.answers:
        output.problem(f"no loaded plugin declared the hook {name}{_meant(name)}")
        return
    output.say(_verdict(result))
    output.table(
        ("PLUGIN", "MS", "ANSWER"),
        [
            (
                answer.plugin,
                f"{answer.ms:.1f}",
                f"failed: {answer.error}" if answer.error else codec.dumps(answer.raw),
            )
            for answer in result.answers
        ],
    )


def _verdict(result: DispatchResult) -> str:
    from tinyhost import codec
    from tinyhost.dispatch import BeforeResult, PermissionResult

    if isinstance(result, PermissionResult) and result.allowed is not None:
        if result.allowed:
            return "allowed"
        return f"denied by {result.plugin}" + (f": {result.reason}" if result.reason else "")
    if isinstance(result, PermissionResult) and result.ask:
        return f"{result.plugin} wants the person asked: {result.reason or 'it gives no reason'}"
    if isinstance(result, BeforeResult) and result.blocked_by:
        return f"stopped by {result.blocked_by}: {result.reason}"
    merged = result.output()
    if merged is not None:
        return codec.dumps(merged)
    return "no opinion, but a plugin failed to answer" if result.failures else "no opinion"


def _stopped(result: DispatchResult) -> bool:
    from tinyhost.dispatch import BeforeResult, PermissionResult

    if isinstance(result, PermissionResult):
        return result.allowed is False or result.ask
    return isinstance(result, BeforeResult) and bool(result.blocked_by)


def _meant(name: str) -> str:
    import difflib

    from tinyhost.hooks import HOOKS

    close = [] if name in HOOKS else difflib.get_close_matches(name, HOOKS, n=1)
    return f"; did you mean {close[0]}?" if close else ""
