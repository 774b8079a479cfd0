"""A service that says no. Light to import: every host can meet one."""

from __future__ import annotations

from tinyhost.errors import TinyhostError

HOST = "bingo.host"  # the key of the host's own service
UNKNOWN_SERVICE = -32601
REFUSED = -32603


class ServiceRefused(TinyhostError):
    """A service was not called, or said no. code: what a plugin that called it is answered."""

    def __init__(self, message: str, code: int = REFUSED) -> None:
        self.code = code
        super().__init__(message)
