"""One command as it would run, and what every rule asks about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import marks, paths
from .catalog import Finding
from .policy import Policy

Findings = Iterator[Finding]


@dataclass(frozen=True, slots=True)
class Call:
    """A command word, without its directory, and its arguments as words with marks.

    stdin: the text that it reads, as far as it is known; None when nothing is piped in.
    cwd: where it runs; "." for the working directory that it was started in.
    piped: the last arguments came through a pipe or from find, by way of xargs or -exec.
    """

    name: str
    args: tuple[str, ...]
    stdin: str | None
    cwd: str
    piped: bool
    policy: Policy

    def finding(self, rule: str) -> Finding:
        return Finding(rule, marks.show(" ".join((self.name, *self.args))))

    def place(self, word: str) -> str | None:
        """What a path is (a constant of paths), or None when it may be deleted."""
        return path_kind(word, self.cwd, self.policy)

    def allowed(self, word: str) -> bool:
        """Whether a path is one of the person's allowed paths, or below one."""
        place = paths.locate(word, self.cwd)
        return place is not None and _is_allowed(place, self.policy)

    def options(self, with_value: str = "") -> Options:
        return parse_options(self.args, with_value)


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments sorted the way getopt sorts them.

    short: letters of the short options; long: long options without "--" and value.
    operands: the rest.
    """

    short: frozenset[str]
    long: frozenset[str]
    operands: tuple[str, ...]

    def has(self, letters: str, *names: str) -> bool:
        """Whether one of the letters is set, or a long option (abbreviations count)."""
        if any(letter in self.short for letter in letters):
            return True
        return any(
            name.startswith(given) for given in self.long if len(given) > 1 for name in names
        )

    @property
    def only_asks(self) -> bool:
        """The command just explains itself."""
        return bool(self.long & {"help", "version"})


def parse_options(args: tuple[str, ...], with_value: str = "") -> Options:
    """Sort arguments. `with_value`: letters of the short options that take a value."""
    short: set[str] = set()
    long: set[str] = set()
    operands: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            operands.extend(rest)
        elif arg.startswith("--"):
            long.add(arg[2:].partition("=")[0])
        elif arg.startswith("-") and len(arg) > 1:
            for index, letter in enumerate(arg[1:], 2):
                short.add(letter)
                if letter in with_value:
                    if index == len(arg):
                        next(rest, None)
                    break
        else:
            operands.append(arg)
    return Options(frozenset(short), frozenset(long), tuple(operands))


def path_kind(word: str, cwd: str, policy: Policy) -> str | None:
    """What a path is to the system and the person, with their allowed paths left out."""
    place = paths.locate(word, cwd)
    if place is None or _is_allowed(place, policy):
        return None
    seen = paths.relative_to(place, policy.directory)
    if seen.anchor == "." != place.anchor:
        return paths.kind(seen)
    found = paths.kind(place)
    return paths.ABOVE if found is None and _above(place, policy.directory) else found


def _is_allowed(place: paths.Place, policy: Policy) -> bool:
    seen = paths.relative_to(place, policy.directory)
    return any(
        paths.within(place, allowed) or paths.within(seen, allowed)
        for allowed in policy.allow_paths
    )


def _above(place: paths.Place, directory: str) -> bool:
    parts = place.parts
    while parts and marks.STAR in parts[-1] and marks.matches_anything(parts[-1]):
        parts = parts[:-1]
    return paths.is_above(paths.Place(place.anchor, parts), directory)
