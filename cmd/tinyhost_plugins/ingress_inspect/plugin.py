"""The plugin: its options and its tools. What the tools do is imported with the first call."""

from tinyhost_sdk import InitializeEvent, Plugin, ToolContext

from .._shared.tools import reading_tool
from .options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .answers import Call

_TEXTS = {
    "path": "Folder of an unpacked must-gather, absolute or in the project",
    "filter": "Show only backends whose name has this text; empty shows all",
    "namespace": "Check only the routes and backends of this namespace; empty checks all",
    "limit": "Rows to show of each list, up to 1000; 0 is the usual number",
}
_CONTROLLERS = (
    "Ingress controllers in an OpenShift must-gather: domain, replicas, publishing strategy,"
    " default certificate, conditions with their reasons."
)
_BACKENDS = (
    "HAProxy backends of the routers in an OpenShift must-gather: servers, mode, balance; for each"
    " router pod, optionally only those with a text in their name."
)
_ROUTE_CHECK = (
    "Compare the routes in an OpenShift must-gather with the HAProxy backends of the controllers"
    " that admitted them: missing, stale and misconfigured backends, rejected routes."
)
_CONFIG = (
    "HAProxy settings of the routers in an OpenShift must-gather: global, defaults with timeouts"
    " that are too long, frontends, backends by mode. Passwords and certificate paths are hidden."
)
_HEALTH = (
    "Everything wrong with the routers in an OpenShift must-gather, the worst first: controllers,"
    " routes, backends, timeouts, certificates that end, errors in router logs."
)


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    options = Options()

    def call(path: str, limit: int, context: ToolContext) -> "Call":
        from .answers import Call

        return Call(options, path, limit, context)

    def initialize(event: InitializeEvent) -> None:
        nonlocal options
        options = Options(event.options)

    def controllers(path: str, limit: int = 0, *, context: ToolContext) -> str:
        return call(path, limit, context).controllers()

    def backends(path: str, filter: str = "", limit: int = 0, *, context: ToolContext) -> str:
        return call(path, limit, context).backends(filter)

    def route_check(path: str, namespace: str = "", limit: int = 0, *, context: ToolContext) -> str:
        return call(path, limit, context).route_check(namespace)

    def config(path: str, limit: int = 0, *, context: ToolContext) -> str:
        return call(path, limit, context).config()

    def health(path: str, limit: int = 0, *, context: ToolContext) -> str:
        return call(path, limit, context).health()

    return Plugin(
        "ingress-inspect",
        version="1.0",
        tools=[
            reading_tool("ingress_controllers", _CONTROLLERS, controllers, _TEXTS),
            reading_tool("ingress_backends", _BACKENDS, backends, _TEXTS),
            reading_tool("ingress_route_check", _ROUTE_CHECK, route_check, _TEXTS),
            reading_tool("ingress_config", _CONFIG, config, _TEXTS),
            reading_tool("ingress_health", _HEALTH, health, _TEXTS),
        ],
        # Two, so that a call that takes long can be cancelled. Calls share nothing but the options.
        concurrency=2,
        on_initialize=initialize,
    )
