"""container-linter: checks Containerfiles, and says which UBI image suits a stack."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
