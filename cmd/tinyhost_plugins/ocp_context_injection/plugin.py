"""The plugin: its options, hooks and tools. What they do is imported with the first of them."""

import os
from _thread import allocate_lock

from tinyhost_sdk import (
    Hooks,
    InitializeEvent,
    Plugin,
    SessionEnd,
    SessionStart,
    ShellEnv,
    Tool,
    ToolContext,
    ToolResult,
)
from tinyhost_sdk.signature import adapt

from .options import Options, read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sessions import Sessions

_CONCURRENCY = 4
_CONTEXT = (
    "The OpenShift or Kubernetes cluster that this session is connected to: server, user, version,"
    " nodes, namespace, installed operators, firing alerts, and the namespace's costs if they are"
    " set up."
)
_LOGIN = (
    "Log in to the configured OpenShift server with a token, for this session only: its shells and"
    " cluster_context use the login, and the person's kubeconfig stays as it is."
)
_LOGIN_TEXTS = {
    "server": "Has to be the configured server; may be left out",
    "token": "A token of that server; may be left out where one is configured",
}


class Handlers:
    """What the host calls. The session's part is loaded with its first use."""

    def __init__(self) -> None:
        self._options = Options()
        self._sessions: Sessions | None = None
        self._lock = allocate_lock()

    def initialize(self, event: InitializeEvent) -> None:
        self._options = read_options(event.options, os.environ)

    def session_start(self, event: SessionStart) -> "str | None":
        return self._get().start(event.session_id) if self._options.at_start else None

    def session_end(self, event: SessionEnd) -> None:
        if self._sessions is not None:
            self._sessions.end(event.session_id)

    def shell_env(self, event: ShellEnv) -> "dict[str, str | None]":
        # An editor would wait for somebody to type.
        env: dict[str, str | None] = {"OC_EDITOR": "cat", "KUBE_EDITOR": "cat"}
        if self._options.cluster_id:
            env["CLUSTER_ID"] = self._options.cluster_id
        kubeconfig = self._sessions.kubeconfig(event.session_id) if self._sessions else ""
        if kubeconfig:
            env["KUBECONFIG"] = kubeconfig
        return env

    def dispose(self) -> None:
        if self._sessions is not None:
            self._sessions.close()

    def cluster_context(self, *, context: ToolContext) -> ToolResult:
        return self._get().context(context)

    def oc_login(self, server: str = "", token: str = "", *, context: ToolContext) -> str:
        return self._get().log_in(server, token, context)

    def _get(self) -> "Sessions":
        with self._lock:
            if self._sessions is None:
                from .sessions import Sessions

                self._sessions = Sessions(self._options)
            return self._sessions


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    handlers = Handlers()
    schema, context = adapt(handlers.cluster_context, "cluster_context")
    login_schema, login = adapt(handlers.oc_login, "oc_login")
    for key, kind in login_schema["properties"].items():
        login_schema["properties"][key] = {**kind, "description": _LOGIN_TEXTS[key]}
    return Plugin(
        "ocp-context-injection",
        version="1.0",
        concurrency=_CONCURRENCY,
        tools=[
            Tool("cluster_context", _CONTEXT, schema, context, permission="read"),
            Tool("oc_login", _LOGIN, login_schema, login),
        ],
        hooks=Hooks(
            session_start=handlers.session_start,
            session_end=handlers.session_end,
            shell_env=handlers.shell_env,
            dispose=handlers.dispose,
        ),
        on_initialize=handlers.initialize,
    )
