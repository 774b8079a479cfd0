"""The programs that builtins use: find one, run it, and say why it failed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from .. import command
from ..command import Outcome
from ..errors import LoadError, cut
from ..resolve import path_folders
from .base import ToolFailed


def find_program(name: str, environ: Mapping[str, str]) -> str | None:
    """The path of a program, by the absolute entries of PATH alone."""
    for folder in path_folders(environ.get("PATH", "")):
        path = f"{folder.rstrip('/')}/{name}"
        if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
            return path
    return None


def pick(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables of these names that are set."""
    return {name: environ[name] for name in names if name in environ}


async def run(argv: Sequence[str], *, env: Mapping[str, str], directory: str, most: int) -> Outcome:
    """Run a program to its end, with nothing on its standard input.

    most: bytes of standard output; a command that writes more is ended there. Deadlines are
    the caller's: when the call is cancelled, the command's process group is killed. Raises
    ToolFailed when the program cannot be started.
    """
    name = argv[0].rpartition("/")[2]
    try:
        return await command.run(
            argv, owner=name, env=env, directory=directory, most=most, stop_when_full=True
        )
    except LoadError as error:
        raise ToolFailed(f"{name} cannot be run: {error.reason}") from None


def complaint(outcome: Outcome) -> str:
    """The first line of its standard error, or else its exit status in words."""
    lines = outcome.stderr.decode(errors="replace").split("\n")
    said = next((line.strip() for line in lines if line.strip()), "")
    return cut(said, 500) or f"it {outcome.status}"
