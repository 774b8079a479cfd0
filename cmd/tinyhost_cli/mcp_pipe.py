"""Speak MCP on standard input and output for a host that is running: copy, and nothing else."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading

from tinyhost_cli import output
from tinyhost_cli.client import Client

_CHUNK = 65536


def pipe_mcp(client: Client) -> int:
    """Copy both ways until one side ends; the exit code, 1 when it was the host that ended."""
    with client:
        client.call("mcp/open", {})
        output.note("tinyhost: a host is running with this configuration; its tools are served")
        with client.detach() as host:
            return _copy(host)


def _copy(host: socket.socket) -> int:
    """Copy each way by itself: one that cannot write must not keep the other from reading."""
    ended = threading.Event()
    threading.Thread(target=_copy_input, args=(host, ended), daemon=True).start()
    poll = select.poll()
    poll.register(host, select.POLLIN)
    poll.register(1, 0)  # for nothing but that nobody reads it any more
    while True:
        for source, _ in poll.poll():
            data = b"" if source == 1 else _read(source)
            if source == 1 or (data and not _written(1, data)):
                return 0
            if not data:
                return 0 if ended.is_set() else _gone()


def _copy_input(host: socket.socket, ended: threading.Event) -> None:
    while data := _read(0):
        if not _written(host.fileno(), data):
            return  # whoever reads from the host sees that it is gone
    ended.set()
    with contextlib.suppress(OSError):
        host.shutdown(socket.SHUT_WR)  # the answers to what was asked still come


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:  # a host that was killed, a terminal that is gone
        return b""


def _written(target: int, data: bytes) -> bool:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(target, view) :]
    except OSError:
        return False
    return True


def _gone() -> int:
    output.problem("the running host has stopped")
    return 1
