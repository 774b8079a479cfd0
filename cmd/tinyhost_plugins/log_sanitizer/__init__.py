"""log-sanitizer: takes passwords, keys and tokens out of what tools put out."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
