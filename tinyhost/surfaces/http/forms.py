"""The JSON of the HTTP API, as types. Answers may have further members."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ...names import PATTERN
from .schema import says

_Id = Annotated[str, says("An id, or the name it is loaded under.", minLength=1)]
_Name = Annotated[
    str, says("What the configuration calls it.", pattern=rf"^(?!.*\.\.){PATTERN}$", minLength=1)
]
_Directory = Annotated[
    str | None, says("Where the session works; the host's by default.", pattern="^/[^\\x00]*$")
]

_SESSION = r"^(?!\.{1,2}$)[^/\x00-\x1f\x7f]+$"

# --- what clients send


class LoadBody(TypedDict):
    """A plugin to load."""

    name: _Name
    options: NotRequired[
        Annotated[dict[str, Any] | None, says("Instead of those in the configuration.")]
    ]


class UnloadBody(TypedDict):
    """A plugin to unload."""

    id: _Id


class EventBody(TypedDict):
    """An event of a program's own. The names of hooks are reserved."""

    event: Annotated[str, says("Goes to the plugins that declared it.", minLength=1, maxLength=200)]
    sessionID: NotRequired[Annotated[str | None, says("The session that it is about.")]]
    data: NotRequired[Annotated[Any, says("Any value.")]]


class CallBody(TypedDict):
    """A call of a tool. Without a session it gets one that is begun and ended for it."""

    args: NotRequired[Annotated[dict[str, Any] | None, says("As the tool's inputSchema has it.")]]
    sessionID: NotRequired[Annotated[str | None, says("A session.", maxLength=200)]]
    directory: NotRequired[_Directory]


class HookBody(TypedDict):
    """The input of a hook, and the plugins to ask, all by default."""

    input: NotRequired[dict[str, Any] | None]
    plugins: NotRequired[list[str] | None]


class SessionBody(TypedDict):
    """A session to begin."""

    sessionID: NotRequired[
        Annotated[
            str | None,
            # What a path cannot name could not be ended.
            says("An id, without / and control characters.", pattern=_SESSION, maxLength=200),
        ]
    ]
    directory: NotRequired[_Directory]


# --- what the host answers


class Error(TypedDict):
    """Why a request was not done. detail: the error's type, and its fields."""

    error: str
    detail: dict[str, Any]


class Health(TypedDict):
    """Whether the host is up."""

    status: Literal["ok", "loading", "stopping"]


class Tool(TypedDict):
    """A tool of a plugin."""

    id: str
    name: str
    plugin: str
    description: str
    inputSchema: dict[str, Any]
    permission: str | None
    hints: NotRequired[dict[str, bool]]


class Stats(TypedDict):
    """How a plugin fares: of its last 512 calls and hooks, and of its processes now."""

    p50Ms: float | None
    p99Ms: float | None
    memoryBytes: int | None
    cpuSeconds: float | None


class Plugin(TypedDict):
    """A loaded plugin."""

    id: str
    name: str
    version: str
    dialect: str
    pid: int | None
    state: str
    message: str | None
    path: str
    hooks: list[str]
    tools: list[Tool]
    capabilities: dict[str, list[str]]
    spawnMs: float
    handshakeMs: float
    limits: dict[str, Any]
    sandbox: dict[str, Any] | None
    counters: dict[str, int]
    stats: Stats


class Failed(TypedDict):
    """A plugin that should be loaded and is not."""

    name: str
    loaded: bool
    error: dict[str, Any]
    ms: float


class Status(TypedDict):
    """Everything at a glance. Times are seconds, `started` since the epoch."""

    pid: int
    config: str
    project: str | None
    directory: str
    started: float
    ready: bool
    uptimeSeconds: float
    addresses: dict[str, str]
    sessions: int
    events: int
    problems: list[str]
    notices: list[str]
    plugins: list[Plugin]
    failed: list[Failed]


class Reloaded(TypedDict):
    """What reading the configuration anew changed, as names of plugins."""

    loaded: list[str]
    restarted: list[str]
    unloaded: list[str]
    unchanged: list[str]
    failed: list[Failed]
    problems: list[str]
    notices: list[str]


class RegistryEntry(TypedDict):
    """A plugin that is known to exist."""

    name: str
    description: str
    category: str
    binary: NotRequired[str]
    package: NotRequired[str]
    repo: NotRequired[str]
    guard: bool


class LoadAnswer(TypedDict):
    """status: "skipped" for what is built in, which needs no loading."""

    status: Literal["loaded", "skipped"]
    name: str
    id: str
    plugin: Plugin


class EventAnswer(TypedDict):
    """The plugins that took the event, and those that failed to."""

    status: Literal["ok"]
    plugins: list[dict[str, Any]]


class Outcome(TypedDict):
    """What a tool answered, after all plugins saw it. ms: of the whole guarded call."""

    tool: str
    content: str
    isError: bool
    additionalContext: list[str]
    details: NotRequired[dict[str, Any]]
    ms: float


class HookAnswer(TypedDict):
    """What plugins answered, each by itself and merged, and what that means."""

    output: Any
    plugins: list[dict[str, Any]]
    verdict: str
    stopped: bool


class Session(TypedDict):
    """A session that has begun. contexts: what plugins had to say at its start."""

    id: str
    directory: str
    contexts: list[str]


class Journal(TypedDict):
    """The journal of a session. size: bytes. problem: why it cannot be read, or ""."""

    session: str
    directory: str
    started: str
    updated: str
    size: int
    problem: str


class Record(TypedDict):
    """One record of a journal; the further members depend on the kind."""

    seq: int
    t: str
    kind: str


class Records(TypedDict):
    """Records of a session. next: give it as `after` for those that follow, null at the end."""

    session: str
    records: list[Record]
    next: int | None
    problems: list[str]


class Log(TypedDict):
    """The last lines that a plugin wrote to standard error."""

    plugin: str
    path: str
    lines: list[str]


FORMS = {
    name: form
    for name, form in dict(globals()).items()
    if isinstance(form, type) and issubclass(form, dict) and form is not dict
}
