"""One life of a bingo plugin, as its capabilities see it: typed requests with deadlines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from tinyhost import codec
from tinyhost.dialects.base import Link
from tinyhost.errors import InvalidCall, ProtocolError
from tinyhost.model import ClientCallbacks

from .forms import read_any, write

_T = TypeVar("_T")

NEWEST = 6
PROTOCOLS = (5, 6)


@attrs.frozen(kw_only=True)
class Deadlines:
    """The wire's own, in seconds; those of tools, hooks and the handshake are the settings'.

    idle: between two events of a response. complete: how long a person is kept waiting.
    """

    contribute: float = 3.0
    compact: float = 60.0
    idle: float = 120.0
    service: float = 30.0
    complete: float = 5.0


@attrs.define
class Talk:
    """project: its folder. protocol: 5 or 6, as the plugin answered; 0 until then."""

    link: Link
    project: str
    deadlines: Deadlines
    callbacks: ClientCallbacks
    protocol: int = 0

    @property
    def plugin(self) -> str:
        """The name that the plugin is loaded under."""
        return self.link.plugin

    async def call(
        self,
        method: str,
        params: Any,
        kind: type[_T],
        *,
        timeout: float,
        cap: float = 0.0,
        hook: bool = False,
        on_sent: Callable[[int], None] | None = None,
    ) -> _T:
        """Send a request of typed params, and read its result. Raises PluginError."""
        result: _T = await self.call_any(
            method, params, kind, timeout=timeout, cap=cap, hook=hook, on_sent=on_sent
        )
        return result

    async def call_any(self, method: str, params: Any, kind: Any, **how: Any) -> Any:
        """Like call, for results that are a choice."""
        return self.read(method, kind, await self.raw(method, params, **how))

    async def raw(self, method: str, params: Any, **how: Any) -> Any:
        """Like call, with the result as it came."""
        try:
            text = codec.dumps(write(params))
        except (TypeError, ValueError) as error:
            raise InvalidCall(f"the params of {method} are not JSON: {error}") from error
        return await self.link.request(method, text, **how)

    def read(self, method: str, kind: Any, value: Any) -> Any:
        """Read an answer. Raises ProtocolError."""
        try:
            return read_any(kind, value)
        except ValueError as error:
            raise ProtocolError(self.plugin, method, str(error)) from error

    def notify(self, method: str, params: Any) -> None:
        """Send a notification; dropped when the plugin does not read."""
        self.link.notify(method, codec.dumps(write(params)))

    def directory(self, path: str) -> str:
        """A path as it can cross. Raises InvalidCall for one that is not text."""
        try:
            path.encode()
        except UnicodeEncodeError:
            raise InvalidCall(
                f"the directory {path!r} is not UTF-8 text, and cannot be told to plugin"
                f" {self.plugin}"
            ) from None
        return path
