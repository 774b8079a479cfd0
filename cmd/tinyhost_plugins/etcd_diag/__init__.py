"""etcd-diag: reads etcd's logs in a must-gather, etcd snapshots, and the state of a running etcd."""


def main() -> None:
    """Serve the plugin on standard input and output."""
    from tinyhost_sdk import run

    from .plugin import build

    run(build())
