"""One logical line as an instruction with its flags, words and pairs."""

from __future__ import annotations

import difflib
import functools
import re
from typing import NamedTuple

from .form import SPACE, FormError, json_words, split_flags
from .lines import Heredoc, Line

_ALL = """
    ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL
    STOPSIGNAL USER VOLUME WORKDIR
"""
NAMES = tuple(_ALL.split())
_SHELL_OR_EXEC = ("CMD", "ENTRYPOINT", "RUN", "SHELL", "HEALTHCHECK")
_LIST_OR_EXEC = ("ADD", "COPY", "VOLUME")
_ONE = ("MAINTAINER", "STOPSIGNAL", "USER", "WORKDIR")
_FLAGGED = ("ADD", "COPY", "FROM", "HEALTHCHECK", "RUN")
_MAY_BE_BARE = ("CMD", "ENTRYPOINT")


class Pair(NamedTuple):
    """A name and a value, both as written. value: None for an ARG without a default."""

    name: str
    value: str | None


class Instruction(NamedTuple):
    """name: in upper case. flags: such as --from=x. words: the arguments, as written.

    text: all arguments without the flags, for shell forms. pairs: of ARG, ENV and LABEL.
    """

    name: str
    line: int
    flags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    text: str = ""
    exec_form: bool = False
    pairs: tuple[Pair, ...] = ()
    heredocs: tuple[Heredoc, ...] = ()

    def flag(self, name: str) -> str | None:
        """The value of a flag; "" when it has none, None when it is not there."""
        for flag in self.flags:
            key, _, value = flag.removeprefix("--").partition("=")
            if key.lower() == name:
                return value
        return None


def parse(line: Line, escape: str) -> Instruction:
    """Read a logical line. Raises FormError when a builder would reject it."""
    name, rest = _head(line.text)
    flags, text = split_flags(rest)
    if flags and name not in _FLAGGED:
        raise FormError(f"{name} takes no options that begin with --")
    instruction = Instruction(name, line.start, flags, text=text, heredocs=line.heredocs)
    if not text and name not in _MAY_BE_BARE:
        raise FormError(f"{name} needs an argument")
    if name in ("ENV", "LABEL"):
        return instruction._replace(pairs=_pairs(name, text, escape))
    if name == "ARG":
        return instruction._replace(pairs=_arguments(text, escape))
    if name in _SHELL_OR_EXEC or name in _LIST_OR_EXEC:
        return _exec_or_not(instruction)
    words = (text,) if name in _ONE else _words(text)
    return _checked(instruction._replace(words=words))


def triggered(instruction: Instruction, escape: str) -> Instruction:
    """What an ONBUILD does later. Raises FormError."""
    inner = parse(Line(instruction.line, 0, instruction.text, instruction.heredocs), escape)
    if inner.name in ("ONBUILD", "FROM", "MAINTAINER"):
        raise FormError(f"ONBUILD cannot hold {inner.name}")
    return inner


def _head(text: str) -> tuple[str, str]:
    word, *rest = re.split(rf"[{SPACE}]+", text.strip(), maxsplit=1)
    name = word.upper()
    if name not in NAMES:
        # More of the line could be a piece of a secret.
        letters = re.match(r"[A-Za-z]{0,20}", word)
        text = letters[0] if letters else ""
        raise FormError(f'there is no instruction "{text}"{_hint(text.upper())}')
    return name, rest[0] if rest else ""


@functools.lru_cache(maxsize=256)
def _hint(name: str) -> str:
    close = difflib.get_close_matches(name, NAMES, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _words(text: str) -> tuple[str, ...]:
    """Words between blanks as builders know them: others, such as a no-break space, are letters."""
    return tuple(re.split(rf"[{SPACE}]+", text))


def _exec_or_not(instruction: Instruction) -> Instruction:
    text = instruction.text
    if instruction.name == "HEALTHCHECK":
        kind, *rest = text.split(maxsplit=1)
        if [kind.upper(), bool(rest)] not in (["CMD", True], ["NONE", False]):
            raise FormError("HEALTHCHECK takes CMD with a command, or NONE")
        text = "".join(rest)
    words = json_words(text)
    if words is None and instruction.name == "SHELL":
        raise FormError("SHELL takes an array of JSON")
    listed = instruction.name in _LIST_OR_EXEC
    plain = _words(text) if listed else ((text,) if text else ())
    return _checked(
        instruction._replace(
            words=plain if words is None else words, exec_form=words is not None, text=text
        )
    )


def _checked(instruction: Instruction) -> Instruction:
    name, words = instruction.name, instruction.words
    if name in ("SHELL", "VOLUME") and not words:
        raise FormError(f"{name} needs an argument")
    if name in ("ADD", "COPY") and len(words) < 2:
        raise FormError(f"{name} needs a source and a destination")
    if name == "FROM" and not (len(words) == 1 or (len(words) == 3 and words[1].upper() == "AS")):
        raise FormError("FROM takes the name of an image, and after it at most AS and a name")
    return instruction


def _arguments(text: str, escape: str) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    for word in split_words(text, escape):
        name, equals, value = word.partition("=")
        if not name:
            raise FormError("ARG has a value without a name")
        pairs.append(Pair(name, value if equals else None))
    return tuple(pairs)


def _pairs(instruction: str, text: str, escape: str) -> tuple[Pair, ...]:
    words = split_words(text, escape)
    if words and "=" not in words[0]:
        # The old form: a name, and all that follows is the value.
        name, *value = re.split(rf"[{SPACE}]+", text, maxsplit=1)
        if not value:
            raise FormError(f"{instruction} needs a name and a value")
        return (Pair(name, value[0]),)
    pairs: list[Pair] = []
    for number, word in enumerate(words, 1):
        name, equals, value_text = word.partition("=")
        if not equals or not name:
            # The word itself may be a piece of a secret, so it is not repeated.
            raise FormError(f"word {number} of {instruction} is not of the form name=value")
        pairs.append(Pair(name, value_text))
    return tuple(pairs)


def split_words(text: str, escape: str) -> list[str]:
    """Words as BuildKit cuts them: quotes keep blanks, and stay in the words as escapes do."""
    words: list[str] = []
    piece: list[str] = []
    quote = ""
    chars = iter(text)
    for char in chars:
        if quote == "" and char.isspace():
            if piece:
                words.append("".join(piece))
                piece = []
            continue
        if char == escape and quote != "'":
            following = next(chars, "")
            # An escape at the very end escapes nothing.
            piece += (char, following) if following else ()
            continue
        if quote == "" and char in "'\"":
            quote = char
        elif char == quote:
            quote = ""
        piece.append(char)
    if piece:
        words.append("".join(piece))
    return words
