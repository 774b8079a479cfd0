"""The plugin: reads its options, then looks at arguments before and outputs after a call."""

from tinyhost_sdk import (
    Hooks,
    InitializeEvent,
    Plugin,
    ToolExecuteAfter,
    ToolExecuteAfterOutput,
    ToolExecuteBefore,
    ToolExecuteBeforeOutput,
)

from .options import IGNORE, Options, read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .notes import Notes


def build() -> Plugin:
    """A plugin that has not been initialized yet."""
    options = Options()
    notes: Notes | None = None

    def initialize(event: InitializeEvent) -> None:
        nonlocal options
        options = read_options(event.options)

    def before(event: ToolExecuteBefore) -> ToolExecuteBeforeOutput | None:
        nonlocal notes
        if options.args == IGNORE or event.tool_name in options.skip_tools:
            return None
        # The rules are loaded with the first call, not while the plugin starts.
        from . import calls

        if notes is None:
            from .notes import Notes

            notes = Notes()
        return calls.before(event, options, notes)

    def after(event: ToolExecuteAfter) -> ToolExecuteAfterOutput | None:
        if not event.output or event.tool_name in options.skip_tools:
            return None
        from . import calls

        output = calls.after(event.output, options)
        return None if output == event.output else ToolExecuteAfterOutput(output)

    return Plugin(
        "log-sanitizer",
        version="1.0",
        hooks=Hooks(tool_execute_before=before, tool_execute_after=after),
        on_initialize=initialize,
    )
