"""The plugin: its four tools, and its options."""

from tinyhost_sdk import InitializeEvent, Plugin, Tool, ToolContext, ToolResult

from .options import Options, read_options
from .schemas import LIST, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_CONCURRENCY = 4


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    options = Options()

    def initialize(event: InitializeEvent) -> None:
        nonlocal options
        options = read_options(event.options, event.directory)

    def executor(name: str) -> "Callable[[dict[str, Any], ToolContext], ToolResult]":
        def execute(args: "dict[str, Any]", context: ToolContext) -> ToolResult:
            # The HTTP client is loaded with the first call, not while the plugin starts.
            from .calls import call

            return call(name, args, context, options)

        return execute

    tools = [
        Tool(name, description, schema, executor(name), permission="read" if name == LIST else None)
        for name, description, schema in TOOLS
    ]
    return Plugin(
        "pilot",
        version="1.0",
        tools=tools,
        concurrency=_CONCURRENCY,
        on_initialize=initialize,
    )
