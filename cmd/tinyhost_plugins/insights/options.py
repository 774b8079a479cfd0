"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import check_names, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3
# The least, the default and the most of each option.
RANGES = {
    "maxEntries": (1, 100_000, 1_000_000),
    "maxFileBytes": (_KIB, 16 * _MIB, 256 * _MIB),
    "maxMemoryBytes": (_KIB, 128 * _MIB, 2 * _GIB),
    "maxRows": (1, 50, 1000),
    "maxSeconds": (1, 60, 600),
    "maxTotalBytes": (_KIB, _GIB, 64 * _GIB),
}


class Options:
    """max_entries, max_total_bytes, max_seconds: what reading an archive may take.
    max_file_bytes: larger files in it are left out. max_memory_bytes: what is kept of an archive.
    max_rows: the rows of a table when a call does not say.
    """

    __slots__ = (
        "max_entries",
        "max_file_bytes",
        "max_memory_bytes",
        "max_rows",
        "max_seconds",
        "max_total_bytes",
    )

    def __init__(self, options: "Mapping[str, Any] | None" = None) -> None:
        """Check the plugin's options. Raises OptionError."""
        given = options or {}
        check_names(given, RANGES)
        self.max_entries = number(given, "maxEntries", RANGES)
        self.max_file_bytes = number(given, "maxFileBytes", RANGES)
        self.max_memory_bytes = number(given, "maxMemoryBytes", RANGES)
        self.max_rows = number(given, "maxRows", RANGES)
        self.max_seconds = number(given, "maxSeconds", RANGES)
        self.max_total_bytes = number(given, "maxTotalBytes", RANGES)
