"""What the command prints: tables and facts for people, JSON for programs.

Data goes to standard output, everything else to standard error. At a terminal, characters
that could command it are shown escaped, whoever they come from.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TextIO

# Control characters, those that reorder text or break lines unseen, and lone surrogates.
_UNSAFE = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_NOT_TEXT = re.compile(f"(?![\t\n])[{_UNSAFE}]")
_NOT_CELL = re.compile(f"[{_UNSAFE}]")
_NOT_ASCII = re.compile("[^\x20-\x7e]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def prepare_streams() -> None:
    """Make sure that printing cannot fail for what is printed. Done once, at the start."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # started with the descriptor closed
            stream = open(os.devnull, "w")  # noqa: SIM115, PTH123
            setattr(sys, name, stream)
        stream.reconfigure(errors="backslashreplace")


# --- text


def escape(text: str) -> str:
    """Text of several lines, with everything but tabs and line ends made visible."""
    return _NOT_TEXT.sub(_visible, text.replace("\r\n", "\n"))


def cell(text: str) -> str:
    """Text for one line."""
    return _NOT_CELL.sub(_visible, text)


def say(text: str) -> None:
    """Print text of our own making, with a line end."""
    sys.stdout.write(escape(text) + "\n")


def content(text: str) -> None:
    """Print what a tool answered: unchanged, or at a terminal made safe to look at."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    text = escape(text)
    sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")


def problem(text: str) -> None:
    """Print an error or a warning."""
    note(f"tinyhost: {text}")


def note(text: str) -> None:
    """Print something that is not the result."""
    # Results that came before are seen before. That they cannot be written is found out at
    # the end, and of an error stream that nobody reads, nobody can be told.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    try:
        sys.stderr.write(escape(text) + "\n")
        sys.stderr.flush()
    except OSError:
        atexit.unregister(_let_go)
        atexit.register(_let_go)


def _let_go() -> None:
    """Forget what standard error did not take: Python would make an exit code of it."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _visible(match: re.Match[str]) -> str:
    char = match[0]
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# --- JSON


def emit(value: Any) -> None:
    """Print a value as one line of JSON; numbers keep their spelling."""
    from tinyhost.codec import dumps

    _write_json(dumps(value))


def emit_text(text: str) -> None:
    """Print a value that is JSON text on one line already."""
    _write_json(text)


def emit_indented(value: Any) -> None:
    """Print a value as JSON for people, over several lines."""
    import json

    for line in json.dumps(value, indent=2, ensure_ascii=False).split("\n"):
        _write_json(line)


def _write_json(line: str) -> None:
    unwanted = _NOT_CELL if _is_utf8(sys.stdout) else _NOT_ASCII
    # JSON text has such characters in its strings only, where an escape means the same.
    sys.stdout.write(unwanted.sub(_json_escape, line) + "\n")


def _is_utf8(stream: TextIO) -> bool:
    return codecs.lookup(stream.encoding or "ascii").name == "utf-8"


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


# --- tables


def number(value: float | None, form: str = "") -> str:
    """A number for a cell; form as for format()."""
    return "-" if value is None else format(value, form)


def memory(size: int | None) -> str:
    """Bytes for a cell."""
    return "-" if size is None else f"{size / 1048576:.1f} MiB"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows: as a table at a terminal, else with tabs between the columns."""
    if not sys.stdout.isatty():
        for row in (headers, *rows):
            sys.stdout.write("\t".join(cell(text) for text in row) + "\n")
        return
    from tinyhost_cli import tables

    tables.print_table(headers, rows)


def facts(title: str, pairs: Mapping[str, str | Sequence[str]]) -> None:
    """Print named facts of one thing; a value is a text, or several, one a line."""
    lines = [
        (name, cell(line))
        for name, value in pairs.items()
        for line in ([value] if isinstance(value, str) else value or ["-"])
    ]
    if not sys.stdout.isatty():
        sys.stdout.write(cell(title) + "\n")
        for name, line in lines:
            sys.stdout.write(f"{name}\t{line}\n")
        return
    from tinyhost_cli import tables

    tables.print_facts(title, lines)
