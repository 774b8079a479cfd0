"""The plugin: its options, its eleven tools, and the one snapshot that is open."""

import os

from tinyhost_sdk import HandlerError, Hooks, InitializeEvent, Plugin, Tool, ToolContext

from .options import Options, read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from .log_tools import Logs
    from .snapshot import Snapshot

    Args = dict[str, Any]

_GATHER = {
    "type": "string",
    "description": "Folder of an unpacked must-gather, or one above it",
}
_EVENTS = (
    *("leader_election", "compaction", "defragmentation", "slow_apply", "slow_fsync", "overload"),
    *("network_issue", "storage_issue"),
)


def _schema(required: "tuple[str, ...]" = (), **properties: "Any") -> "dict[str, Any]":
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    return schema


def _maximum(what: str, default: int, most: int) -> "dict[str, Any]":
    text = f"How many {what} to show; 0 means {default}"
    return {"type": "integer", "minimum": 0, "maximum": most, "description": text}


class Desk:
    """What the tools share: the options, and the snapshot that was opened last."""

    def __init__(self) -> None:
        self.options = Options()
        self.directory = ""
        self.snapshot: Snapshot | None = None

    def initialize(self, event: InitializeEvent) -> None:
        self.options = read_options(event.options)
        self.directory = event.directory

    def dispose(self) -> None:
        # The file is unmapped when the last call that reads it lets go of it.
        self.snapshot = None

    def path(self, args: "Args", context: ToolContext) -> "Path":
        """The path that is meant, seen from the caller's directory. Raises HandlerError."""
        from pathlib import Path

        path = _needed(args, "path")
        try:
            possible = "\0" not in path and bool(os.fsencode(path))
        except UnicodeEncodeError:
            possible = False
        if not possible:
            raise HandlerError('"path" holds characters that no path has')
        if path.startswith("~"):
            try:
                path = str(Path(path).expanduser())
            except RuntimeError:
                raise HandlerError(f"there is no home folder for {path:.80}") from None
        return Path(context.directory or self.directory or ".").joinpath(path).absolute()

    def current(self, args: "Args", context: ToolContext) -> "Snapshot":
        """The snapshot at args["path"], or the one that is open. Raises HandlerError."""
        from .pace import Pace
        from .snapshot import open_snapshot

        snapshot = self.snapshot
        if not _text(args, "path"):
            if snapshot is None:
                raise HandlerError(
                    'no snapshot is open; call etcd_snapshot_open with its "path" first'
                )
            snapshot.check_unchanged()
            return snapshot
        path = self.path(args, context)
        if snapshot is None or snapshot.path != path or not snapshot.is_unchanged():
            # The former one stays open until the new one has proved to be good.
            snapshot = open_snapshot(path, self.options, Pace(context, self.options.seconds))
            self.snapshot = snapshot
        return snapshot

    def logs(self, args: "Args", context: ToolContext) -> "Logs":
        from .log_tools import Logs
        from .pace import Pace

        path = self.path(args, context)
        return Logs(path, self.options, Pace(context, self.options.seconds))

    def stats(self, args: "Args", context: ToolContext) -> str:
        from . import log_tools

        return log_tools.stats(self.logs(args, context))

    def errors(self, args: "Args", context: ToolContext) -> str:
        from . import log_tools

        most = _number(args, "max", 50, log_tools.MOST_LINES)
        return log_tools.errors(self.logs(args, context), most)

    def timeline(self, args: "Args", context: ToolContext) -> str:
        from . import log_tools

        most = _number(args, "max", 100, log_tools.MOST_LINES)
        only = _text(args, "class")
        if only and only not in _EVENTS:
            raise HandlerError(f'"class" has to be one of {", ".join(_EVENTS)}')
        return log_tools.timeline(self.logs(args, context), most, only)

    def compare(self, args: "Args", context: ToolContext) -> str:
        from . import log_tools

        return log_tools.compare(self.logs(args, context))

    def live(self, _args: "Args", context: ToolContext) -> str:
        from .live import live

        return live(self.options.etcdctl, context)

    def health(self, args: "Args", context: ToolContext) -> str:
        from .health import health

        return health(self.logs(args, context))

    def open(self, args: "Args", context: ToolContext) -> str:
        from . import snapshot_tools

        _needed(args, "path")
        return snapshot_tools.overview(self.current(args, context))

    def resources(self, args: "Args", context: ToolContext) -> str:
        from . import snapshot_tools

        sort_by = "size" if _text(args, "sort_by") == "size" else "count"
        return snapshot_tools.resources(self.current(args, context), sort_by)

    def get(self, args: "Args", context: ToolContext) -> str:
        from . import snapshot_tools
        from .pace import Pace

        kind, name = _needed(args, "kind"), _needed(args, "name")
        most = _number(args, "max_chars", 24_000, 256 * 1024)
        pace = Pace(context, self.options.seconds)
        return snapshot_tools.get(
            self.current(args, context), kind, _text(args, "namespace"), name, most, pace
        )

    def search(self, args: "Args", context: ToolContext) -> str:
        from . import snapshot_tools
        from .pace import Pace

        most = _number(args, "max", 50, snapshot_tools.MOST_FOUND)
        pace = Pace(context, self.options.seconds)
        return snapshot_tools.search(
            self.current(args, context), _text(args, "pattern"), most, pace
        )

    def storage(self, args: "Args", context: ToolContext) -> str:
        from . import snapshot_tools

        return snapshot_tools.storage(self.current(args, context))


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    desk = Desk()
    return Plugin(
        "etcd-diag",
        version="1.0",
        tools=[*_log_tools(desk), *_snapshot_tools(desk)],
        hooks=Hooks(dispose=desk.dispose),
        # Two, so that a call that takes long can be cancelled.
        concurrency=2,
        on_initialize=desk.initialize,
    )


