"""The patterns of permission rules, and what of a tool call they are matched against.

A pattern is `TOOL`, `TOOL(ARGUMENT)` or `category:NAME`. TOOL and ARGUMENT are globs: `*` is
any text, line breaks included, `?` one character, and a backslash before `*`, `?` or a
backslash makes it plain. A glob matches the whole text or nothing.
"""

from __future__ import annotations

import functools
import os.path
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from tinyhost.shell_text import scan, simple_commands

MAX_PATTERN = 4096  # characters
MAX_COMMAND = 128 * 1024  # characters of a command; Linux takes no longer argument
MAX_SUBJECT = 1024 * 1024  # characters of anything else
CATEGORY_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
PATTERN = rf"(?:category:{CATEGORY_NAME}|(?!category:)[^\s()]+(?:\([\s\S]*\))?)"

_COMMAND_KEYS = ("command", "cmd")
_PATH_KEYS = ("file_path", "path", "file", "filepath")
_ESCAPED = re.compile(r"[*?\\]")
_ANY = None  # in a list of tokens: any text
_ONE = False  # any one character
_Token = str | bool | None


@attrs.frozen
class _Run:
    """A stretch of a glob between two stars; it matches texts of one length only."""

    length: int
    form: str | re.Pattern[str]

    def find(self, text: str, start: int, end: int) -> int:
        """Where it first matches inside text[start:end], or -1."""
        if isinstance(self.form, str):
            return text.find(self.form, start, end)
        match = self.form.search(text, start, end)
        return match.start() if match else -1


class Glob:
    """A compiled glob; matching takes time in proportion to the text, with no backtracking."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._runs: list[_Run] = []
        run: list[_Token] = []
        for token in (*tokens, _ANY):
            if token is _ANY:
                self._runs.append(_compiled(run))
                run = []
            else:
                run.append(token)

    def matches(self, text: str) -> bool:
        """Whether the whole text fits."""
        first, *middle = self._runs
        if not middle:
            return len(text) == first.length and first.find(text, 0, len(text)) == 0
        last = middle.pop()
        end = len(text) - last.length
        if end < first.length or first.find(text, 0, first.length) < 0:
            return False
        if last.find(text, end, len(text)) < 0:
            return False
        at = first.length
        for run in middle:
            # The leftmost place leaves the most room for the rest.
            at = run.find(text, at, end)
            if at < 0:
                return False
            at += run.length
        return True


def _compiled(run: Sequence[_Token]) -> _Run:
    plain = [token for token in run if isinstance(token, str)]
    if len(plain) == len(run):
        return _Run(len(run), "".join(plain))
    regex = "".join(re.escape(token) if isinstance(token, str) else "." for token in run)
    return _Run(len(run), re.compile(regex, re.DOTALL))


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] in ("*", "?", "\\"):
            at += 1
            found.append(text[at])
        else:
            found.append({"*": _ANY, "?": _ONE}.get(char, char))
        at += 1
    return found


def escape(text: str) -> str:
    """The glob that matches this text alone."""
    return _ESCAPED.sub(r"\\\g<0>", text)


@attrs.frozen(slots=False)
class Subject:
    """What an argument pattern is matched against: commands, else paths, else the JSON text.

    More than one command or path is there when a call names several, under the keys command
    and cmd, or file_path, path, file and filepath.
    """

    commands: Sequence[str]
    paths: Sequence[str]
    text: str
    directory: str

    @classmethod
    def of(cls, args: Any, text: str, directory: str) -> Subject:
        """Of a call's arguments, as a value and as the text that the tool gets."""
        given = args if isinstance(args, Mapping) else {}
        commands = [_command(given[key]) for key in _COMMAND_KEYS if key in given]
        paths = [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)]
        return cls(_distinct(commands), _distinct(paths), text, directory)

    def values(self) -> Sequence[str]:
        """The texts that an allow pattern has to match, all of them."""
        return self.commands or self.paths or (self.text,)

    @functools.cached_property
    def spellings(self) -> Sequence[str | None]:
        """The texts of which a deny or ask pattern has to match one only.

        None stands for one that is too long to be looked into: every pattern matches it.
        """
        found: list[str | None] = []
        for command in self.commands:
            found += [None] if len(command) > MAX_COMMAND else simple_commands(command)
        for path in self.paths:
            below = os.path.join(self.directory, path)  # noqa: PTH118 (text, no file)
            found += [path, _normal(path), _normal(below)]
        if not found:
            found.append(self.text)
        return [None if text and len(text) > MAX_SUBJECT else text for text in found]


