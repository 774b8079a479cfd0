"""ocp-context-injection: tells a session which OpenShift cluster it is connected to."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
