"""One child process: start it, wait for it, end it with its group.

A process object is used once: a plugin that starts again gets a new one. The child leads
a session and process group of its own, so that a signal to the group reaches what it
started, and a Ctrl+C at the host's terminal does not reach it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence

import trio

from .errors import LoadError
from .launch import BARE, Wrapping
from .process_tree import signal_members

_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
# How a process that waits for another says that a signal ended it: this and the number.
_SIGNALLED = 128

PIPE_MOST = 1024 * 1024  # bytes that a pipe holds at most, for who has no privileges
_CHUNK = 64 * 1024


class Process:
    """A running child and its end.

    to_plugin, from_plugin and stderr are non-blocking pipe ends; whoever takes them closes
    them.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        command: Sequence[str],
        to_plugin: int,
        from_plugin: int,
        stderr: int,
        wrapping: Wrapping = BARE,
    ) -> None:
        self.command = tuple(command)
        self.pid = popen.pid
        self.to_plugin = to_plugin
        self.from_plugin = from_plugin
        self.stderr = stderr
        self._popen = popen
        self._wrapping = wrapping
        self._reaped = False

    @property
    def status(self) -> str | None:
        """How the process ended, in words, or None while it has not been reaped."""
        if not self._reaped:
            return None
        code, wrapping = self._popen.returncode, self._wrapping
        if wrapping.relayed and code > _SIGNALLED:
            words = describe_status(_SIGNALLED - code) + " in its sandbox"
        else:
            words = describe_status(code)
        if meaning := wrapping.meanings.get(code):
            words += f" ({meaning})"
        return f"{words} (limits: {wrapping.note})" if code and wrapping.note else words

    @property
    def returncode(self) -> int | None:
        """Exit status, or minus the signal's number, or None while not reaped."""
        return self._popen.returncode if self._reaped else None

    async def wait(self) -> None:
        """Wait until the process has ended, without reaping it.

        Until it is reaped, its number and its group's stay taken, so that the group can be
        signalled without hitting a stranger.
        """
        if self._reaped:
            return
        try:
            fd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or out of descriptors
            await trio.to_thread.run_sync(self._wait_in_thread, abandon_on_cancel=True)
            return
        try:
            await trio.lowlevel.wait_readable(fd)
        finally:
            os.close(fd)

    def _wait_in_thread(self) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def signal_group(self, number: int) -> None:
        """Send a signal to the process and what it started in its group. Never raises.

        Does nothing once the process has been reaped.
        """
        if self._reaped:
            return
        if self._wrapping.relayed and number != signal.SIGKILL:
            # Not to the one that waits for the program: it would end at once, and with it
            # the time that the program has to end properly.
            signal_members(self.pid, number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def reap(self) -> None:
        """Kill what is left of the group and take the ended process's status."""
        if not self._reaped:
            self.signal_group(signal.SIGKILL)
            self._popen.wait()
            self._reaped = True


def read_rest(fd: int, most: int = PIPE_MOST) -> Iterator[bytes]:
    """Read what an ended process has left in a non-blocking pipe, without waiting for more.

    To be read when the time for it is over, too: on a machine that stands still for a moment
    that time can pass before the first read. most: bytes after which it ends, as somebody may
    go on writing.
    """
    while most > 0:
        try:
            chunk = os.read(fd, _CHUNK)
        except OSError:  # BlockingIOError above all
            return
        if not chunk:
            return
        most -= len(chunk)
        yield chunk


def describe_status(returncode: int) -> str:
    """An exit status in words, to follow the name of what ended."""
    if returncode >= 0:
        return f"exited with status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    return f"was killed by {name}"


def spawn(
    plugin: str,
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    directory: str,
    wrapping: Wrapping = BARE,
) -> Process:
    """Start a process with pipes on its three standard descriptors, and no others open.

    wrapping: what stands before the command, limits and a sandbox.
    The call blocks until the program runs or has failed to: about a millisecond. Raises
    LoadError, stage "spawn".
    """
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        # Ignored (perhaps inherited so), ended children vanish with their exit status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if wrapping.prefix and (problem := _wrapped_problem(command[0])):
        raise LoadError(plugin, "spawn", problem, command=command)
    opened: list[int] = []
    try:
        opened += os.pipe()
        opened += os.pipe()
        opened += os.pipe()
        child_in, to_plugin, from_plugin, child_out, stderr, child_err = opened
        popen = subprocess.Popen(
            [*wrapping.prefix, *command],
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            env=dict(env),
            cwd=directory,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        for fd in opened:
            os.close(fd)
        reason = explain_spawn_error(error, [*wrapping.prefix, *command][0], directory)
        raise LoadError(plugin, "spawn", reason, command=command) from error
    for fd in (child_in, child_out, child_err):
        os.close(fd)
    for fd in (to_plugin, from_plugin, stderr):
        os.set_blocking(fd, False)
    return Process(popen, command, to_plugin, from_plugin, stderr, wrapping)


def explain_spawn_error(error: Exception, program: str, directory: str) -> str:
    """Why a program could not be started, and what to do about it."""
    if not os.path.isdir(directory):  # noqa: PTH112
        return f"its working directory {directory} does not exist"
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT:
        return _explain_missing(program)
    if number == errno.EACCES:
        return (
            f"{program} may not be executed: it needs execute permission (chmod +x), and"
            " its file system must not be mounted noexec"
        )
    if number == errno.ENOEXEC:
        return _explain_not_a_program(program)
    if number == errno.ETXTBSY:
        return f"{program} is being written by another process; try again when that is done"
    if number == errno.ELIBBAD or number == errno.ELIBACC:
        return f"{program} needs a shared library that is missing or damaged"
    if number in (errno.EMFILE, errno.ENFILE):
        return "too many open files; raise the limit (ulimit -n) or load fewer plugins"
    if number in (errno.EAGAIN, errno.ENOMEM):
        return "the system has no process or memory to spare for it"
    return f"{program} could not be started: {error}"


def _wrapped_problem(program: str) -> str:
    """What would go wrong only after the wrapping has been started, or ""."""
    if not os.path.exists(program):  # noqa: PTH110
        return _explain_missing(program)
    if not os.access(program, os.X_OK):
        return explain_spawn_error(PermissionError(errno.EACCES, ""), program, "/")
    if not os.access(program, os.R_OK):
        return ""  # no script, then
    head = _first_bytes(program)
    if head.startswith(b"#!"):
        interpreter = head[2:].split(b"\n", 1)[0].strip().split(b" ", 1)[0]
        return "" if os.path.exists(interpreter) else _explain_missing(program)  # noqa: PTH110
    # A shell would take any other file for a script.
    return "" if head.startswith((b"\x7fELF", *_MACH_O)) else _explain_not_a_program(program)


def _first_bytes(program: str) -> bytes:
    try:
        with open(program, "rb") as file:  # noqa: PTH123
            return file.read(256)
    except OSError:
        return b""


def _explain_missing(program: str) -> str:
    if not os.path.exists(program):  # noqa: PTH110
        return f"{program} does not exist"
    head = _first_bytes(program)
    if head.startswith(b"#!"):
        line = head[2:].split(b"\n", 1)[0]
        interpreter = line.strip().split(b" ", 1)[0].decode(errors="replace")
        if line.endswith(b"\r"):
            return f"{program} has Windows line endings, so its first line names no program"
        return f"{program} asks in its first line for {interpreter}, which does not exist"
    return f"{program} needs a dynamic loader that does not exist here (built for another system)"


def _explain_not_a_program(program: str) -> str:
    head = _first_bytes(program)
    if not head:
        return f"{program} is empty"
    if head.startswith(b"\x7fELF"):
        return f"{program} is built for another kind of processor than this machine's"
    if head[:4] in _MACH_O:
        return f"{program} is a macOS program, which does not run here"
    if head.startswith(b"MZ"):
        return f"{program} is a Windows program, which does not run here"
    return f"{program} is neither a program nor a script with a #! line"
