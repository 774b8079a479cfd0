"""The commands in a hurry, when a host is running: read without click, done by the host.

Only the plain spelling of a command line is read here. Whatever is not understood, wrong
or asked for as help, is left to the long way, which also attaches, only later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinyhost_cli.setup import Setup

_BRIDGES = ("claude-code", "codex", "gemini", "opencode")
_VALUES = ("--config", "--plugin", "--directory")  # of all these commands
_FLAGS = ("--json", "-v", "--verbose")


class _NotPlain(Exception):
    """The long way knows what is meant, or what is wrong."""


class _Line:
    """A command line's words, options and flags, as far as they are plain."""

    def __init__(self, args: Sequence[str], values: Sequence[str], flags: Sequence[str]) -> None:
        self.words: list[str] = []
        self.rest: list[str] | None = None  # what is behind "--"
        self.flags: set[str] = set()
        self._values: dict[str, list[str]] = {}
        left = list(args)
        while left:
            word = left.pop(0)
            name, equals, value = word.partition("=")
            if word == "--":
                self.rest, left = left, []
            elif word in flags:
                self.flags.add(word)
            elif name in values and (equals or left):
                self._values.setdefault(name, []).append(value if equals else left.pop(0))
            elif word.startswith("-") and word != "-":
                raise _NotPlain
            else:
                self.words.append(word)

    def one(self, name: str) -> str | None:
        """The last value of an option."""
        return self._values[name][-1] if name in self._values else None

    def all(self, name: str) -> list[str]:
        """All values of an option."""
        return self._values.get(name, [])

    def setup(self) -> Setup:
        """The options that many commands have."""
        from tinyhost_cli.setup import Setup

        directory = self.one("--directory")
        if directory is not None and not os.path.isdir(directory):  # noqa: PTH112
            raise _NotPlain
        return Setup(
            config_file=self.one("--config"),
            directory=directory,
            plugins=self.all("--plugin"),
            as_json="--json" in self.flags,
        )


def run(args: Sequence[str]) -> int | None:
    """Do the command line by a running host; None when the long way has to do it."""
    found = _command(args)
    if found is None:
        return None
    command, line = found
    try:
        return _finished(command, line)
    except _NotPlain:
        return None


def _command(args: Sequence[str]) -> tuple[Callable[[_Line], int | None], _Line] | None:
    """What is to be done with which line, when the command is one of these and plain."""
    if not args or "_TINYHOST_COMPLETE" in os.environ:
        return None
    try:
        if args[0] == "run":
            return _run, _Line(_behind(args), (*_VALUES, "--shell"), (*_FLAGS, "--explain"))
        if list(args[:2]) == ["hook", "invoke"]:
            return _invoke, _Line(args[2:], (*_VALUES, "--input"), _FLAGS)
        if list(args[:2]) == ["tool", "call"]:
            return _call, _Line(args[2:], (*_VALUES, "--args", "--session"), _FLAGS)
        if args[0] == "hook" and len(args) > 1 and args[1] in _BRIDGES:
            return _bridge(args[1]), _Line(args[2:], ("--config", "--plugin"), ())
    except _NotPlain:
        pass
    return None


def _behind(args: Sequence[str]) -> Sequence[str]:
    """The arguments of `run`. A command without "--" before it may have options of its own."""
    if "--" not in args and "--shell" not in args:
        raise _NotPlain
    return args[1:]


def _finished(command: Callable[[_Line], int | None], line: _Line) -> int | None:
    """Run it, and end as `main.run` does, with what goes wrong told by the long way's words."""
    from tinyhost_cli import output

    output.prepare_streams()
    try:
        code = command(line)
        sys.stdout.flush()
    except _NotPlain:
        raise
    except BaseException as error:
        from tinyhost_cli import main

        return main.finish(error, as_json="--json" in line.flags)
    return code


def _run(line: _Line) -> int | None:
    from tinyhost_cli import attached

    text, command = line.one("--shell"), line.rest or []
    if line.words or (text is None) == (not command):
        raise _NotPlain
    return attached.run(line.setup(), command, text, explain="--explain" in line.flags)


def _invoke(line: _Line) -> int | None:
    from tinyhost_cli import attached

    [name] = _exactly(line, 1)
    return attached.invoke(line.setup(), name, _json(line, "--input"))


def _call(line: _Line) -> int | None:
    from tinyhost_cli import attached

    [tool] = _exactly(line, 1)
    args, session = _json(line, "--args"), line.one("--session") or ""
    return attached.call(line.setup(), tool, "{}" if args is None else args, session)


def _bridge(client: str) -> Callable[[_Line], int | None]:
    def answer(line: _Line) -> int:
        from tinyhost_cli.bridge_answer import answer, bridge_of

        _exactly(line, 0)
        return answer(bridge_of(client), line.setup())

    return answer


def _exactly(line: _Line, count: int) -> Sequence[str]:
    if line.rest is not None or len(line.words) != count:
        raise _NotPlain
    return line.words


def _json(line: _Line, option: str) -> str | None:
    """An object as JSON text. Standard input can be read once only: the long way does that."""
    text = line.one(option)
    if text is None:
        return None
    from tinyhost_sdk import codec

    try:
        if text == "-" or not isinstance(codec.decode(text), dict):
            raise _NotPlain
        text.encode("utf-8")
    except ValueError:
        raise _NotPlain from None
    return text
