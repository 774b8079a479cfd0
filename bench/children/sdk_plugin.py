"""A small plugin made with the SDK: one guard and one tool."""

from tinyhost_sdk import PermissionAsk, PermissionOutput, Plugin, run

IN_FLIGHT = 64


def _plugin(concurrency: int) -> Plugin:
    plugin = Plugin("bench", concurrency=concurrency)

    @plugin.hook("permission.ask")
    def guard(event: PermissionAsk) -> "PermissionOutput | None":
        if "forbidden" in event.tool_args:
            return PermissionOutput(False, "the command contains: forbidden")
        return None

    @plugin.tool
    def echo(text: str) -> str:
        """Give the text back."""
        return text

    return plugin


def main() -> None:
    """One call at a time."""
    run(_plugin(1))


def main_concurrent() -> None:
    """Many calls at a time, in threads."""
    run(_plugin(IN_FLIGHT))
