"""The first exchange with a plugin's process, and in words why it failed."""

from __future__ import annotations

import trio

from .connection import Connection
from .dialects.base import Dialect
from .errors import CallTimeout, LoadError, PluginDied, PluginError, RemoteError
from .launch_plan import Launch
from .link import PluginLink
from .lives import Lives
from .model import Manifest
from .redaction import redact, redact_start


async def shake_hands(dialect: Dialect, link: PluginLink, launch: Launch, lives: Lives) -> Manifest:
    """Learn what the plugin offers, and have its peer go by that.

    Raises LoadError, and then the process has ended.
    """
    connection = link.connection
    try:
        manifest = await dialect.handshake(link)
    except (PluginError, ValueError, TypeError) as error:
        raise await _failed(connection, launch, error) from None
    if connection.ended.is_set() or lives.over:
        raise await _failed(connection, launch, connection.death())
    link.handshake_done()
    connection.peer.concurrency = manifest.concurrency
    if manifest.max_line:
        connection.peer.max_line_out = manifest.max_line
    return manifest


async def _failed(connection: Connection, launch: Launch, error: Exception) -> LoadError:
    status = connection.process.status
    with trio.CancelScope(shield=True):
        await connection.kill()
    return LoadError(
        connection.plugin,
        "handshake",
        _explain(error, connection, launch),
        command=launch.command,
        status=status,
        stderr=connection.log.tail,
    )


def _explain(error: Exception, connection: Connection, launch: Launch) -> str:
    """Why it failed, in words; of the plugin's own, without the secrets it was given."""
    if isinstance(error, PluginDied):
        what = connection.broken if connection.given_up else "ended"
        return f"it {what} before it answered initialize"
    if isinstance(error, CallTimeout):
        text = f"no answer to initialize within {launch.settings.timeouts.handshake:g} s"
        junk = connection.peer.last_junk
        if junk is not None:
            head = redact_start(junk.head.decode(errors="replace"), launch.secrets)[:80]
            text += f"; standard output is for the protocol alone, but it wrote {head!r}"
        return text
    if isinstance(error, RemoteError):
        said = redact(error.remote_message, launch.secrets)
        return f"it refused to initialize: error {error.code}: {said}"
    return redact(str(error), launch.secrets)
