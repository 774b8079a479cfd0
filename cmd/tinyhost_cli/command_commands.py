"""`tinyhost command`: the commands that plugins offer to a person, such as /wordcount."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, offer_lists, output
from tinyhost_cli.common import host_options, plugin_option, read_config, wanted_specs
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.bingo.messages import CommandOutcome
    from tinyhost.bingo.types import Completion
    from tinyhost.host import Host
    from tinyhost.manager import Loaded

command = LazyGroup(
    "command",
    help="Run the commands that plugins offer.",
    lazy={
        "list": (f"{__name__}:list_commands", "List the commands of plugins"),
        "run": (f"{__name__}:run", "Run a command, and show what it comes to"),
        "complete": (f"{__name__}:complete", "Show how a command line could go on"),
    },
)


@click.command("list")
@plugin_option
@host_options
def list_commands(setup: Setup) -> int:
    """Load the plugins, and list the commands that they offer.

    Exit code 1 when a plugin did not load.
    """
    return offer_lists.show(
        setup,
        "commands",
        ("COMMAND", "PLUGIN", "ARGUMENTS", "DESCRIPTION"),
        lambda row: (f"/{row['name']}", row["plugin"], _arguments(row), row["hint"]),
    )


def _arguments(row: Mapping[str, Any]) -> str:
    args = row["args"]
    return str(args.get("hint") or args.get("source") or "-")


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@plugin_option
@host_options
def run(setup: Setup, name: str, args: Sequence[str]) -> int:
    """Run a command: tinyhost command run [OPTIONS] /NAME [ARGS]...

    What is behind the name is the command's own, joined by spaces. At a terminal a view is
    shown as tables, trees and the like, elsewhere as text. Text for a model is printed.
    """
    name, _, first = name.partition(" ")
    typed = " ".join([*([first] if first else []), *args])
    answer = attached.ask_host(setup, "command/run", {"name": name, "args": typed})
    value = answer[0] if answer else _run_here(setup, name, typed)
    if setup.as_json:
        output.emit(value)
    else:
        from tinyhost.bingo.forms import read_any
        from tinyhost.bingo.messages import CommandOutcome

        _show(read_any(CommandOutcome, value["outcome"]))
    return 0


def _run_here(setup: Setup, name: str, typed: str) -> Mapping[str, Any]:
    from tinyhost.bingo.forms import write
    from tinyhost_cli.hosting import report_failures, with_host

    async def ask(host: Host, loaded: Sequence[Loaded]) -> CommandOutcome:
        report_failures(loaded)
        session = await host.session_start(setup.directory)
        try:
            return await host.manager.offers.run_command(
                name, typed, directory=session.directory, session=session.id
            )
        finally:
            await host.session_end(session)

    config = read_config(setup)
    outcome = with_host(setup, config, wanted_specs(setup, config), ask)
    return {"command": name.removeprefix("/"), "outcome": write(outcome)}


def _show(outcome: CommandOutcome) -> None:
    from tinyhost.bingo.commands import outcome_text
    from tinyhost.bingo.messages import OutcomeView

    if isinstance(outcome, OutcomeView) and sys.stdout.isatty():
        from tinyhost_cli.views import print_view

        print_view(outcome.view)
    elif text := outcome_text(outcome):
        output.content(text if text.endswith("\n") else text + "\n")


@click.command()
@click.argument("text")
@plugin_option
@host_options
def complete(setup: Setup, text: str) -> int:
    """Show how TEXT, such as "/wordcount no", could go on: names, or a command's arguments."""
    answer = attached.ask_host(setup, "command/complete", {"text": text})
    value = answer[0] if answer else _complete_here(setup, text)
    if setup.as_json:
        output.emit(value)
    elif found := value["completions"]:
        output.table(("VALUE", "LABEL"), [(one["value"], one["label"] or "-") for one in found])
    return 0


def _complete_here(setup: Setup, text: str) -> Mapping[str, Any]:
    from tinyhost_cli.hosting import report_failures, with_host

    async def ask(host: Host, loaded: Sequence[Loaded]) -> Sequence[Completion]:
        report_failures(loaded)
        return await host.manager.offers.complete(text, directory=host.directory)

    config = read_config(setup)
    found = with_host(setup, config, wanted_specs(setup, config), ask)
    return {"completions": [{"value": one.value, "label": one.label} for one in found]}
