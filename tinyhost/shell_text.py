"""Reading a shell command just far enough to judge it by its text.

Two questions are answered, each wrong only on its safe side. For allowing: where stand the
characters that make a text more than one simple command? For denying: which simple commands
could this text run? Neither replaces a parser: what a variable holds is not known here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import attrs

_SPECIAL = frozenset(";&|<>()\n\r`\0")
_BLANK = " \t"
_NAIVE_SPLIT = re.compile(r"[;&|<>()`\n\r\0]+")
_WORD = r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|<>()`'"\\])+"""
_REDIRECT = re.compile(rf"[<>]+[&|]?[ \t]*({_WORD})?", re.DOTALL)
_DESCRIPTOR = re.compile(r"(?:^|(?<=\s))\d+$")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_RESERVED = frozenset(("!", "if", "then", "elif", "else", "while", "until", "do", "time", "{"))
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "busybox"))
# Programs that run the rest of their words, behind options that are not known here.
_WRAPPERS = frozenset(("builtin", "chroot", "command", "doas", "env", "exec", "flock", "ionice"))
_WRAPPERS |= {"nice", "nohup", "setsid", "stdbuf", "sudo", "timeout", "xargs"}
_MAX_SUFFIXES = 16
_MAX_NESTING = 3


@attrs.frozen
class Scan:
    """specials: offsets of the characters outside quotes that separate, redirect or substitute.

    opaque: quoting was met that this reader does not follow with certainty.
    """

    specials: Sequence[int]
    opaque: bool


def scan(text: str) -> Scan:
    """Find what makes a command text more than one simple command."""
    specials: list[int] = []
    opaque = in_double = False
    at = 0
    while at < len(text):
        char, pair = text[at], text[at : at + 2]
        if char == "\\":
            # A continued line is joined before anything else is read: "$\<newline>(" is "$(".
            opaque = opaque or len(pair) < 2 or pair[1] == "\n"
            at += 2
            continue
        if char == "'" and not in_double:
            end = text.find("'", at + 1)
            if end < 0:
                return Scan(specials, True)
            at = end + 1
            continue
        if char == '"':
            in_double = not in_double
        elif _hides(char, pair, text[at - 1 : at], in_double):
            opaque = True
        if char in _SPECIAL and (not in_double or char in "`\0"):
            specials.append(at)
        at += 1
    return Scan(specials, opaque or in_double)


def _hides(char: str, pair: str, before: str, in_double: bool) -> bool:
    """Whether quotes behind this place may mean something else than elsewhere."""
    if char in "`\0" or pair in ("${", "$'", '$"'):
        return True
    if in_double:
        return pair == "$("
    # Here documents and comments hold quotes that do not quote.
    return pair == "<<" or (char == "#" and (not before or before in _BLANK or before in _SPECIAL))


def simple_commands(text: str) -> Sequence[str]:
    """All texts by which a command may be forbidden: itself, and what it may run.

    Parts are split at separators outside quotes, and given as written, and also with their
    quotes, redirections, leading assignments, reserved words and wrappers (sudo, env, ...)
    removed and one space between words; `sh -c TEXT` and `eval TEXT` are looked into.
    """
    found: dict[str, None] = {}
    _collect(text, found, 0)
    return list(found)


def _collect(text: str, found: dict[str, None], depth: int) -> None:
    found[text] = None
    found[text.strip()] = None
    if depth > _MAX_NESTING:
        return
    joined = text.replace("\\\n", "")
    for part in _parts(joined):
        if not part.strip():
            continue
        found[part.strip()] = None
        words = _after_leading(_words(part))
        for form in _forms(words):
            found[form] = None
        if (nested := _nested(words)) is not None:
            _collect(nested, found, depth + 1)


def _parts(text: str) -> Iterator[str]:
    scanned = scan(text)
    kept: list[str] = []
    at = 0
    for place in scanned.specials:
        if place < at:
            continue  # inside a redirection that was dropped
        piece, at = text[at:place], place
        if text[place] in "<>" and (match := _REDIRECT.match(text, place)):
            kept += (_DESCRIPTOR.sub("", piece), " ")
            at = match.end()
        elif text[place : place + 2] == "&>":
            kept.append(piece)
            at = place + 1
        else:
            yield "".join([*kept, piece])
            kept, at = [], place + 1
    yield "".join([*kept, text[at:]])
    if scanned.opaque or "$(" in text:
        # What quotes hide here may be a command after all.
        yield from _NAIVE_SPLIT.split(text)
        yield from _NAIVE_SPLIT.split(_REDIRECT.sub(" ", text))


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:
        return re.sub(r"[\\'\"]", "", part).split()


def _after_leading(words: list[str]) -> list[str]:
    for index, word in enumerate(words):
        if word not in _RESERVED and not _ASSIGNMENT.match(word):
            return words[index:]
    return []


def _forms(words: list[str]) -> Iterator[str]:
    """The command in plain words, by its bare name too, and what a wrapper may run."""
    starts = 1
    if words and _bare(words[0]) in _WRAPPERS:
        starts = min(len(words), _MAX_SUFFIXES)
    for index in range(starts):
        rest = words[index:]
        if rest:
            yield " ".join(rest)
            yield " ".join([_bare(rest[0]), *rest[1:]])


def _bare(word: str) -> str:
    return word.rpartition("/")[2]


def _nested(words: list[str]) -> str | None:
    """The text that a shell started by these words would read as a command."""
    for index, word in enumerate(words[:_MAX_SUFFIXES]):
        name = _bare(word)
        if name == "eval":
            return " ".join(words[index + 1 :])
        if name in _SHELLS:
            rest = words[index + 1 :]
            for place, option in enumerate(rest[:-1]):
                if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", option):
                    return rest[place + 1]
    return None
