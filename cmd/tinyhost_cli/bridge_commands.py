"""`tinyhost hook claude-code` and its like: answer other agents' hooks, one event a process.

Exit codes are the clients': 0 with JSON on standard output or with none, 2 to stop a call
that nobody could judge, 1 for a failure that stops nothing.
"""

from __future__ import annotations

import click

from tinyhost_cli.bridge_answer import answer, bridge_of
from tinyhost_cli.common import config_option, no_host_option, plugin_option
from tinyhost_cli.setup import Setup


def _command(name: str, help: str) -> click.Command:
    @click.command(name, help=help)
    @plugin_option
    @config_option
    @no_host_option
    def command(config_file: str | None, plugins: tuple[str, ...], no_host: bool) -> int:
        setup = Setup(config_file=config_file, plugins=plugins, no_host=no_host)
        return answer(bridge_of(name), setup)

    return command


_HELP = "Answer a hook of {}, which comes as JSON on standard input. See docs/bridges.md."
claude_code = _command("claude-code", _HELP.format("Claude Code"))
codex = _command("codex", _HELP.format("Codex"))
gemini = _command("gemini", _HELP.format("Gemini CLI"))
opencode = _command("opencode", _HELP.format("the plugin in contrib/opencode"))
