"""The plugin: reads its options, then answers permission.ask."""

from tinyhost_sdk import (
    Hooks,
    InitializeEvent,
    PermissionAsk,
    PermissionOutput,
    Plugin,
)

from .policy import Policy, read_options


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    policy = Policy()

    def initialize(event: InitializeEvent) -> None:
        nonlocal policy
        policy = read_options(event.options, event.directory)

    def permission_ask(event: PermissionAsk) -> PermissionOutput:
        # The parser is loaded with the first question, not while the plugin starts.
        from .gate import objection

        reason = objection(event.tool_name, event.tool_args, event.permission, policy)
        # To some hosts an answer that does not say "allowed" is a denial.
        return PermissionOutput(not reason, reason)

    return Plugin(
        "safety-net",
        version="1.0",
        hooks=Hooks(permission_ask=permission_ask),
        on_initialize=initialize,
    )
