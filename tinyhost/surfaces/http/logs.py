"""The end of a plugin's log file, and of the one that was put aside before it."""

from __future__ import annotations

import os
from pathlib import Path

_MOST = 1024 * 1024  # bytes read of each file


def last_lines(path: str, count: int) -> list[str]:
    """At most that many lines, the oldest first; none where there is no file."""
    lines = _end_of(Path(path))
    if len(lines) < count:
        lines = _end_of(Path(path + ".1")) + lines
    return lines[-count:]


def _end_of(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST))
            data = file.read(_MOST)
    except FileNotFoundError:
        return []
    lines = data.decode("utf-8", "replace").splitlines()
    return lines[1:] if size > _MOST else lines
