"""All that a plugin's process is started with, as it is worked out before the first start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs

from .dialects.base import Dialect
from .launch import BARE, Wrapping
from .model import ClientCallbacks, Confinement, PluginSettings


@attrs.frozen(kw_only=True)
class Launch:
    """All that is needed to start one plugin's process, any number of times.

    verify: awaited before each start; raises LoadError for files that are not as they should be.
    wrapping: limits and sandbox, as words before the command; confinement says in what sandbox.
    callbacks: what the host does for the plugin. environ: the host's own variables.
    """

    dialect: Callable[[], Dialect]
    command: Sequence[str]
    env: Mapping[str, str]
    directory: str
    options: Mapping[str, Any]
    settings: PluginSettings
    log_path: str | None = None
    secrets: Sequence[str] = ()
    verify: Callable[[], Awaitable[None]] | None = None
    wrapping: Wrapping = BARE
    confinement: Confinement | None = None
    callbacks: ClientCallbacks = attrs.field(factory=ClientCallbacks)
    environ: Mapping[str, str] = attrs.field(factory=dict, repr=False)
