"""One request to a server behind HTTP, and what the server's refusals mean."""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import httpx2
import trio

from tinyhost_sdk import wire

from .. import codec
from ..errors import PluginDied, PluginError, RemoteError, cut

SESSION = "mcp-session-id"
RETRY = 1.0  # seconds, where the server names none
LONGEST_RETRY = 30.0
_NOT_FOUND = -32601  # a method that there is none of
# Nothing of the request can have arrived.
NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


class SessionLost(PluginDied):
    """The server does not know the session any more, and did nothing with the request."""


class Call:
    """A request on its way. answer: what came, once something did."""

    def __init__(self, id: int, method: str, timeout: float, cap: float) -> None:
        now = trio.current_time()
        self.id = id
        self.method = method
        self.timeout = timeout
        self.cap = now + max(cap, timeout)
        self.scope = trio.CancelScope(deadline=now + timeout)
        self.sent = False
        self.on_progress: Callable[[str], None] | None = None
        self.answer: wire.Response | wire.Junk | None = None

    @property
    def listens(self) -> bool:
        """A request whose answer is a stream without end."""
        return math.isinf(self.timeout)


@attrs.define
class Events:
    """How to take up a stream that ended. retry: seconds to wait before."""

    last_id: str = ""
    retry: float = RETRY

    def saw(self, id: str, retry: int | None) -> None:
        """Remember what an event says."""
        self.last_id = id
        if retry is not None:
            self.retry = min(retry / 1000, LONGEST_RETRY)


def read_session_id(response: httpx2.Response) -> str:
    """The session that the server names, or "". Raises ValueError."""
    value: str = response.headers.get(SESSION, "")
    if not value.isascii() or not value.isprintable() or len(value) > 1024:
        raise ValueError("its session id is not made of visible characters")
    return value


def refusal(
    plugin: str, method: str, response: httpx2.Response, body: bytes, *, in_session: bool
) -> PluginError | ValueError:
    """What an answer with the status of an error means, to be raised.

    body: its beginning. in_session: whether the request named a session.
    """
    status = response.status_code
    error = _rpc_error(plugin, method, body)
    if in_session and _forgotten(status, error):
        return SessionLost(plugin, "does not know the session any more")
    if status in (401, 403):
        return ValueError(
            f"HTTP status {status}: it wants credentials; put them into the server's headers"
        )
    if error is not None:
        return error
    text = cut(body.decode(errors="replace"), 300)
    return ValueError(f"HTTP status {status} {response.reason_phrase}: {text}".rstrip(": "))


def _rpc_error(plugin: str, method: str, body: bytes) -> RemoteError | None:
    """The error that a body holds; the id may be missing where the request was not read."""
    try:
        value = codec.loads(body)
    except ValueError:
        return None
    error = value.get("error") if type(value) is dict else None
    if type(error) is not dict:
        return None
    code, message = error.get("code"), error.get("message")
    if type(code) is not int or type(message) is not str:
        return None
    return RemoteError(plugin, method, code, message, error.get("data"))


def _forgotten(status: int, error: RemoteError | None) -> bool:
    """Whether a refusal is about the session; servers say it as 404, and many as 400."""
    if status == 404:
        return error is None or error.code != _NOT_FOUND
    return status == 400 and error is not None and "session" in error.remote_message.lower()
