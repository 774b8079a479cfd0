"""Where below a folder the must-gathers are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# A folder with one of these in it is what an image has gathered.
MARKS = ("cluster-scoped-resources", "namespaces")
_DEEPEST = 4
_MOST_FOLDERS = 20_000


def roots(top: Path) -> Iterator[Path]:
    """The folders that have a mark, at the top or at most four levels below, by name.

    Links are not followed, and folders that cannot be read are passed over.
    """
    left = _MOST_FOLDERS
    stack = [(top, 0)]
    while stack and left:
        left -= 1
        folder, depth = stack.pop()
        below = subfolders(folder)
        # What is below a root belongs to it.
        if any(child.name in MARKS for child in below):
            yield folder
        elif depth < _DEEPEST:
            stack += [(child, depth + 1) for child in sorted(below, reverse=True)]


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder, without links; none when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
