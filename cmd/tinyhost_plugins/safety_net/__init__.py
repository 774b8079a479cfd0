"""safety-net: stops shell commands that destroy what cannot be brought back."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
