"""The plugin: its options and its tools. What the tools do is imported with the first call."""

from threading import Lock

from tinyhost_sdk import Hooks, InitializeEvent, Plugin, SessionEnd, ToolContext

from .._shared.tools import reading_tool
from .options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .answers import Answers

_TEXTS = {
    "archive": "Path of an archive to load; without it the one loaded before is asked",
    "limit": "Rows to show of each list, up to 1000; 0 is the usual number",
    "severity": "Show only alerts of this severity, as critical or warning; empty shows all",
    "threshold": "Percent of the memory limit from which a request is shown; 0 is 80",
}
_USE_TEXTS = {"archive": "Path of an Insights archive (.tar.gz), absolute or in the project"}

_USE = (
    "Load an OpenShift Insights Operator archive (.tar.gz, .tar or .zip) and say what is in it."
    " The other insights tools then answer about it."
)
# Tools that take nothing but an archive and a limit.
_PLAIN = {
    "insights_summary": "The cluster of the loaded Insights archive: version, channel, id,"
    " platform, counts of nodes, operators, pods and alerts, failed gatherers.",
    "insights_nodes": "Nodes of the loaded Insights archive: readiness, roles, pressure, capacity,"
    " versions; machine config pools; kubelet log excerpts.",
    "insights_operators": "Cluster operators of the loaded Insights archive, with the reasons of"
    " those that are degraded, unavailable, progressing or not upgradeable.",
    "insights_etcd": "What the loaded Insights archive says about etcd: operator conditions and"
    " versions, settings, pods, slow operations, alerts, events.",
    "insights_storage": "Storage classes, persistent volumes, claims and Data Foundation clusters"
    " of the loaded Insights archive.",
    "insights_uid_overlap": "Namespaces of the loaded Insights archive whose UID ranges overlap.",
    "insights_health": "All issues found in the loaded Insights archive, the worst first.",
}
_MEMORY = (
    "Memory in the loaded Insights archive: OOM-killed containers, containers whose memory request"
    " is at least threshold percent of their limit, usage by namespace, nodes under pressure."
)
_ALERTS = "Alerts of the loaded Insights archive by severity, those that fire and those silenced."


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

    def use(archive: str, *, context: ToolContext) -> str:
        return answers().use(archive, context)

    def memory(
        threshold: int = 0, archive: str = "", limit: int = 0, *, context: ToolContext
    ) -> str:
        return answers().memory(threshold, archive, limit, context)

    def alerts(
        severity: str = "", archive: str = "", limit: int = 0, *, context: ToolContext
    ) -> str:
        return answers().alerts(severity, archive, limit, context)

    def plain(tool: str) -> "Callable[..., str]":
        def ask(archive: str = "", limit: int = 0, *, context: ToolContext) -> str:
            return answers().plain(tool, archive, limit, context)

        return ask

    def session_end(event: SessionEnd) -> None:
        asked = known
        if asked is not None:
            asked.sessions.forget(event.session_id)

    def dispose() -> None:
        nonlocal known
        known = None

    return Plugin(
        "insights",
        version="1.0",
        tools=[
            reading_tool("insights_use", _USE, use, _USE_TEXTS),
            *(reading_tool(name, text, plain(name), _TEXTS) for name, text in _PLAIN.items()),
            reading_tool("insights_memory", _MEMORY, memory, _TEXTS),
            reading_tool("insights_alerts", _ALERTS, alerts, _TEXTS),
        ],
        hooks=Hooks(session_end=session_end, dispose=dispose),
        # Two, so that a call that takes long can be cancelled.
        concurrency=2,
        on_initialize=initialize,
    )
