"""Run a command with nothing on its standard input, and keep what it puts out."""

from __future__ import annotations

from .command import run as run_program
from .model import ToolResult
from .outcomes import Command

COMMAND_TOOL = "bash"  # what a command is called in rules and hooks

_MOST = 1024 * 1024  # bytes of a command's standard output


async def run_captured(command: Command) -> ToolResult:
    """Run a command to its end: standard output, then standard error and how it ended if not well.

    Cancelling the caller ends the command with its process group. Raises LoadError when it
    cannot be started.
    """
    ended = await run_program(
        command.argv,
        owner=COMMAND_TOOL,
        env=command.env,
        directory=command.directory,
        most=_MOST,
    )
    parts = [ended.stdout.decode(errors="replace")]
    if ended.stdout_cut:
        parts.append(f"[output cut after {_MOST} bytes]")
    if ended.stderr:
        parts.append(ended.stderr.decode(errors="replace"))
    if not ended.ok:
        parts.append(f"[the command {ended.status}]")
    return ToolResult("\n".join(part for part in parts if part), is_error=not ended.ok)
