"""The options that many commands have."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Setup:
    """config_file, directory: as given, or None. plugins: those of --plugin.

    no_host: do everything in this process, also where a host is running.
    """

    __slots__ = ("as_json", "config_file", "directory", "no_host", "plugins", "verbose")

    def __init__(
        self,
        config_file: str | None = None,
        directory: str | None = None,
        plugins: Sequence[str] = (),
        verbose: bool = False,
        as_json: bool = False,
        no_host: bool = False,
    ) -> None:
        self.config_file = config_file
        self.directory = directory
        self.plugins = plugins
        self.verbose = verbose
        self.as_json = as_json
        self.no_host = no_host
