"""`tinyhost trust`: decide about what projects bring, and look at what was decided."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import attached, output
from tinyhost_cli.common import json_option, setup_options
from tinyhost_cli.lazy import LazyGroup
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.trust import Project, Standing


class _TrustGroup(LazyGroup):
    """`tinyhost trust [DIR]` is short for `tinyhost trust add [DIR]`."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.no_args_is_help = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the word that was left out."""
        if not args or (args[0] not in self._lazy and args[0] not in ctx.help_option_names):
            args = ["add", *args]
        return super().parse_args(ctx, args)


trust = _TrustGroup(
    "trust",
    help="Decide whether what a project brings may run: tinyhost trust [DIR]",
    lazy={
        "add": (f"{__name__}:add", "Show what a project would run, and trust it (the default)"),
        "status": (f"{__name__}:status", "Say whether a project's configuration is in force"),
        "list": (f"{__name__}:list_trusted", "List the projects that are trusted"),
        "revoke": (f"{__name__}:revoke", "Trust a project no more"),
    },
)

# Not "directory", which is an option that many commands share.
_directory_argument = click.argument(
    "where", metavar="[DIR]", default=".", type=click.Path(exists=True, file_okay=False)
)


@click.command()
@_directory_argument
@click.option("--yes", is_flag=True, help="Trust it without a question.")
@setup_options
def add(setup: Setup, where: str, yes: bool) -> int:
    """Show what a project's .tinyhost would run, and ask whether to trust it.

    The answer holds for the content that was shown: when any file in .tinyhost changes, the
    project is not trusted until you look again. Without a terminal nobody is asked, and
    nothing is trusted without --yes. Exit code 0 when the project is trusted, else 1.
    """
    from tinyhost import trust as trusting
    from tinyhost_cli.trust_view import show, value

    found = trusting.standing(_project(where), look=True)
    if found.state is trusting.State.REFUSED or found.contents is None:
        _refuse(found)
        return 1
    view = value(setup, found)
    if not setup.as_json:
        show(view)
    trusted = found.state is trusting.State.TRUSTED
    if not trusted and (yes or _agreed(setup)):
        trusting.trust(found.project, found.contents)
        trusted = True
        attached.tell_of_host("tinyhost reload", where, setup.config_file)
    if setup.as_json:
        output.emit({**view, "trusted": trusted})
    else:
        output.say(f"\n{found.project.root} is {'' if trusted else 'not '}trusted")
    return 0 if trusted else 1


def _project(directory: str) -> Project:
    from tinyhost.errors import InvalidCall
    from tinyhost.trust import find_project

    project = find_project(directory)
    if project is None:
        where = os.path.realpath(directory)
        raise InvalidCall(f"no .tinyhost/config.json in {where} or the project's folders above it")
    return project


def _refuse(found: Standing) -> None:
    from tinyhost.contents import owner_problems

    folder, seen = found.project.folder, found.contents
    for text in owner_problems(folder, seen) if seen else [found.why]:
        output.problem(text)
    output.problem(f"{folder} cannot be trusted before that is put right")


def _agreed(setup: Setup) -> bool:
    """Ask at the terminal. Whoever cannot see what is shown cannot be asked."""
    if setup.as_json or not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        output.problem("nobody can be asked here; to trust it all the same, add --yes")
        return False
    import termios

    # What was typed before the question is seen is no answer to it.
    sys.stdout.flush()
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stdout.write("\nTrust this? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@click.command()
@_directory_argument
@json_option
def status(where: str, as_json: bool) -> int:
    """Say whether the configuration of a directory's project is in force.

    Exit code 1 when there is one that is not, else 0.
    """
    from tinyhost.trust import State, find_project, standing

    project = find_project(where)
    found = standing(project) if project else None
    if as_json:
        output.emit(
            {
                "directory": project.root if project else None,
                "file": project.file if project else None,
                "state": found.state.value if found else "no project",
                "why": (found.why or None) if found else None,
            }
        )
    elif found is None:
        output.say(f"{os.path.realpath(where)} is in no project with a configuration")
    else:
        output.say(found.notice or f"{found.project.file} is in force: you trust it")
    return 0 if found is None or found.state is State.TRUSTED else 1


@click.command("list")
@json_option
def list_trusted(as_json: bool) -> None:
    """List the projects that were trusted, and whether they are as they were."""
    from tinyhost.trust import Project, records, standing

    rows = []
    for root, record in records().items():
        found = standing(Project(root))
        gone = not os.path.lexists(found.project.file)
        rows.append(
            {
                "directory": root,
                "state": "gone" if gone else found.state.value,
                "trustedAt": record.trusted_at,
                "sha256": record.sha256,
            }
        )
    if as_json:
        output.emit({"projects": rows})
    elif rows:
        keys = ("directory", "state", "trustedAt")
        output.table(
            ("PROJECT", "STATE", "TRUSTED AT"), [[row[key] for key in keys] for row in rows]
        )
    else:
        output.problem("no project is trusted; to look at one: tinyhost trust DIR")


@click.command()
@click.argument("where", metavar="[DIR]", default=".", type=click.Path())
@json_option
def revoke(where: str, as_json: bool) -> int:
    """Trust a project no more. Exit code 1 when it was not trusted."""
    from tinyhost import trust as trusting

    project = trusting.find_project(where)
    root = project.root if project else os.path.realpath(where)
    revoked = trusting.revoke(root)
    if as_json:
        output.emit({"directory": root, "revoked": revoked})
    elif revoked:
        output.say(f"{root} is trusted no more")
    else:
        output.problem(f"{root} was not trusted; to see what is: tinyhost trust list")
    if revoked:
        attached.tell_of_host("tinyhost reload", where)
    return 0 if revoked else 1
