"""telemetry: counts sessions and tool calls in a local database, and reports on them."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
