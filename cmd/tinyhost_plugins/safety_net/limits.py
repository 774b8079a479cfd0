"""How much work one judgement may be, whatever the text is."""

from __future__ import annotations

MAX_TEXT = 256 * 1024  # characters of one command
MAX_PARSED = 1024 * 1024  # characters, over all scripts of one judgement
MAX_VALUE = 256 * 1024  # characters that a variable, or one word, may become
MAX_EXPANDED = 4 * 1024 * 1024  # characters, over all words of one judgement
MAX_STEPS = 60_000  # commands and statements, counted each time they are walked through
MAX_SCRIPTS_INSIDE = 12  # scripts inside scripts, such as sh -c "sh -c '...'"
MAX_COMMANDS_INSIDE = 100  # commands inside commands, such as sudo env nice ...
MAX_NESTING = 200  # nodes of the syntax tree inside each other
MAX_LOOP = 32  # values of a for loop


class TooMuch(Exception):
    """The text cannot be checked within the limits; the text says which."""


def joined(pieces: list[str]) -> str:
    """The pieces as one text. Raises TooMuch."""
    if sum(map(len, pieces)) > MAX_VALUE:
        raise TooMuch(f"a value of more than {MAX_VALUE} characters")
    return "".join(pieces)
