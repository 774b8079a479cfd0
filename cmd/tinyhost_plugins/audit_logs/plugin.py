"""The plugin: reads its options, then offers the five tools."""

from tinyhost_sdk import InitializeEvent, Plugin, Tool, ToolContext

from .options import Options, read_options
from .schemas import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Calls that may run side by side; with more than one, a call can be cancelled.
_CONCURRENCY = 4


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    options = Options()

    def initialize(event: InitializeEvent) -> None:
        nonlocal options
        options = read_options(event.options)

    def handler(name: str) -> "Callable[[dict[str, Any], ToolContext], str]":
        def execute(args: "dict[str, Any]", context: ToolContext) -> str:
            # The reader is loaded with the first call, not while the plugin starts.
            from .calls import call

            return call(name, args, context, options)

        return execute

    return Plugin(
        "audit-logs",
        version="1.0",
        tools=[
            Tool(name, description, schema, handler(name), permission="read")
            for name, (description, schema) in TOOLS.items()
        ],
        concurrency=_CONCURRENCY,
        on_initialize=initialize,
    )