def _log_tools(desk: Desk) -> "list[Tool]":
    path = _schema(("path",), path=_GATHER)
    limited = _schema(("path",), path=_GATHER, max=_maximum("lines", 50, 2000))
    events = _schema(
        ("path",),
        path=_GATHER,
        max=_maximum("events", 100, 2000),
        **{"class": {"type": "string", "enum": list(_EVENTS), "description": "Only these events"}},
    )
    return [
        _tool(
            "etcd_diag_stats",
            "How often etcd applied, synced and compacted slowly, and how long it took (min,"
            " median, average, p99, max in ms), from the etcd logs of a must-gather.",
            path,
            desk.stats,
        ),
        _tool(
            "etcd_diag_errors",
            "Errors in the etcd logs of a must-gather by category: auth, storage, raft, overload,"
            " network; counts, commonest messages, newest lines.",
            limited,
            desk.errors,
        ),
        _tool(
            "etcd_diag_timeline",
            "What happened to etcd in order of time, from the logs of a must-gather: elections,"
            " compactions, defragmentations, slowness, network and storage issues.",
            events,
            desk.timeline,
        ),
        _tool(
            "etcd_diag_compare",
            "The etcd pods of a must-gather beside each other, and which of them stands out.",
            path,
            desk.compare,
        ),
        _tool(
            "etcd_diag_live",
            "Members, status, health and alarms of the running etcd that the person has set up, asked"
            " with etcdctl. Changes nothing.",
            _schema(),
            desk.live,
            # It goes to a cluster, with the credentials for it.
            permission=None,
        ),
        _tool(
            "etcd_diag_health",
            "Rates etcd's health in a must-gather (OK, WARN, CRITICAL) from its logs and from what"
            " etcd said about members, alarms and sizes. A good first call.",
            path,
            desk.health,
        ),
    ]


def _snapshot_tools(desk: Desk) -> "list[Tool]":
    text = {"type": "string"}
    path = {
        "type": "string",
        "description": "Snapshot to open first; none for the one that is open",
    }
    return [
        _tool(
            "etcd_snapshot_open",
            "Open an etcd snapshot or a copy of member/snap/db: checks its integrity, and says how"
            " many keys, revisions and kinds of objects there are. It stays open for the other"
            " etcd_snapshot tools.",
            _schema(
                ("path",), path={"type": "string", "description": "Path of the .db file, unpacked"}
            ),
            desk.open,
        ),
        _tool(
            "etcd_snapshot_resources",
            "Kinds of objects in the open snapshot, with counts and sizes.",
            _schema(sort_by={"type": "string", "enum": ["count", "size"]}, path=path),
            desk.resources,
        ),
        _tool(
            "etcd_snapshot_get",
            "One object of the open snapshot. Secrets are redacted; of objects in protobuf, type"
            " and metadata are shown.",
            _schema(
                ("kind", "name"),
                kind={"type": "string", "description": 'Such as "pods", "svc", "routes"'},
                name=text,
                namespace={"type": "string", "description": "None for cluster-scoped objects"},
                max_chars=_maximum("characters", 24_000, 256 * 1024),
                path=path,
            ),
            desk.get,
        ),
        _tool(
            "etcd_snapshot_search",
            "Keys of the open snapshot that match a regular expression or hold a text.",
            _schema(("pattern",), pattern=text, max=_maximum("keys", 50, 1000), path=path),
            desk.search,
        ),
        _tool(
            "etcd_snapshot_storage",
            "Where the bytes of the open snapshot go: current values, history, free pages, largest"
            " and most often changed keys; whether defragmentation would help.",
            _schema(path=path),
            desk.storage,
        ),
    ]


def _tool(
    name: str,
    description: str,
    parameters: "dict[str, Any]",
    execute: "Callable[[Args, ToolContext], str]",
    permission: "str | None" = "read",
) -> Tool:
    def checked(args: "Any", context: ToolContext) -> str:
        if args is None:
            args = {}
        if not isinstance(args, dict):
            raise HandlerError("the arguments have to be an object")
        _check_names(args, parameters["properties"])
        return execute(args, context)

    return Tool(name, description, parameters, checked, permission=permission)


def _check_names(args: "Args", known: "Any") -> None:
    """Raises HandlerError for an argument that there is not: a misspelt one would be no filter."""
    unknown = sorted(f"{name:.40}" for name in args if name not in known)
    if unknown:
        there = f"there are {', '.join(known)}" if known else "this tool has none"
        raise HandlerError(f"unknown arguments: {', '.join(map(repr, unknown))}; {there}")


def _text(args: "Args", key: str) -> str:
    value = args.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise HandlerError(f'"{key}" has to be text')
    return value


def _needed(args: "Args", key: str) -> str:
    value = _text(args, key).strip()
    if not value:
        raise HandlerError(f'"{key}" is missing or empty')
    return value


def _number(args: "Args", key: str, default: int, most: int) -> int:
    value = args.get(key)
    if value is None or (type(value) is int and value == 0):
        return default
    if type(value) is not int or not 0 < value <= most:
        raise HandlerError(f'"{key}" has to be a whole number from 0 to {most}')
    return value
