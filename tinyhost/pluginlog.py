"""What a plugin writes to standard error: a rotated log file, and a tail for messages.

Values of secrets that the plugin was given are taken out before anything is kept.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from .environment import redact

_MAX_FILE = 1024 * 1024  # bytes, then the file is renamed to .1
_MAX_LINE = 16 * 1024  # bytes kept of one line
_TAIL = 4096  # characters


class PluginLog:
    """Takes the bytes of one process's standard error, line by line.

    path: the log file, or None to keep only the tail. A file that cannot be written is
    given up quietly: a full disk must not end a plugin.
    """

    def __init__(self, path: str | None, secrets: Sequence[str] = ()) -> None:
        self._path = path
        self._secrets = secrets
        self._line = b""
        self._cut = False  # inside a line that is too long
        self._fd = -1
        self._size = 0
        self._tail = ""
        self.dropped = 0  # bytes of overlong lines that were not kept

    @property
    def tail(self) -> str:
        """The last of the text, an unfinished last line included."""
        rest = redact(self._line.decode(errors="replace"), self._secrets)
        return (self._tail + rest)[-_TAIL:]

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._extend(line)
            self._finish_line()
        self._extend(rest)

    def close(self) -> None:
        """Keep an unfinished last line, and close the file."""
        if self._line:
            self._finish_line()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _extend(self, piece: bytes) -> None:
        room = _MAX_LINE - len(self._line)
        if len(piece) > room:
            self.dropped += len(piece) - max(room, 0)
            piece = piece[: max(room, 0)]
            self._cut = True
        self._line += piece

    def _finish_line(self) -> None:
        text = redact(self._line.decode(errors="replace"), self._secrets)
        if self._cut:
            text += " [line cut]"
        self._line, self._cut = b"", False
        text += "\n"
        self._tail = (self._tail + text)[-_TAIL:]
        self._append(text.encode(errors="replace"))

    def _append(self, data: bytes) -> None:
        if self._path is None:
            return
        try:
            if self._fd < 0:
                self._open()
            elif self._size > _MAX_FILE:
                self._rotate()
            self._size += os.write(self._fd, data)
        except OSError:
            self._path = None

    def _open(self) -> None:
        assert self._path is not None
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._fd).st_size

    def _rotate(self) -> None:
        assert self._path is not None
        os.close(self._fd)
        self._fd = -1
        os.replace(self._path, self._path + ".1")  # noqa: PTH105
        self._open()
