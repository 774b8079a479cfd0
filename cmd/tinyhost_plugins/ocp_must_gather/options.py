"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

from .._shared.options import check_names, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3
# The least, the default and the most of each option.
RANGES = {
    "maxEntries": (1, 200_000, 2_000_000),
    "maxFileBytes": (_KIB, 32 * _MIB, 256 * _MIB),
    "maxRows": (1, 200, 1000),
    "maxSeconds": (1, 60, 600),
    "maxUnpackedBytes": (_KIB, 2 * _GIB, 64 * _GIB),
}


class Options:
    """max_entries: files and folders that one search, or an archive, may have.
    max_file_bytes: larger files of objects are left out. max_rows: the rows of a table when a call
    does not say. max_seconds: what one call may take. max_unpacked_bytes: what an archive may
    unpack to.
    """

    __slots__ = ("max_entries", "max_file_bytes", "max_rows", "max_seconds", "max_unpacked_bytes")

    def __init__(self, options: "Mapping[str, Any] | None" = None) -> None:
        """Check the plugin's options. Raises OptionError."""
        given = options or {}
        check_names(given, RANGES)
        self.max_entries = number(given, "maxEntries", RANGES)
        self.max_file_bytes = number(given, "maxFileBytes", RANGES)
        self.max_rows = number(given, "maxRows", RANGES)
        self.max_seconds = number(given, "maxSeconds", RANGES)
        self.max_unpacked_bytes = number(given, "maxUnpackedBytes", RANGES)