def _command(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return shlex.join(value)
    return None


def _distinct(values: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))


class _Argument:
    """The argument part of a pattern."""

    def __init__(self, text: str) -> None:
        tokens = _tokens(text)
        self._glob = Glob(tokens)
        self._has_wildcards = _ANY in tokens or _ONE in tokens
        self._plain = "".join(t if isinstance(t, str) else "*" for t in tokens)
        self._pieces, self._separators = _split(tokens, self._plain)

    def covers(self, subject: Subject) -> bool:
        """Whether an allow pattern matches: all of the subject, and nothing besides."""
        return all(self._covers_text(value, subject) for value in subject.values())

    def _covers_text(self, text: str, subject: Subject) -> bool:
        if not self._has_wildcards:
            return text == self._plain
        if subject.commands:
            return self._covers_command(text)
        if subject.paths and ".." in text.split("/") and ".." not in self._plain:
            return False
        return len(text) <= MAX_SUBJECT and self._glob.matches(text)

    def _covers_command(self, text: str) -> bool:
        """No wildcard stands for a separator, a redirection or a substitution."""
        if self._pieces is None or len(text) > MAX_COMMAND:
            return False
        scanned = scan(text)
        if scanned.opaque or [text[at] for at in scanned.specials] != self._separators:
            return False
        starts = [0, *(at + 1 for at in scanned.specials)]
        pieces = [text[a:b] for a, b in zip(starts, [*scanned.specials, len(text)], strict=True)]
        return all(g.matches(piece) for g, piece in zip(self._pieces, pieces, strict=True))

    def touches(self, subject: Subject) -> bool:
        """Whether a deny or ask pattern matches: any part of the subject, in any spelling."""
        return any(text is None or self._glob.matches(text) for text in subject.spellings)


def _split(tokens: Sequence[_Token], plain: str) -> tuple[list[Glob] | None, list[str]]:
    scanned = scan(plain)
    if scanned.opaque:
        return None, []
    starts = [0, *(at + 1 for at in scanned.specials)]
    ends = [*scanned.specials, len(plain)]
    globs = [Glob(tokens[a:b]) for a, b in zip(starts, ends, strict=True)]
    return globs, [plain[at] for at in scanned.specials]


def _normal(path: str) -> str:
    return re.sub("^//", "/", os.path.normpath(path)) if path else path


@attrs.frozen
class Pattern:
    """A parsed pattern. `text` is how it was written."""

    text: str
    _category: str | None
    _tool: Glob
    _argument: _Argument | None

    def covers(self, tool: str, category: str, subject: Subject) -> bool:
        """Whether it matches as an allow pattern; `category` is the honoured one."""
        if self._category is not None:
            return self._category == category
        return self._tool.matches(tool) and (
            self._argument is None or self._argument.covers(subject)
        )

    def touches(self, tool: str, categories: Sequence[str], subject: Subject) -> bool:
        """Whether it matches as a deny or ask pattern, by any of the categories."""
        if self._category is not None:
            return self._category in categories
        return self._tool.matches(tool) and (
            self._argument is None or self._argument.touches(subject)
        )


def parse_pattern(text: str) -> Pattern:
    """Read a pattern. Raises ValueError saying what is wrong with it."""
    if len(text) > MAX_PATTERN:
        raise ValueError(f"the pattern is longer than {MAX_PATTERN} characters")
    if not re.fullmatch(PATTERN, text):
        raise ValueError(
            'must be a tool such as "bash" or "plugin__demo__*", a tool with an argument such as'
            ' "bash(git push*)", or "category:NAME"'
        )
    if text.startswith("category:"):
        return Pattern(text, text.removeprefix("category:"), Glob([]), None)
    tool, bracket, argument = text.partition("(")
    return Pattern(text, None, Glob(_tokens(tool)), _Argument(argument[:-1]) if bracket else None)


def exact_pattern(tool: str, subject: Subject) -> str | None:
    """The pattern that matches this call alone, or None when no pattern can say it."""
    values = subject.values()
    text = f"{escape(tool)}({escape(values[0])})"
    try:
        text.encode("utf-8")
        pattern = parse_pattern(text)
    except ValueError:
        return None
    return text if len(values) == 1 and pattern.covers(tool, "", subject) else None
