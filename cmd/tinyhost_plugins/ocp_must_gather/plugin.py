"""The plugin: its options and its tools. What the tools do is imported with the first call."""

from threading import Lock

from tinyhost_sdk import Hooks, InitializeEvent, Plugin, SessionEnd, Tool, ToolContext

from .._shared.tools import reading_tool
from .options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .answers import Answers

_TEXTS = {
    "path": "Folder or archive of a must-gather to load; without it the one loaded before is asked",
    "limit": "Rows to show of each list, up to 1000, and longer texts; 0 is the usual number",
    "role": "Show only nodes with this role, as master, worker or infra",
    "expired_only": "Leave out certificates that are all right",
    "days": "Days before its end from which a certificate is expiring; 0 is 30",
    "node": "Show only lines of nodes whose name has this in it",
    "pattern": "Regular expression to search for; without it the first lines of each file are shown",
    "max": "Lines to show in all, up to 5000; 0 is 100",
    "metric": "Regular expression to search the metrics, rules and other answers for",
    "namespace": "Show only this namespace",
    "status": "Show only pods in this phase or state, as Pending or CrashLoopBackOff",
    "type": "Show only events of this type, as Warning",
    "reason": "Regular expression that an event's reason has to match, in upper or lower case",
}
_USE_TEXTS = {
    "path": "Folder of an unpacked must-gather, or its archive (.tar.gz, .tar or .zip),"
    " absolute or in the project"
}

_USE = (
    "Load an OpenShift must-gather (a folder, or an archive of one) and say what is in it."
    " The other mg_ tools then answer about it."
)
# Tools that take nothing but a path and a limit.
_PLAIN = {
    "mg_cluster_version": "Version, channel, id, update history and conditions of the cluster in"
    " the loaded must-gather.",
    "mg_operators": "Cluster operators of the loaded must-gather, those in trouble first, with"
    " their reasons.",
    "mg_ovn": "Network of the loaded must-gather: network policies, EgressIPs, OVN-Kubernetes pods,"
    " errors in their logs.",
    "mg_machine_config": "Machine config pools of the loaded must-gather: ready, updated and"
    " degraded machines, conditions; machine configs.",
    "mg_health": "All issues found in the loaded must-gather: version, nodes, operators, machine"
    " config pools, critical alerts, expired certificates.",
}
_NODES = "Nodes of the loaded must-gather: readiness, roles, issues, capacity, kubelet version."
_CERTS = (
    "Certificates in Secrets and ConfigMaps of the loaded must-gather, those that end first on top,"
    " as of the time when it was gathered."
)
_LOGS = "Search the logs of services on the hosts (kubelet, crio, ...) in the loaded must-gather."
_PROMETHEUS = "Alerts that fire and monitoring files in the loaded must-gather; with metric, a search in them."
_PODS = "Pods of the loaded must-gather with state, restarts and node, those in trouble first."
_EVENTS = "Events of the loaded must-gather, warnings and frequent ones first."


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    options = Options()
    known: Answers | None = None
    making = Lock()

    def answers() -> "Answers":
        nonlocal known
        # Two first calls at a time must not make two, each with sessions of its own.
        with making:
            if known is None:
                from .answers import Answers

                known = Answers(options)
            return known

    def initialize(event: InitializeEvent) -> None:
        nonlocal options
        options = Options(event.options)

    def session_end(event: SessionEnd) -> None:
        asked = known
        if asked is not None:
            asked.sessions.forget(event.session_id)

    def dispose() -> None:
        nonlocal known
        asked, known = known, None
        if asked is not None:
            asked.sessions.close()

    return Plugin(
        "ocp-must-gather",
        version="1.0",
        tools=_tools(answers),
        hooks=Hooks(session_end=session_end, dispose=dispose),
        # Two, so that a call that takes long can be cancelled, and other sessions need not wait.
        concurrency=2,
        on_initialize=initialize,
    )


def _tools(answers: "Callable[[], Answers]") -> "list[Tool]":
    def use(path: str, *, context: ToolContext) -> str:
        return answers().use(path, context)

    def plain(tool: str) -> "Callable[..., str]":
        def ask(path: str = "", limit: int = 0, *, context: ToolContext) -> str:
            return answers().plain(tool, path, limit, context)

        return ask

    def nodes(role: str = "", path: str = "", limit: int = 0, *, context: ToolContext) -> str:
        return answers().nodes(role, path, limit, context)

    def certs(
        expired_only: bool = False,
        days: int = 0,
        path: str = "",
        limit: int = 0,
        *,
        context: ToolContext,
    ) -> str:
        return answers().certs(expired_only, days, path, limit, context)

    def node_logs(
        node: str = "",
        pattern: str = "",
        max: int = 0,
        path: str = "",
        *,
        context: ToolContext,
    ) -> str:
        return answers().node_logs(node, pattern, max, path, context)

    def prometheus(
        metric: str = "", path: str = "", limit: int = 0, *, context: ToolContext
    ) -> str:
        return answers().prometheus(metric, path, limit, context)

    def pods(
        namespace: str = "",
        status: str = "",
        path: str = "",
        limit: int = 0,
        *,
        context: ToolContext,
    ) -> str:
        return answers().pods(namespace, status, path, limit, context)

    def events(
        namespace: str = "",
        type: str = "",
        reason: str = "",
        path: str = "",
        limit: int = 0,
        *,
        context: ToolContext,
    ) -> str:
        return answers().events(namespace, type, reason, path, limit, context)

    return [
        reading_tool("mg_use", _USE, use, _USE_TEXTS),
        reading_tool(
            "mg_cluster_version", _PLAIN["mg_cluster_version"], plain("mg_cluster_version"), _TEXTS
        ),
        reading_tool("mg_nodes", _NODES, nodes, _TEXTS),
        reading_tool("mg_operators", _PLAIN["mg_operators"], plain("mg_operators"), _TEXTS),
        reading_tool("mg_certs", _CERTS, certs, _TEXTS),
        reading_tool("mg_node_logs", _LOGS, node_logs, _TEXTS),
        reading_tool("mg_ovn", _PLAIN["mg_ovn"], plain("mg_ovn"), _TEXTS),
        reading_tool("mg_prometheus", _PROMETHEUS, prometheus, _TEXTS),
        reading_tool(
            "mg_machine_config", _PLAIN["mg_machine_config"], plain("mg_machine_config"), _TEXTS
        ),
        reading_tool("mg_pods", _PODS, pods, _TEXTS),
        reading_tool("mg_events", _EVENTS, events, _TEXTS),
        reading_tool("mg_health", _PLAIN["mg_health"], plain("mg_health"), _TEXTS),
    ]
