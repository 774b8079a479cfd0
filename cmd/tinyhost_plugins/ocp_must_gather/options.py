"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

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


class OptionError(ValueError):
    """An option is wrong; the text names it and says what it has to be."""


class Options:
    """max_entries: files and folders that one search, or an archive, may have.
    max_file_bytes: larger files of objects are left out. max_rows: the rows of a table when a call
    does not say. max_seconds: what one call may take. max_unpacked_bytes: what an archive may
    unpack to.
    """

    __slots__ = ("max_entries", "max_file_bytes", "max_rows", "max_seconds", "max_unpacked_bytes")

    def __init__(
        self,
        *,
        max_entries: int = RANGES["maxEntries"][1],
        max_file_bytes: int = RANGES["maxFileBytes"][1],
        max_rows: int = RANGES["maxRows"][1],
        max_seconds: float = RANGES["maxSeconds"][1],
        max_unpacked_bytes: int = RANGES["maxUnpackedBytes"][1],
    ) -> None:
        self.max_entries = max_entries
        self.max_file_bytes = max_file_bytes
        self.max_rows = max_rows
        self.max_seconds = max_seconds
        self.max_unpacked_bytes = max_unpacked_bytes


def read_options(options: "Mapping[str, Any]") -> Options:
    """Check the plugin's options. Raises OptionError."""
    for key in options:
        if key not in RANGES:
            raise OptionError(f'there is no option "{key:.80}"; there are {", ".join(RANGES)}')
    return Options(
        max_entries=_number(options, "maxEntries"),
        max_file_bytes=_number(options, "maxFileBytes"),
        max_rows=_number(options, "maxRows"),
        max_seconds=_number(options, "maxSeconds"),
        max_unpacked_bytes=_number(options, "maxUnpackedBytes"),
    )


def _number(options: "Mapping[str, Any]", key: str) -> int:
    least, default, most = RANGES[key]
    value = options.get(key)
    if value is None:
        return default
    if type(value) is not int or not least <= value <= most:
        raise OptionError(f'option "{key}" has to be a whole number from {least} to {most}')
    return value
