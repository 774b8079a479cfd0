"""Run a command that keeps this program's terminal, and wait for it."""

from __future__ import annotations

import trio

from tinyhost.errors import TinyhostError
from tinyhost.host import Command
from tinyhost.model import ToolResult
from tinyhost.process import describe_status
from tinyhost_cli.command_child import FROM_TERMINAL, PASSED_ON, in_foreground, why_not_started

_LAST_SIGNALS = 0.02  # seconds in which signals that reached both still count as the command's
_GRACE = 3.0  # seconds between SIGTERM and SIGKILL when the host gives up


class CommandNotStarted(TinyhostError):
    """The command could not be started; `status` is what a shell would exit with."""

    def __init__(self, program: str, error: OSError, directory: str) -> None:
        self.program = program
        self.status = 127 if isinstance(error, FileNotFoundError) else 126
        super().__init__(f"{program}: {why_not_started(error, directory)}")


class Passthrough:
    """A runner for Host.run_command. `status` is the exit status as a shell would have it."""

    def __init__(self) -> None:
        self.status = 0

    async def __call__(self, command: Command) -> ToolResult:
        """Run the command to its end. Raises CommandNotStarted."""
        with trio.open_signal_receiver(*FROM_TERMINAL, *PASSED_ON) as signals:
            try:
                process = await trio.lowlevel.open_process(
                    list(command.argv), env=dict(command.env), cwd=command.directory
                )
            except OSError as error:
                raise CommandNotStarted(command.argv[0], error, command.directory) from error
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_pass_on, signals, process)
                await _wait(process)
                nursery.cancel_scope.cancel()
            # What has not been taken goes to whoever had the signals before, and that ends us:
            # but a Ctrl+C that the command ended by was the command's.
            with trio.move_on_after(_LAST_SIGNALS if in_foreground() else 0):
                await _pass_on(signals, process)
        code = process.returncode
        assert code is not None
        self.status = code if code >= 0 else 128 - code
        return ToolResult(f"the command {describe_status(code)}", is_error=code != 0)


async def _pass_on(signals: object, process: trio.Process) -> None:
    at_terminal = in_foreground()
    async for number in signals:  # type: ignore[attr-defined]
        if number in PASSED_ON or not at_terminal:
            process.send_signal(number)  # does nothing once it has ended


async def _wait(process: trio.Process) -> None:
    try:
        await process.wait()
    except trio.Cancelled:
        with trio.CancelScope(shield=True):
            process.terminate()
            with trio.move_on_after(_GRACE):
                await process.wait()
            process.kill()
            await process.wait()
        raise
