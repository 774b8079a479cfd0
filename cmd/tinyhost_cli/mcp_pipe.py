"""Speak MCP on standard input and output for a host that is running: copy, and nothing else."""

from __future__ import annotations

import os
import select
import socket

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
    """Each side is read when what it said before has been taken by the other."""
    inputs: dict[int, int] = {0: host.fileno(), host.fileno(): 1}  # from where to where
    poll = select.poll()
    for source in inputs:
        poll.register(source, select.POLLIN)
    poll.register(1, 0)  # for nothing but that nobody reads it any more
    while True:
        for source, _ in poll.poll():
            if source == 1:
                return 0
            data = _read(source)
            if not data and source == 0:
                # The answers to what was asked still come.
                host.shutdown(socket.SHUT_WR)
                del inputs[0]
                poll.unregister(0)
            elif not data:
                return 0 if 0 not in inputs else _gone()
            elif not _written(inputs[source], data):
                return 0


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except ConnectionResetError:  # a host that was killed
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
