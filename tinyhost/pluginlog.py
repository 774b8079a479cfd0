"""What a plugin writes to standard error: a rotated log file, and a tail for messages.

Values of secrets that the plugin was given are taken out before anything is kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from . import paths
from .redaction import redact, redact_shapes, redact_start

_MAX_FILE = 1024 * 1024  # bytes, then the file is renamed to .1
_MAX_LINE = 16 * 1024  # bytes kept of one line
_TAIL = 4096  # characters
# What may be kept at once, and for each second after that, in bytes. Beyond it, all but the
# last of the text is dropped: a flood must not take the host's time from other plugins.
_BURST = 4 * 1024 * 1024
_RATE = 1024 * 1024
_LINE_COST = 16  # bytes; a line takes time, however short it is


class PluginLog:
    """Takes the bytes of one process's standard error.

    path: the log file, or None to keep only the tail. A file that cannot be written is
    given up quietly: a full disk must not end a plugin. tail: characters of it.
    """

    def __init__(self, path: str | None, secrets: Sequence[str] = (), tail: int = _TAIL) -> None:
        self._path = path
        self._secrets = secrets
        self._longest = max((len(secret.encode(errors="replace")) for secret in secrets), default=0)
        self._most = tail
        self._line = b""  # not finished; in a flood, the last of the flood
        self._cut = False  # inside a line that is too long
        self._flooded = 0  # bytes dropped since there is too much
        self._allowance = float(_BURST)
        self._filled_at = time.monotonic()
        self._fd = -1
        self._size = 0
        self._tail = ""  # of the finished lines
        self.dropped = 0  # bytes of overlong lines and of floods that were not kept

    @property
    def tail(self) -> str:
        """The last of the text, an unfinished last line included."""
        return (self._tail + self._clean(self._line))[-self._most :]

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        if not self._may_keep():
            self._pass_over(data)
            return
        if self._flooded:
            self._end_flood()
        *lines, rest = data.split(b"\n")
        if lines:
            self._extend(lines[0])
            self._keep([self._take_line(), *map(self._shorten, lines[1:])])
        self._extend(rest)

    def close(self) -> None:
        """Keep an unfinished last line, and close the file."""
        if self._flooded:
            self._end_flood()
        if self._line:
            self._keep([self._take_line()])
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

    def _take_line(self) -> bytes:
        line = self._beginning(self._line) if self._cut else self._line
        self._line, self._cut = b"", False
        return line

    def _shorten(self, line: bytes) -> bytes:
        if len(line) <= _MAX_LINE:
            return line
        self.dropped += len(line) - _MAX_LINE
        return self._beginning(line[:_MAX_LINE])

    def _beginning(self, line: bytes) -> bytes:
        """Of a line that is too long, which may end within a secret."""
        text = redact_start(line.decode(errors="replace"), self._secrets)
        return text.encode(errors="replace") + b" [line cut]"

    def _keep(self, lines: Sequence[bytes]) -> None:
        text = self._clean(b"\n".join(lines)) + "\n"
        self._allowance -= len(text) + _LINE_COST * len(lines)
        self._tail = (self._tail + text)[-self._most :]
        self._append(text.encode(errors="replace"))

    def _clean(self, lines: bytes) -> str:
        return redact_shapes(redact(lines.decode(errors="replace"), self._secrets))

    def _may_keep(self) -> bool:
        now = time.monotonic()
        self._allowance = min(_BURST, self._allowance + (now - self._filled_at) * _RATE)
        self._filled_at = now
        return self._allowance > 0

    def _pass_over(self, data: bytes) -> None:
        """Drop all but the last, which may be what a message has to quote."""
        text = self._line + data
        # What is kept may begin within a secret, the rest of which could not be recognised.
        self._line = text[-_MAX_LINE:][self._longest :] if len(text) > _MAX_LINE else text
        self._flooded += len(text) - len(self._line)
        self.dropped += len(text) - len(self._line)

    def _end_flood(self) -> None:
        note = f"[{self._flooded} bytes were dropped here: too many at once]"
        self._flooded = 0
        *lines, self._line = self._line.split(b"\n")
        self._keep([note.encode(), *lines[1:]])  # the first is the end of a line at best

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
        paths.make_private(os.path.dirname(self._path))  # noqa: PTH120
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._fd).st_size

    def _rotate(self) -> None:
        assert self._path is not None
        os.close(self._fd)
        self._fd = -1
        os.replace(self._path, self._path + ".1")  # noqa: PTH105
        self._open()


def last_lines(path: str, count: int) -> list[str]:
    """The last lines of a log, of the file before it as well when it has too few.

    Nothing for a log that is not there. Raises OSError for one that cannot be read.
    """
    lines: list[str] = []
    for file in (path, f"{path}.1"):
        if len(lines) >= count:
            break
        try:
            with open(file, "rb") as stream:  # noqa: PTH123
                text = stream.read(2 * _MAX_FILE).decode("utf-8", "replace")
        except FileNotFoundError:
            continue
        lines = [*text.rstrip("\n").split("\n"), *lines] if text.strip("\n") else lines
    return lines[max(0, len(lines) - count) :] if count else []
