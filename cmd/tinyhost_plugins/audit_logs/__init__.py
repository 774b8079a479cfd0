"""audit-logs: answers questions about the API servers' audit logs in a must-gather."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
