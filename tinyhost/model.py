"""The host's vocabulary: what plugins offer, what calls carry and return."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
    hints: what the plugin says of its effects, as MCP's readOnlyHint; nothing may rest on it.
    """

    id: str
    name: str
    plugin: str
    description: str = ""
    input_schema: Mapping[str, Any] = attrs.field(factory=dict)
    permission: str | None = None
    hints: Mapping[str, bool] = attrs.field(factory=dict)


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
    """A tool's answer; is_error marks text that tells of a failure of the tool.

    details: what the wire has beside the text, by the wire's own names, of JSON's kinds.
    """

    content: str
    is_error: bool = False
    details: Mapping[str, Any] = attrs.field(factory=dict, hash=False)


@attrs.define
class Counters:
    """What happened to one plugin since it was loaded. All are counts."""

    calls: int = 0
    errors: int = 0
    timeouts: int = 0
    busy: int = 0  # deadlines that passed while the request waited behind others
    late_replies: int = 0  # answers that nobody waited for any more
    junk_lines: int = 0  # lines on stdout that were not messages
    notifications: int = 0  # what it sent unasked; progress that nobody waits for is dropped
    unsent: int = 0  # notifications and answers to it that were dropped, as it did not read
    stderr_dropped: int = 0  # bytes on stderr that were not kept: overlong lines, and floods
    deaths: int = 0
    restarts: int = 0


@attrs.frozen(kw_only=True)
class Limits:
    """What one plugin may use at most; None is no limit.

    memory: bytes of private writable memory of each of its processes; cpu: seconds of
    processor time of each; open_files: of each; processes: of its user, or of its sandbox;
    nice: how far it steps back behind others, 0 to 19.
    """

    memory: int | None = None
    cpu: float | None = None
    open_files: int | None = None
    processes: int | None = None
    nice: int | None = None


@attrs.frozen(kw_only=True)
class Sandbox:
    """What a confined plugin may reach, as configured.

    read, write: paths as written: references to variables, "~", or relative to the plugin's
    working directory. engine: "bubblewrap", "landlock" or "auto".
    """

    read: Sequence[str] = ()
    write: Sequence[str] = ()
    network: bool = False
    engine: str = "auto"


@attrs.frozen(kw_only=True)
class Confinement:
    """A sandbox in force: an engine that is there, and absolute paths that are there.

    program: the engine's own program. system: what programs need to run, readable.
    links: other names that lead to such paths. gaps: what the engine leaves open, in words.
    """

    engine: str
    program: str
    system: Sequence[str] = ()
    read: Sequence[str] = ()
    write: Sequence[str] = ()
    links: Mapping[str, str] = attrs.field(factory=dict)
    network: bool = False
    gaps: Sequence[str] = ()


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
    limits: Limits = attrs.field(factory=Limits)
    confinement: Confinement | None = None
    # Names of what it offers beyond tools and hooks, by kind.
    capabilities: Mapping[str, Sequence[str]] = attrs.field(factory=dict)


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

    env: variables set for the plugin; pass_env: names handed on from the host's own;
    inherit_env: hand on all of the host's but those whose names look secret; None leaves it
    to the wire that the plugin speaks.
    directory: where the plugin runs; None means the project's directory. It may hold
    references to variables, and is absolute otherwise.
    max_line: bytes in the longest line taken from the plugin.
    launch: the words of a launcher, where the plugin is started by one; remote_command: those
    of the plugin's command behind it, None for the one that its name stands for; remote_shell:
    whether a shell reads them there, None for what is known of the launcher. See remote.
    """

    timeouts: Timeouts = attrs.field(factory=Timeouts)
    env: Mapping[str, str] = attrs.field(factory=dict)
    pass_env: Sequence[str] = ()
    inherit_env: bool | None = None
    directory: str | None = None
    max_line: int = 10 * 1024 * 1024
    on_guard_failure: str = "ask"
    on_output_failure: str = "pass"
    limits: Limits = attrs.field(factory=Limits)
    sandbox: Sandbox | None = None
    launch: Sequence[str] = ()
    remote_command: Sequence[str] | None = None
    remote_shell: bool | None = None


@attrs.frozen(kw_only=True)
class McpServer:
    """Where an MCP server is: a command to start it with, or the address that it listens at.

    All texts may have ${NAME} and ${NAME:-default} in them, for the host's variables.
    """

    command: Sequence[str] = ()
    url: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)


@attrs.frozen
class PluginSpec:
    """One entry of a plugin list: the name, the plugin's own options, our settings.

    server: says that it is an MCP server, and where; else the plugin is found by its name.
    """

    name: str
    options: Mapping[str, Any] = attrs.field(factory=dict)
    settings: PluginSettings = attrs.field(factory=PluginSettings)
    server: McpServer | None = None


@attrs.frozen(kw_only=True)
class ClientCallbacks:
    """What the host does for MCP servers and bingo plugins that ask it for something.

    Each gets the name of the plugin first. Those for MCP get the request's params and return
    the request's result, both in MCP's own form. Without one, servers are not told that there
    is such a thing, and those that ask all the same are refused.

    sampling: has a model write a message. elicitation: asks the person, with a form or an
        address to go to; the result has an "action" and for an accepted form "content".
    question: puts a bingo question to the person; both it and the answer in bingo's own form.
    notice: tells the person something; gets a level ("info", "warn" or "error") and a text.
    service: calls a service of another plugin; gets its key, the method and the params, and
        returns the result. The manager has one of its own.
    clients: MCP clients make calls here, and may be asked for what they offer. Servers that
        are told but once what there is are then told of sampling and elicitation.
    """

    sampling: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = None
    elicitation: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = None
    question: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = None
    notice: Callable[[str, str, str], None] | None = None
    service: Callable[[str, str, str, Any], Awaitable[Any]] | None = None
    clients: bool = False


@attrs.frozen
class Resolved:
    """Where a plugin is: an absolute path, and the place it was found in, in words.

    dialect: the wire it speaks. path: its program, or for "zuno" and "bingo" its folder.
    folder: the plugin's own folder, "" where it is a file among others.
    """

    path: str
    source: str
    dialect: str = "native"
    folder: str = ""


@attrs.frozen(kw_only=True)
class ProjectPlugins:
    """The programs that a trusted project brings.

    root: the project's folder. folder: where its programs are, one file or folder for each.
    names: the plugins that it lists, and may bring programs for.
    sha256: of its content when it was read.
    """

    root: str
    folder: str
    names: frozenset[str] = frozenset()
    sha256: str = ""
