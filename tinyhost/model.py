"""The host's vocabulary: what plugins offer, what calls carry and return."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import attrs


class State(enum.StrEnum):
    """Where a plugin is in its life."""

    STARTING = "starting"  # spawned, or about to be; no handshake yet
    READY = "ready"
    SLOW = "slow"  # the last call, or the last two, got no answer in time
    WEDGED = "wedged"  # killed after three timeouts in a row
    RESTARTING = "restarting"  # died; the next call starts it again
    FAILED = "failed"  # died too often; waits for a person to restart it
    STOPPING = "stopping"
    STOPPED = "stopped"


@attrs.frozen(kw_only=True)
class ToolSpec:
    """One tool of one plugin.

    id: `plugin__<plugin name>__<tool name>`, unique among all loaded plugins.
    input_schema: JSON Schema of the arguments, always an object schema.
    permission: the category that the plugin asks to be judged under; only a wish.
    """

    id: str
    name: str
    plugin: str
    description: str = ""
    input_schema: Mapping[str, Any] = attrs.field(factory=dict)
    permission: str | None = None


@attrs.frozen(kw_only=True)
class Manifest:
    """What a plugin said of itself in its handshake, checked.

    concurrency: how many requests it takes at a time.
    max_line: bytes in the longest line that it reads, newline included.
    """

    reported_id: str = ""
    version: str = ""
    tools: Sequence[ToolSpec] = ()
    hooks: Sequence[str] = ()
    concurrency: int = 1
    cancel: bool = False
    progress: bool = False
    max_line: int = 0


@attrs.frozen
class ToolResult:
    """A tool's answer; is_error marks text that tells of a failure of the tool."""

    content: str
    is_error: bool = False


@attrs.define
class Counters:
    """What happened to one plugin since it was loaded. All are counts."""

    calls: int = 0
    errors: int = 0
    timeouts: int = 0
    busy: int = 0  # deadlines that passed while the request waited behind others
    late_replies: int = 0  # answers that nobody waited for any more
    junk_lines: int = 0  # lines on stdout that were not messages
    deaths: int = 0
    restarts: int = 0


@attrs.frozen(kw_only=True)
class PluginInfo:
    """A snapshot of one plugin, for people and programs."""

    id: str
    name: str
    dialect: str
    version: str
    pid: int | None
    state: State
    tools: Sequence[ToolSpec]
    hooks: Sequence[str]
    counters: Counters
    path: str = ""
    message: str = ""  # why it is not ready, and the way out
    spawn_ms: float = 0.0  # the last start: until the process ran,
    handshake_ms: float = 0.0  # and from then until its manifest was read


@attrs.frozen(kw_only=True)
class CallContext:
    """What travels with a tool call."""

    session_id: str = ""
    directory: str = ""


@attrs.frozen
class Timeouts:
    """Deadlines of one plugin, in seconds.

    The numbers are tinycode's, with a longer handshake for interpreters that start cold.
    tool_cap: how far progress may extend a tool call.
    """

    handshake: float = 10.0
    hook: float = 5.0
    tool: float = 30.0
    tool_cap: float = 600.0
    stop: float = 3.0


@attrs.frozen(kw_only=True)
class PluginSettings:
    """What the person's configuration says of one plugin, beyond its options.

    env: variables set for the plugin; pass_env: names handed on from the host's own.
    directory: where the plugin runs; None means the project's directory.
    max_line: bytes in the longest line taken from the plugin.
    """

    timeouts: Timeouts = attrs.field(factory=Timeouts)
    env: Mapping[str, str] = attrs.field(factory=dict)
    pass_env: Sequence[str] = ()
    directory: str | None = None
    max_line: int = 10 * 1024 * 1024
    on_guard_failure: str = "ask"


@attrs.frozen
class PluginSpec:
    """One entry of a plugin list: the name, the plugin's own options, our settings."""

    name: str
    options: Mapping[str, Any] = attrs.field(factory=dict)
    settings: PluginSettings = attrs.field(factory=PluginSettings)


@attrs.frozen
class Resolved:
    """Where a plugin is: an absolute path, and the place it was found in, in words.

    dialect: the wire it speaks. path: its program, or for "zuno" and "bingo" its folder.
    """

    path: str
    source: str
    dialect: str = "native"
