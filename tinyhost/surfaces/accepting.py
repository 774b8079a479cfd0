"""Taking the clients of a listening socket, also when descriptors run out."""

from __future__ import annotations

import errno
import logging

import trio

_log = logging.getLogger(__name__)

_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
_GONE_ALREADY = (errno.ECONNABORTED, errno.EPROTO)
_PATIENCE = 0.5  # seconds


async def accept(listener: trio.socket.SocketType) -> trio.socket.SocketType:
    """The next client. When descriptors run out, those who wait are served later."""
    told = False
    while True:
        try:
            client, _ = await listener.accept()
        except OSError as error:
            if error.errno in _GONE_ALREADY:
                continue
            if error.errno not in _OUT_OF_DESCRIPTORS:
                raise
            if not told:  # once for each time that they run out
                _log.warning("no client can be taken: %s", error)
            told = True
            await trio.sleep(_PATIENCE)
        else:
            return client
