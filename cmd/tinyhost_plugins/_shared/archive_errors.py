"""What goes wrong with archives."""


class ArchiveError(Exception):
    """The archive cannot be read, or goes past a limit; the text says which and why."""
