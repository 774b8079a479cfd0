"""ingress-inspect: looks at OpenShift's routers in an unpacked must-gather."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
