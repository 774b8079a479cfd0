"""Quotes and variables in the arguments of instructions, as BuildKit reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from . import globs
from .form import FormError

# Values that name each other grow with every line; no real one is nearly as long.
LONGEST = 4096
_DEEPEST = 16
_LONGEST_TRIMMED = 256

Lookup = Callable[[str], "str | Unknown | None"]


class Unknown(NamedTuple):
    """A variable whose value is not in the file: a build argument, or from the base image."""

    name: str


class Expanded(NamedTuple):
    """text: the word without quotes, variables replaced. unknown: names that have no value."""

    text: str
    unknown: tuple[str, ...] = ()


def expand(word: str, lookup: Lookup, escape: str = "\\") -> Expanded:
    """Take quotes off and put values in. `lookup` gives None for what is not set.

    Raises FormError for quotes or braces that stay open and for substitutions that do not exist.
    """
    if not any(char in word for char in ("$", "'", '"', escape)):
        return Expanded(word)
    expansion = _Expansion(word, lookup, escape)
    return Expanded(expansion.run("", 0)[:LONGEST], tuple(dict.fromkeys(expansion.unknown)))


_NAME = re.compile(r"\d+|[@*#?\-$!]|\w+")


class _Expansion:
    def __init__(self, word: str, lookup: Lookup, escape: str) -> None:
        self.unknown: list[str] = []
        self._word = word
        self._lookup = lookup
        self._escape = escape
        self._at = 0
        self._left = LONGEST

    def _next(self) -> str:
        """The next character, or "" at the end."""
        char = self._word[self._at : self._at + 1]
        self._at += 1
        return char

    def run(self, stop: str, depth: int, raw: bool = False) -> str:
        """Up to one of the characters in `stop`, or to the end; `raw` leaves escapes in."""
        out: list[str] = []
        while char := self._next():
            if stop and char == stop:
                return "".join(out)
            if char == "'":
                out.append(self._single())
            elif char == '"':
                out.append(self._double(depth))
            elif char == "$":
                out.append(self._dollar(depth))
            elif char == self._escape:
                out.append((char if raw else "") + self._next())
            else:
                out.append(char)
        if stop:
            raise FormError(f"the substitution ${{...}} has no {stop}")
        return "".join(out)

    def _single(self) -> str:
        end = self._word.find("'", self._at)
        if end < 0:
            raise FormError("a single quote is not closed")
        text, self._at = self._word[self._at : end], end + 1
        return text

    def _double(self, depth: int) -> str:
        out: list[str] = []
        while (char := self._next()) != '"':
            if char == "":
                raise FormError("a double quote is not closed")
            if char == "$":
                out.append(self._dollar(depth))
            elif char == self._escape:
                following = self._next()
                if following in ('"', "$", self._escape):
                    out.append(following)
                else:
                    out.append(char)
                    self._at -= 1
            else:
                out.append(char)
        return "".join(out)

    def _dollar(self, depth: int) -> str:
        braces = self._word.startswith("{", self._at)
        self._at += braces
        match = _NAME.match(self._word, self._at)
        if match is None:
            if braces:
                raise FormError("the substitution ${...} has no name")
            return "$"
        self._at = match.end()
        name = match.group()
        if not braces:
            return self._value(name, f"${name}")
        if depth >= _DEEPEST:
            raise FormError("substitutions lie too deep in each other")
        return self._braces(name, depth + 1)

    def _braces(self, name: str, depth: int) -> str:
        operator = self._next()
        if operator == "}":
            return self._value(name, f"${{{name}}}")
        colon = operator == ":"
        operator = self._next() if colon else operator
        if operator in ("-", "+", "?"):
            return self._choice(name, operator, colon, depth)
        if operator in ("#", "%") and not colon:
            return self._trimmed(name, operator, depth)
        if operator == "/" and not colon:
            return self._replaced(name, depth)
        raise FormError(f"the substitution ${{{name:.40}...}} does not exist in Containerfiles")

    def _value(self, name: str, written: str) -> str:
        value = self._lookup(name)
        if isinstance(value, Unknown):
            self.unknown.append(value.name)
            return written
        return self._bounded(name, value or "")

    def _choice(self, name: str, operator: str, colon: bool, depth: int) -> str:
        before = len(self.unknown)
        word = self.run("}", depth)
        value = self._lookup(name)
        # What is not known is taken as not set: so it is when nobody passes a build argument.
        known = None if isinstance(value, Unknown) else value
        given = bool(known) if colon else known is not None
        if operator == "-" and not given:
            return word
        if operator == "+":
            return word if given else ""
        del self.unknown[before:]
        return self._value(name, f"${{{name}}}")

    def _trimmed(self, name: str, operator: str, depth: int) -> str:
        greedy = self._word.startswith(operator, self._at)
        self._at += greedy
        pattern = self.run("}", depth, raw=True)
        before = len(self.unknown)
        value = self._value(name, f"${{{name}}}")
        if len(value) > _LONGEST_TRIMMED:
            return self._given_up(name)
        if len(self.unknown) > before:
            return value
        return globs.trim(value, pattern, from_end=operator == "%", longest=greedy)

    def _replaced(self, name: str, depth: int) -> str:
        every = self._word.startswith("/", self._at)
        self._at += every
        pattern = self.run("/", depth)
        replacement = self.run("}", depth)
        before = len(self.unknown)
        value = self._value(name, f"${{{name}}}")
        if len(self.unknown) > before or not pattern:
            return value
        if "*" in pattern or "?" in pattern:
            return self._given_up(name)
        return self._bounded(name, value.replace(pattern, replacement, -1 if every else 1))

    def _bounded(self, name: str, value: str) -> str:
        self._left -= len(value)
        return self._given_up(name) if self._left < 0 else value

    def _given_up(self, name: str) -> str:
        """Leave a variable as unknown because following it would take too much."""
        self.unknown.append(name)
        return f"${{{name}}}"
