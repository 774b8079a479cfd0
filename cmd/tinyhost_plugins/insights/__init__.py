"""insights: answers questions about an archive of the OpenShift Insights Operator."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
