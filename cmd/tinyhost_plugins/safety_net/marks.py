"""Words of a shell command as text in which marks stand for what is not plain text.

A mark is one private-use character: an unquoted `*`, the home directory, a value that
nobody can know before the command runs. Text from outside is cleaned of them first, so
that a mark always means what is written here.
"""

from __future__ import annotations

import fnmatch
import re

ANY = "\ue000"  # text that is not known
STAR = "\ue001"  # unquoted *
QUESTION = "\ue002"  # unquoted ?
BRACKET = "\ue003"  # unquoted [
HOME = "\ue004"  # the home directory
MAYBE = "\ue005"  # a variable that nothing seen so far has set
SPLIT = "\ue006"  # where the shell splits an unquoted value
DOWNLOAD = "\ue007"  # text that came from the network
DECODED = "\ue008"  # text that came out of a decoder
PROCESS = "\ue009"  # <( ): what follows is the contents of a file
BRACE_OPEN = "\ue00a"
BRACE_COMMA = "\ue00b"
BRACE_CLOSE = "\ue00c"

UNKNOWN = (ANY, MAYBE, DOWNLOAD, DECODED)

_SHOWN = {
    ANY: "...",
    STAR: "*",
    QUESTION: "?",
    BRACKET: "[",
    HOME: "~",
    MAYBE: "$...",
    SPLIT: " ",
    DOWNLOAD: "(a download)",
    DECODED: "(decoded text)",
    PROCESS: "",
    BRACE_OPEN: "{",
    BRACE_COMMA: ",",
    BRACE_CLOSE: "}",
}
_TO_TEXT = str.maketrans(_SHOWN)
_TO_MARKS = str.maketrans(
    {"*": STAR, "?": QUESTION, "[": BRACKET, " ": SPLIT, "\t": SPLIT, "\n": SPLIT}
)
_FROM_OUTSIDE = dict.fromkeys(range(57344, 57360), "�")
_FROM_OUTSIDE |= {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r"}
_BRACKETS = re.compile(f"{BRACKET}[^]]{{0,64}}]")
_ONLY_GLOB = re.compile(f"[.{STAR}{QUESTION}]*")
_MAX_BRACES = 64


def clean(text: str) -> str:
    """Text from outside, without marks, control characters and lone surrogates."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\r\n", "\n").translate(_FROM_OUTSIDE)


def show(text: str) -> str:
    """The word as a person would write it."""
    return text.translate(_TO_TEXT)


def unquoted(value: str) -> str:
    """A variable's value where the shell would split it and match file names."""
    return value.translate(_TO_MARKS)


def is_unknown(word: str) -> bool:
    return any(mark in word for mark in UNKNOWN)


def matches_anything(part: str) -> bool:
    """Whether one part of a path is a pattern, or unknown text, that fits nearly any name."""
    if not part:
        return False
    if all(char in UNKNOWN for char in part):
        return True
    if STAR not in part:
        return False
    return _ONLY_GLOB.fullmatch(_BRACKETS.sub("", part)) is not None


def is_pattern(part: str) -> bool:
    return any(mark in part for mark in (STAR, QUESTION, BRACKET, *UNKNOWN))


def pattern_fits(part: str, name: str) -> bool:
    """Whether a part of a path with globs or unknown text in it may stand for a name."""
    glob = []
    for char in part:
        if char in (STAR, *UNKNOWN):
            glob.append("*")
        elif char == QUESTION:
            glob.append("?")
        elif char == BRACKET:
            glob.append("[")
        else:
            glob.append(f"[{char}]" if char in "*?[" else char)
    return fnmatch.fnmatchcase(name, "".join(glob))


def split_words(value: str) -> list[str]:
    """The words that an unquoted value becomes; none when it is empty."""
    return [part for part in value.split(SPLIT) if part]


def expand_braces(word: str) -> list[str]:
    """a{b,c} to ab, ac. Braces that group nothing are plain text."""
    if BRACE_OPEN not in word:
        return [_plain_braces(word)]
    done: list[str] = []
    waiting = [word]
    while waiting and len(done) + len(waiting) < _MAX_BRACES:
        text = waiting.pop(0)
        group = _innermost_group(text)
        if group is None:
            done.append(_plain_braces(text))
            continue
        start, end = group
        inner = text[start + 1 : end]
        choices = inner.split(BRACE_COMMA) if BRACE_COMMA in inner else [f"{{{inner}}}"]
        waiting.extend(text[:start] + choice + text[end + 1 :] for choice in choices)
    done.extend(_plain_braces(text) for text in waiting)
    return done


def _innermost_group(text: str) -> tuple[int, int] | None:
    end = text.find(BRACE_CLOSE)
    while end >= 0:
        start = text.rfind(BRACE_OPEN, 0, end)
        if start >= 0:
            return start, end
        end = text.find(BRACE_CLOSE, end + 1)
    return None


def _plain_braces(word: str) -> str:
    return word.replace(BRACE_OPEN, "{").replace(BRACE_COMMA, ",").replace(BRACE_CLOSE, "}")
