"""`tinyhost hook`: ask plugins what a host program would ask them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, completion, output
from tinyhost_cli.common import (
    host_options,
    json_object,
    plugin_option,
    read_config,
    wanted_specs,
)
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

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
    parsed = json_object(given, "--input")
    code = attached.invoke(setup, name, parsed[1] if parsed else None)
    return _invoke_here(setup, name, parsed[0] if parsed else None) if code is None else code


def _invoke_here(setup: Setup, name: str, input: Mapping[str, Any] | None) -> int:
    from tinyhost.codec import dumps
    from tinyhost.dispatch import Dispatcher
    from tinyhost.present import hook_value
    from tinyhost_cli.hook_text import show
    from tinyhost_cli.hosting import failures, report_failures, with_plugins

    config = read_config(setup)

    async def ask(
        manager: Manager, loaded: Sequence[Loaded]
    ) -> tuple[DispatchResult, Sequence[Loaded]]:
        return await Dispatcher(manager.with_hook).dispatch(name, input), loaded

    result, loaded = with_plugins(setup, config, wanted_specs(setup, config), ask)
    value = hook_value(result, loaded)
    if setup.as_json:
        output.emit(value)
    else:
        show(name, {**value, "plugins": [answer.to_json() for answer in result.answers]}, dumps)
        report_failures(loaded)
    return 1 if failures(loaded) or result.failures or value["stopped"] else 0
