"""MCP on this process's own standard input and output."""

from __future__ import annotations

import fcntl
import os
import select
import sys

import trio

_ABOVE_STANDARD = 3


def claim() -> tuple[trio.lowlevel.FdStream, trio.lowlevel.FdStream]:
    """Take standard input and output for the protocol, for the rest of the process.

    From then on what reads standard input finds nothing there, and what is printed goes to
    standard error: nothing but messages gets to the client.
    """
    sys.stdout.flush()
    incoming = _taken(0, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    outgoing = _taken(1, _error_output())
    return trio.lowlevel.FdStream(incoming), trio.lowlevel.FdStream(outgoing)


def hung_up(stream: trio.abc.SendStream) -> bool:
    """Whether nobody is at the other end of a pipe or a socket; False where that is not known."""
    if isinstance(stream, trio.lowlevel.FdStream):
        number = stream.fileno()
    elif isinstance(stream, trio.SocketStream):
        number = stream.socket.fileno()
    else:
        return False
    poll = select.poll()
    poll.register(number, 0)
    return bool(poll.poll(0))  # nothing but errors and hang-ups was asked for


def _taken(number: int, instead: int) -> int:
    """A private descriptor of what was behind the number, where `instead` is from now on."""
    private = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD)
    os.dup2(instead, number)
    os.close(instead)
    return private


def _error_output() -> int:
    try:
        return fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
