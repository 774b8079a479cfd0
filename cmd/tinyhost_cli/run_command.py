"""`tinyhost run`: run a command after the plugins have been asked, with its terminal kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import output
from tinyhost_cli.attached import DENIED
from tinyhost_cli.common import host_options, plugin_option, read_config
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinyhost.host import Host
    from tinyhost.manager import Loaded


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--shell", "text", metavar="TEXT", help="A line of shell text, in place of COMMAND.")
@click.option("--explain", is_flag=True, help="Show every decision on standard error.")
@plugin_option
@host_options
def run(setup: Setup, command: tuple[str, ...], text: str | None, explain: bool) -> int:
    """Run a command the guarded way: tinyhost run [OPTIONS] -- COMMAND...

    Rules and plugins are asked first (as tool `bash`), may rewrite the command and its
    environment, and are told how it ended. The command keeps the terminal: input, output,
    signals and window size are its own.

    The exit code is the command's, 128 and the number of the signal that ended it, or 126
    when it was denied. With --json nobody is asked, and what is said on standard error is
    one line of JSON.
    """
    if (text is None) == (not command):
        raise click.UsageError("Give either a command after -- or --shell TEXT, and not both.")
    from tinyhost_cli import attached

    status = attached.run(setup, command, text, explain=explain)
    return _run_here(setup, command, text, explain) if status is None else status


def _run_here(setup: Setup, command: tuple[str, ...], text: str | None, explain: bool) -> int:
    from tinyhost.errors import CallDenied
    from tinyhost.host import COMMAND_TOOL
    from tinyhost.present import run_value
    from tinyhost_cli.explain import tell
    from tinyhost_cli.hosting import report_failures, unheard, with_host
    from tinyhost_cli.passthrough import CommandNotStarted, Passthrough

    config = read_config(setup)
    specs = [config.spec_for(name) for name in dict.fromkeys(setup.plugins)] or config.specs
    runner = Passthrough()
    told: dict[str, Any] = {}

    async def guarded(host: Host, loaded: Sequence[Loaded]) -> int:
        missing = unheard(host, loaded, setup.plugins)
        if missing is None and not setup.as_json:
            report_failures(loaded)
        session = await host.session_start(setup.directory)
        try:
            if missing is not None:
                raise CallDenied(COMMAND_TOOL, missing)
            outcome = await host.run_command(text if text is not None else command, session, runner)
            told.update(run_value(session, outcome))
        except CallDenied as error:
            told.update(run_value(session, error))
            return DENIED
        finally:
            await host.session_end(session)
        return runner.status

    try:
        status = with_host(setup, config, specs, guarded)
    except CommandNotStarted as error:
        output.problem(str(error))
        return error.status
    tell({**told, "exitStatus": status}, explain=explain, as_json=setup.as_json)
    return status
