"""`tinyhost plugin logs`: what a plugin wrote to its standard error, now and as it comes."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

import click

from tinyhost_cli import completion, output
from tinyhost_cli.common import json_option

_POLL = 0.25  # seconds between looks for new text


@click.command()
@click.argument("name", shell_complete=completion.plugin_names)
@click.option("-f", "--follow", is_flag=True, help="Go on with new lines until Ctrl+C.")
@click.option(
    "-n",
    "--lines",
    metavar="N",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="How many of the last lines to begin with.",
)
@json_option
def logs(name: str, follow: bool, lines: int, as_json: bool) -> int:
    """Show the last lines that plugin NAME wrote to standard error, whichever program ran it.

    Values of secrets that the plugin was given are masked in them. With --json, one object a
    line. Exit code 1 when there is no log of that name.
    """
    from tinyhost import paths
    from tinyhost.names import check_name
    from tinyhost.pluginlog import last_lines

    check_name(name)
    path = str(paths.logs_dir() / f"plugin-{name}.log")
    if not os.path.exists(path) and not follow:  # noqa: PTH110
        text = f"there is no log of a plugin {name} ({path}); it has said nothing so far"
        raise FileNotFoundError(text)
    for line in _followed(path, lines) if follow else last_lines(path, lines):
        _print(name, line, as_json)
        if follow:
            sys.stdout.flush()
    return 0


def _print(name: str, line: str, as_json: bool) -> None:
    if as_json:
        output.emit({"plugin": name, "line": line})
    else:
        output.say(line)


def _followed(path: str, count: int) -> Iterator[str]:
    """The last lines and then new ones, for ever: each once, whole, and none left out.

    The file may be put aside and begun anew at any time.
    """
    from tinyhost.pluginlog import last_lines

    with contextlib.ExitStack() as opened:
        file = _opened(path, opened)
        *lines, rest = _read(file).split(b"\n")
        if len(lines) < count:
            yield from last_lines(path if file is None else f"{path}.1", count - len(lines))
        yield from map(_text, lines[max(0, len(lines) - count) :])
        while True:
            sys.stdout.flush()
            time.sleep(_POLL)
            replaced = file is None or _replaced(file.fileno(), path)
            # After that look: what was put aside is complete now.
            *lines, rest = (rest + _read(file)).split(b"\n")
            yield from map(_text, lines)
            if replaced:
                file = _opened(path, opened)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _opened(path: str, opened: contextlib.ExitStack) -> BinaryIO | None:
    """The file as it is now, in place of the one before."""
    opened.close()
    try:
        return opened.enter_context(open(path, "rb", buffering=0))  # noqa: PTH123
    except OSError:
        return None


def _read(file: BinaryIO | None) -> bytes:
    return b"" if file is None else file.read()


def _replaced(descriptor: int, path: str) -> bool:
    try:
        now = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    then = os.fstat(descriptor)
    return (now.st_ino, now.st_dev) != (then.st_ino, then.st_dev)
