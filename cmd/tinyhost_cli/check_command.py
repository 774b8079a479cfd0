"""`tinyhost plugin check`: try things on a plugin, and say what it does wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tinyhost_cli import completion, output
from tinyhost_cli.common import host_options, json_object, read_config, resolver
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.check.model import Check, Finding, Report
    from tinyhost.check.target import Target

# As tinyhost.check.model.DIALECTS, which is not imported for a help text.
_ONE_LINE = str.maketrans("\r\n", "  ")  # in JSON text, they only stand between values
DIALECTS = ("native", "zuno", "bingo", "mcp")


@click.command()
@click.argument("where", metavar="PATH|NAME", shell_complete=completion.plugin_names)
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1)
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    help="The wire it speaks. Default: as its folder says.",
)
@click.option(
    "--call",
    "calls",
    metavar="TOOL=JSON",
    multiple=True,
    help="Call this tool, with these arguments. Can be repeated. No other tool is called.",
)
@click.option("--options", metavar="JSON", help="Options for the plugin; '-' reads them.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="For all checks together. Default: 20, and more for a plugin that starts slowly.",
)
@host_options
def check(
    setup: Setup,
    where: str,
    arguments: Sequence[str],
    dialect: str | None,
    calls: Sequence[str],
    options: str | None,
    timeout: float | None,
) -> int:
    """Check that a plugin keeps to its wire: by the name of it, or by a path with a "/".

    It is started for each check anew, in an empty folder that stands for the project unless
    --directory names one. Hooks are asked harmless questions. What can have effects is left
    alone: tools are called only with --call. Exit code 1 when a check fails.
    """
    from tinyhost_cli.check_report import print_report

    given = json_object(options, "--options")
    tools = _calls(calls)
    with _project(setup) as directory:
        target = _find(setup, where, arguments, dialect, given and given[0], tools, directory)
        report = _run(setup, target, timeout)
    if setup.as_json:
        output.emit(report.value())
    else:
        print_report(report)
    return 0 if report.passed else 1


def _calls(words: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name or not equals:
            raise click.UsageError('The value of --call must be TOOL=JSON, such as greet={"a": 1}.')
        read = json_object(text, f"--call {name}")
        assert read is not None
        found[name] = read[1].strip().translate(_ONE_LINE)
    return found


@contextlib.contextmanager
def _project(setup: Setup) -> Iterator[str]:
    if setup.directory:
        yield os.path.abspath(setup.directory)  # noqa: PTH100
        return
    with tempfile.TemporaryDirectory(prefix="tinyhost-check-") as folder:
        yield folder


def _find(
    setup: Setup,
    where: str,
    arguments: Sequence[str],
    dialect: str | None,
    options: Mapping[str, Any] | None,
    calls: Mapping[str, str],
    directory: str,
) -> Target:
    from tinyhost.check.target import find_target
    from tinyhost.errors import PluginNotFound, PluginSkipped
    from tinyhost.names import BUILTIN_NAMES

    config = read_config(setup)
    try:
        return find_target(
            where,
            config=config,
            resolver=resolver(config),
            directory=directory,
            environ=os.environ,
            arguments=arguments,
            dialect=dialect,
            options=options,
            calls=calls,
        )
    except PluginNotFound as error:
        if where in BUILTIN_NAMES:
            raise PluginSkipped(where) from error
        if os.path.exists(where):  # noqa: PTH110
            error.add_note(f"To check the file or folder of that name: ./{where}")
        raise


def _run(setup: Setup, target: Target, timeout: float | None) -> Report:
    import trio

    from tinyhost.check.engine import run_checks
    from tinyhost_cli.hosting import until_signal

    async def run() -> Report:
        with _progress(target.name, setup.verbose) as (on_check, on_finding):
            return await run_checks(target, limit=timeout, on_check=on_check, on_finding=on_finding)

    return trio.run(until_signal, run)


_Progress = tuple["Callable[[Check], None]", "Callable[[Finding], None]"]


@contextlib.contextmanager
def _progress(name: str, verbose: bool) -> Iterator[_Progress]:
    """What is seen meanwhile: a line at a terminal, or with -v one for each check."""
    if verbose:
        yield lambda _check: None, _say
    elif not sys.stderr.isatty():
        yield lambda _check: None, lambda _finding: None
    else:
        from rich.console import Console
        from rich.text import Text

        start = f"checking {output.cell(name)}"
        with Console(file=sys.stderr).status(Text(start)) as status:
            yield (
                lambda check: status.update(Text(f"{start}: {check.title}")),
                lambda _finding: None,
            )


def _say(finding: Finding) -> None:
    milliseconds = finding.seconds * 1000
    output.problem(f"check {finding.check.id}: {finding.outcome} after {milliseconds:.0f} ms")
