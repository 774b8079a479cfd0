"""Run a command that keeps this program's terminal, and wait for it, without an event loop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

# A Ctrl+C or Ctrl+\ at the terminal reaches the command by itself: it is in the same group.
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_LAST_SIGNALS = 0.02  # seconds in which signals that reached both still count as the command's


class NotStarted(Exception):
    """The command could not be started; `status` is what a shell would exit with."""

    def __init__(self, program: str, error: OSError, directory: str) -> None:
        self.status = 127 if isinstance(error, FileNotFoundError) else 126
        super().__init__(f"{program}: {why_not_started(error, directory)}")


def why_not_started(error: OSError, directory: str) -> str:
    """What a person is told of a command that could not be started."""
    if not os.path.isdir(directory):  # noqa: PTH112
        return f"its directory {directory} does not exist"
    if isinstance(error, FileNotFoundError):
        return "there is no such program"
    return error.strerror or str(error)


def in_foreground() -> bool:
    """Whether this program has the terminal, so that its keys reach the command, too."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def run(argv: Sequence[str], env: Mapping[str, str], directory: str) -> int:
    """Run a command to its end; its returncode, negative for a signal. Raises NotStarted.

    Signals are the command's from now on. When it has ended they end this program again, but
    not those that came with its end.
    """
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []  # signals that came before there was a process to pass them on to
    ended: float | None = None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if ended is not None:
            if time.monotonic() > ended + _LAST_SIGNALS:
                signal.signal(number, before[signal.Signals(number)])
                signal.raise_signal(number)
        elif number in PASSED_ON or not in_foreground():
            if process is None:
                early.append(number)
            else:
                process.send_signal(number)  # does nothing once it has ended

    before = {number: signal.getsignal(number) for number in (*FROM_TERMINAL, *PASSED_ON)}
    for number, handler in before.items():
        # Those that are ignored (nohup, a shell's background job) stay so, for the command, too.
        if handler != signal.SIG_IGN:
            signal.signal(number, pass_on)
    sys.stdout.flush()
    try:
        process = subprocess.Popen(list(argv), env=dict(env), cwd=directory)
    except OSError as error:
        raise NotStarted(argv[0], error, directory) from error
    for missed in early:
        process.send_signal(missed)
    code = process.wait()
    ended = time.monotonic()
    return code
