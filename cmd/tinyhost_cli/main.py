"""The `tinyhost` command: its groups, and the one place where errors become exit codes.

Exit codes:
    0    done
    1    failed: a plugin did not load or answer, a tool reported an error, a hook denied, a
         check found something wrong
    2    the command line was wrong
    3    the configuration cannot be used
    70   a fault of tinyhost itself, with a traceback
    130  interrupted by Ctrl+C, 143 terminated, 129 hung up; plugins are stopped first
    141  whoever read the output has gone away

This module imports click and the standard library only: `tinyhost --help`, `--version` and
shell completion have to be quick. Commands import what they need when they run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import click

from tinyhost.errors import ConfigError, InvalidCall, TinyhostError, ToolNotFound
from tinyhost_cli import output
from tinyhost_cli.client import HostError, HostGone
from tinyhost_cli.common import Interrupted
from tinyhost_cli.lazy import LazyGroup

PROGRAM = "tinyhost"
COMPLETE_VARIABLE = "_TINYHOST_COMPLETE"

OK, FAILED, USAGE, CONFIG, INTERNAL = 0, 1, 2, 3, 70
_READER_GONE = 128 + signal.SIGPIPE

# A command is a line here and a module of its own.
COMMANDS = {
    "run": ("tinyhost_cli.run_command:run", "Run a command after the plugins have been asked"),
    "serve": ("tinyhost_cli.serve_command:serve", "Keep plugins loaded, for commands to attach to"),
    "status": ("tinyhost_cli.host_commands:status", "Show the running host and its plugins"),
    "top": ("tinyhost_cli.host_commands:top", "Watch how plugins fare in the running host"),
    "events": ("tinyhost_cli.host_commands:events", "Show what happens in the running host"),
    "reload": ("tinyhost_cli.host_commands:reload", "Have the running host read its configuration"),
    "stop": ("tinyhost_cli.host_commands:stop", "Stop the running host"),
    "plugin": ("tinyhost_cli.plugin_commands:plugin", "Load, find and set up plugins"),
    "tool": ("tinyhost_cli.tool_commands:tool", "List and call the tools of plugins"),
    "command": ("tinyhost_cli.command_commands:command", "Run the commands that plugins offer"),
    "service": ("tinyhost_cli.service_commands:service", "Call the services that plugins offer"),
    "hook": ("tinyhost_cli.hook_commands:hook", "Ask plugins, as a host program does"),
    "journal": ("tinyhost_cli.journal_commands:journal", "Look at what happened in sessions"),
    "trust": ("tinyhost_cli.trust_commands:trust", "Decide whether what a project brings may run"),
    "config": ("tinyhost_cli.config_commands:config", "Show and check the configuration"),
    "doctor": ("tinyhost_cli.doctor:doctor", "Check everything that plugins need"),
}

_EPILOG = """\
\b
Exit codes:
  0  done
  1  failed, denied, or a tool reported an error
  2  wrong command line
  3  the configuration cannot be used

With --json, results and errors are printed as one line of JSON on standard output.
"""


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from tinyhost_cli.version import version

    output.say(f"{PROGRAM} {version()}")
    ctx.exit()


cli = LazyGroup(
    PROGRAM,
    lazy=COMMANDS,
    help="Run plugins in any language as child processes, and ask them before something happens.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version and exit.",
        )
    ],
)


def main() -> None:
    """The entry point of the `tinyhost` program."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    output.prepare_streams()
    try:
        code = _invoke(list(args))
        sys.stdout.flush()
    except BaseException as error:
        return finish(error, as_json="--json" in args)
    return code


def finish(error: BaseException, *, as_json: bool) -> int:
    """Report what a command ended with, and return the exit code."""
    code = _report(error, as_json=as_json)
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer has nowhere to go; Python would complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE if isinstance(error, BrokenPipeError) else code or FAILED
    return code


def _invoke(args: list[str]) -> int:
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    with cli.make_context(PROGRAM, args) as ctx:
        code: Any = cli.invoke(ctx)
        return code or OK


def _report(error: BaseException, *, as_json: bool) -> int:
    """Print an error, if there is something to say, and return the exit code."""
    error = leaf(error)
    if isinstance(error, BrokenPipeError):
        return _READER_GONE
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        error = Interrupted(signal.SIGINT)
    if isinstance(error, Interrupted):
        output.problem(str(error))
        return 128 + error.number
    if isinstance(error, click.ClickException):
        return _report_usage(error, as_json=as_json)
    if isinstance(error, OSError):
        text = _os_text(error)
        if as_json:
            output.emit({"error": {"type": type(error).__name__, "message": text}})
        else:
            output.problem(text)
        return FAILED
    if isinstance(error, HostError | HostGone):
        return _report_host(error, as_json=as_json)
    if not isinstance(error, TinyhostError):
        return _report_fault(error)
    if as_json:
        from tinyhost.present import error_value

        output.emit({"error": error_value(error)})
    else:
        output.problem("\n".join([str(error), *getattr(error, "__notes__", ())]))
    return exit_code(error)


def _os_text(error: OSError) -> str:
    """The error in words; of a current folder that was deleted the system's name nothing."""
    from tinyhost_cli.attached import GONE_FOLDER

    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        if isinstance(error, FileNotFoundError) and error.errno and error.filename is None:
            return GONE_FOLDER
    return str(error)


def _report_host(error: HostError | HostGone, *, as_json: bool) -> int:
    """Print what the running host answered, or that it is gone."""
    if as_json:
        gone = {"type": "HostGone", "message": str(error)}
        output.emit({"error": error.data if isinstance(error, HostError) else gone})
    else:
        output.problem(str(error))
    return error.exit_code if isinstance(error, HostError) else FAILED


def leaf(error: BaseException) -> BaseException:
    """The error inside a group of one; of several, an interruption or the first."""
    while isinstance(error, BaseExceptionGroup):
        stops = [inner for inner in error.exceptions if isinstance(inner, KeyboardInterrupt)]
        error = (stops or error.exceptions)[0]
    return error


def _report_usage(error: click.ClickException, *, as_json: bool) -> int:
    no_args: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
    if isinstance(error, no_args):
        error.show()
        return USAGE
    text = error.format_message()
    if as_json:
        output.emit({"error": {"type": type(error).__name__, "message": text}})
        return USAGE
    ctx = getattr(error, "ctx", None)
    output.problem(text)
    if ctx is not None:
        output.note(f"{ctx.get_usage()}\nTry '{ctx.command_path} --help' for help.")
    return USAGE


def _report_fault(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        raise error
    import traceback

    output.note("".join(traceback.format_exception(error)).rstrip())
    output.problem("this is a fault of tinyhost itself, not of a plugin or of the command line")
    return INTERNAL


def exit_code(error: Exception) -> int:
    """What a command exits with that ends with an error that a person is told of."""
    if isinstance(error, ConfigError):
        return CONFIG
    if isinstance(error, InvalidCall) and not isinstance(error, ToolNotFound):
        return USAGE
    return FAILED


if __name__ == "__main__":
    main()
