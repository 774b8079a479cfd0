"""Amounts of memory as people write them: "512MiB", "1.5GB", or a number of bytes."""

from __future__ import annotations

import re

LARGEST = 2**50
PATTERN = r"[0-9]{1,16}(\.[0-9]{1,9})?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)?"

_SIZE = re.compile(r"(?P<whole>[0-9]{1,16})(\.(?P<part>[0-9]{1,9}))?(?P<unit>[kMGT]B|[KMGT]iB|B)?")
_BYTES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_BINARY = ("TiB", "GiB", "MiB", "KiB", "B")


def parse_size(value: object) -> int:
    """Return the size in bytes, between 1 B and 1024 TiB; fractions of a byte are dropped.

    Raises ValueError with a text for the person who wrote the value.
    """
    size = _bytes(value)
    if not 1 <= size <= LARGEST:
        raise ValueError("a size must be between 1B and 1024TiB")
    return size


def format_size(size: int) -> str:
    """Write a size in the largest binary unit that it is a whole number of."""
    unit = next(unit for unit in _BINARY if size % _BYTES[unit] == 0)
    return f"{size // _BYTES[unit]}{unit}" if size else "0B"


def _bytes(value: object) -> int:
    if isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        if match:
            part = match["part"] or ""
            number = int(match["whole"] + part) * _BYTES[match["unit"] or "B"]
            return number // int(10 ** len(part))
    elif isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError('a size is written as "512MiB", "1.5GB" or a whole number of bytes')
