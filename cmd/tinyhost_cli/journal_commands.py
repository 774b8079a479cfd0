"""`tinyhost journal`: look at what happened in sessions. Starts no plugins."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tinyhost_cli import output
from tinyhost_cli.common import json_option
from tinyhost_cli.lazy import LazyGroup

if TYPE_CHECKING:
    from tinyhost.journal_read import Filter, JournalError, SessionJournal

_F = TypeVar("_F", bound=Callable[..., Any])
_POLL = 0.2  # seconds between looks for new records

journal = LazyGroup(
    "journal",
    lazy={
        "list": (f"{__name__}:list_sessions", "List the sessions that have a journal"),
        "show": (f"{__name__}:show", "Print the records of a session"),
        "tail": (f"{__name__}:tail", "Print the last records of a session, and follow it"),
    },
    help="Look at the journal: what was asked, decided and called in each session.",
)

_FILTERS = (
    click.option(
        "--plugin",
        "plugins",
        metavar="NAME",
        multiple=True,
        help="Only records that this plugin has a part in. Can be repeated.",
    ),
    click.option(
        "--tool",
        "tools",
        metavar="TOOL",
        multiple=True,
        help="Only records of this tool; '*' stands for anything. Can be repeated.",
    ),
    click.option(
        "--decision",
        "decisions",
        type=click.Choice(["allow", "deny", "ask", "change"]),
        multiple=True,
        help="Only such decisions. Can be repeated.",
    ),
    click.option(
        "--kind",
        "kinds",
        # As in tinyhost.journal_records, which is not imported for --help.
        type=click.Choice(["session", "hook", "decision", "call", "load", "exit", "ask"]),
        multiple=True,
        help="Only such records. Can be repeated.",
    ),
    click.option("--since", metavar="TIME", help="Only newer ones: 30m, 2h, or 2026-01-31T12:00."),
)


def _filter_options(function: _F) -> _F:
    """Give a command the filters; it gets them as `wanted`, a Filter."""

    @functools.wraps(function)
    def command(since: str | None, **given: Any) -> Any:
        from tinyhost.journal_read import Filter, parse_since

        lists = {key: given.pop(key) for key in ("plugins", "tools", "decisions", "kinds")}
        try:
            earliest = parse_since(since, time.time()) if since is not None else ""
        except ValueError as error:
            ctx = click.get_current_context(silent=True)
            raise click.UsageError(f"The value of --since {error}.", ctx=ctx) from None
        return function(wanted=Filter(since=earliest, **lists), **given)

    decorated: Any = command
    for option in reversed(_FILTERS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


_session_argument = click.argument("session", required=False)


@click.command("list")
@json_option
def list_sessions(as_json: bool) -> None:
    """List the sessions that have a journal, the last written first."""
    from tinyhost.journal_read import list_journals

    found = list_journals(_folder())
    if as_json:
        output.emit({"journals": [_value(one) for one in found]})
        return
    if not found:
        output.note(f"There are no journals in {_folder()}.")
        return
    for one in found:
        if one.problem:
            output.problem(one.problem)
    output.table(
        ["SESSION", "STARTED", "UPDATED", "BYTES", "DIRECTORY"],
        [
            [one.session, one.started, one.updated, str(one.size), one.directory]
            for one in found
            if not one.problem
        ],
    )


def _value(one: SessionJournal) -> dict[str, Any]:
    return {
        "session": one.session,
        "directory": one.directory,
        "started": one.started,
        "updated": one.updated,
        "bytes": one.size,
        "files": [str(part) for part in one.parts],
        **({"problem": one.problem} if one.problem else {}),
    }


@click.command()
@_session_argument
@_filter_options
@json_option
def show(session: str | None, wanted: Filter, as_json: bool) -> int:
    """Print the records of a session: SESSION is its id, or the beginning of it.

    Without SESSION, of the one that was written last. With --json, one record a line. Exit
    code 1 when lines are damaged.
    """
    from tinyhost.journal_read import find_journal, read_session

    bad = _BadLines()
    for record in read_session(find_journal(_folder(), session), bad):
        if wanted.fits(record):
            _print(record, as_json)
    return 1 if bad.count else 0


@click.command()
@_session_argument
@click.option("-f", "--follow", is_flag=True, help="Go on with new records until Ctrl+C.")
@click.option(
    "-n",
    "--lines",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the last records to begin with.",
)
@_filter_options
@json_option
def tail(session: str | None, follow: bool, lines: int, wanted: Filter, as_json: bool) -> None:
    """Print the last records of a session; with -f, go on with new ones as they come.

    Without SESSION, of the one that was written last. With --json, one record a line.
    """
    from tinyhost.journal_read import Follower, find_journal, read_file

    found = find_journal(_folder(), session)
    bad = _BadLines()
    *older, newest = found.parts
    last = [record for part in older for record in read_file(part, bad) if wanted.fits(record)]
    follower = Follower(newest, bad)
    last += [record for record in follower.poll() if wanted.fits(record)]
    for record in last[max(len(last) - lines, 0) :]:
        _print(record, as_json)
    while follow:
        sys.stdout.flush()
        time.sleep(_POLL)
        for record in follower.poll():
            if wanted.fits(record):
                _print(record, as_json)
    follower.close()


def _folder() -> str:
    from tinyhost import paths

    # The name stands in tinyhost.journal too, which imports more than reading needs.
    return os.path.join(paths.state_dir(), "journal")  # noqa: PTH118


def _print(record: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        output.emit(record)
        return
    from tinyhost_cli.journal_text import line_of

    sys.stdout.write(output.cell(line_of(record)) + "\n")


class _BadLines:
    """Tells of damaged lines on standard error, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, error: JournalError) -> None:
        self.count += 1
        output.problem(str(error))
