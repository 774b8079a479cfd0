"""pilot: issues of the repositories at GitHub, GitLab and Gitea."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
