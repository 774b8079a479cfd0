"""Serve a plugin on standard input and output, until the host closes them.

Standard output belongs to the protocol. Its descriptor is moved out of the way first, so
that prints, and child processes, write to standard error instead; children read an empty
standard input.
"""

import os
import sys
from _thread import allocate_lock

from . import wire
from .session import Session, note, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .plugin import Plugin

_CHUNK = 65536
_INTERRUPTED = 130  # what shells report for a program ended by Ctrl-C


class HostGone(Exception):
    """The host reads no more."""


class Pipes:
    """The descriptors of the protocol. Lines written by several threads never mix."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd
        self._lock = allocate_lock()

    def read(self) -> bytes:
        """The next bytes; b"" when the host has closed its end or is gone."""
        try:
            return os.read(self.read_fd, _CHUNK)
        except OSError as error:
            note(f"cannot read from the host: {error}")
            return b""

    def write(self, data: bytes) -> None:
        """Write all of it. Raises HostGone."""
        with self._lock:
            rest = memoryview(data)
            while rest:
                try:
                    rest = rest[os.write(self.write_fd, rest) :]
                except OSError as error:
                    raise HostGone(str(error)) from None

    def notify(self, data: bytes) -> None:
        """Write, if anybody reads; the reply that follows will find out."""
        try:
            self.write(data)
        except HostGone:
            pass


def run(plugin: "Plugin") -> "NoReturn":
    """Serve the plugin and end the process.

    The status is 0 when the host closed the connection, and 1 when it never made one, when
    the plugin could not be initialized, or when the host was gone before it got a reply. A
    handler's SystemExit ends the process with its own status.
    """
    if os.isatty(0):
        _explain(plugin)
        sys.exit(1)
    try:
        pipes = _claim_stdio()
    except OSError as error:
        note(f"a plugin needs standard input and output from a host: {error}")
        sys.exit(1)
    session, serve = _one_at_a_time(plugin, pipes)
    if plugin.concurrency > 1:
        from .workers import side_by_side

        session, serve = side_by_side(plugin, pipes)
    status = _ended(serve)
    status = _ended(session.close) or status
    _flush()
    sys.exit(status)


def _ended(serve: "Callable[[], int | None]") -> "int | str | None":
    try:
        return serve()
    except HostGone:
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except SystemExit as request:
        # Kept as it is: it may be a number, a text to print, or None.
        return request.code


def _one_at_a_time(plugin: "Plugin", pipes: Pipes) -> "tuple[Session, Callable[[], int]]":
    session = Session(plugin, pipes.notify)

    def serve() -> int:
        receiver = wire.Receiver(rules(plugin))
        while True:
            data = pipes.read()
            for message in receiver.feed(data) if data else receiver.feed_eof():
                answer(session, pipes, message)
                if session.exit_code is not None:
                    return session.exit_code
            if not data:
                return status_at_end(session)

    return session, serve


def answer(session: Session, pipes: Pipes, message: "wire.Message") -> None:
    """Handle one message and write the reply. Raises HostGone, and what handle() does."""
    reply = session.handle(message)
    if reply is not None:
        pipes.write(reply)


def status_at_end(session: Session) -> int:
    """The exit status when the host has closed its end."""
    if session.initialized:
        return 0
    note("standard input ended before a host had said initialize")
    return 1


def _claim_stdio() -> Pipes:
    """Move the protocol to other descriptors. Raises OSError when there are none."""
    os.fstat(0)
    os.fstat(1)
    # Takes the place of standard error when that is closed: it is the lowest free one then.
    null = os.open(os.devnull, os.O_RDWR)
    if null == 2:
        os.set_inheritable(null, True)
    # Copies made by dup are not inherited by child processes.
    pipes = Pipes(os.dup(0), os.dup(1))
    os.dup2(null, 0)
    os.dup2(2, 1)
    if null != 2:
        os.close(null)
    for fd in (pipes.read_fd, pipes.write_fd):
        os.set_blocking(fd, True)
    try:
        # Prints appear in the log when they are made, in order with what goes to stderr.
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        pass  # no stream, one of the author's own, or one that nobody reads
    return pipes


def _flush() -> None:
    """Write what is left, so that the interpreter has nothing to complain about at its end."""
    for stream, fd in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)


def _explain(plugin: "Plugin") -> None:
    prefix = "tinyhost-plugin-"
    program = os.path.basename(sys.argv[0]) or plugin.id
    name = program[len(prefix) :] if program.startswith(prefix) else plugin.id
    tools = ", ".join(plugin.tools) or "none"
    hooks = ", ".join(plugin.hooks.names()) or "none"
    print(
        f"{program} is a plugin for tinyhost. A host starts it and talks to it over standard\n"
        "input and output; at a terminal it does nothing.\n\n"
        f"  tools: {tools}\n  hooks: {hooks}\n\n"
        f"To try it, put it on PATH under the name {prefix}{name} and run:\n\n"
        f"  tinyhost plugin load {name}",
        file=sys.stderr,
    )
