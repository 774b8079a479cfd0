"""What goes wrong with bingo's capabilities, beside what goes wrong with any call."""

from __future__ import annotations

from tinyhost.errors import PluginError

from .forms import write
from .model_types import (
    ErrorRateLimited,
    ErrorServer,
    ErrorTimeout,
    ErrorTransport,
    ProviderError,
    Usage,
)
from .types import ErrorCode


class ProviderFailed(PluginError):
    """A response ended early: `error` says why, as the provider or the host puts it."""

    def __init__(self, plugin: str, error: ProviderError) -> None:
        self.error = error
        said = write(error)
        text = f"plugin {plugin}: the response ended early: {said.pop('kind')}"
        details = ", ".join(f"{key} {value}" for key, value in said.items())
        super().__init__(plugin, f"{text}: {details}" if details else text)

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        kinds = (ErrorRateLimited, ErrorServer, ErrorTransport, ErrorTimeout)
        return isinstance(self.error, kinds)


class CompactionFailed(PluginError):
    """There is no shorter conversation. usage: what the attempt used, which counts all the same.

    useless: there was an answer, but it is no shorter than what it replaces.
    """

    def __init__(
        self,
        plugin: str,
        code: ErrorCode,
        reason: str,
        usage: Usage | None = None,
        *,
        useless: bool = False,
    ) -> None:
        self.code, self.reason, self.usage, self.useless = code, reason, usage, useless
        super().__init__(plugin, f"plugin {plugin}: no compaction: {code}: {reason}")
