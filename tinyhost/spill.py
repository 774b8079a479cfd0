"""Outputs too large for the wire: a shortened text for the plugins, the whole in a file."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

from . import paths

# Far below the 1 MiB line that old plugins can read: JSON may need six bytes for one.
OUTPUT_MAX = 128 * 1024  # characters
_FOLDER = "outputs"  # in the state folder
_KEEP_FILES = 100
_KEEP_SECONDS = 7 * 24 * 3600


def fit(text: str, state_dir: str | os.PathLike[str], tool: str) -> str:
    """The text itself, or its beginning and end with a note where the whole is.

    What plugins saw is what everybody gets: a plugin that takes secrets out of an output
    cannot do so in a part that it has not seen.
    """
    if len(text) <= OUTPUT_MAX:
        return text
    half = OUTPUT_MAX // 2
    left_out = len(text) - 2 * half
    where = _save(text, Path(state_dir) / _FOLDER, tool)
    note = f"[{left_out} characters of {len(text)} are left out here; {where}]"
    return f"{text[:half]}\n{note}\n{text[-half:]}"


def _save(text: str, folder: Path, tool: str) -> str:
    safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in tool)[:64]
    try:
        paths.make_private(folder)
        fd, path = tempfile.mkstemp(prefix=f"{safe}-", suffix=".txt", dir=folder)
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        _prune(folder)
    except OSError as error:
        return f"the whole could not be kept: {error.strerror}"
    return f"the whole, as the tool put it out, is in {path}"


def _prune(folder: Path) -> None:
    dated = []
    for file in folder.glob("*.txt"):
        # Another host may be about the same; that harms nothing that was kept.
        with contextlib.suppress(OSError):
            dated.append((file.lstat().st_mtime, file))
    oldest = time.time() - _KEEP_SECONDS
    for index, (date, file) in enumerate(sorted(dated)):
        if len(dated) - index > _KEEP_FILES or date < oldest:
            with contextlib.suppress(OSError):
                file.unlink()
