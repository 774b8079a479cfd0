"""SQL statements that delete whole tables: a plain scan over words, outside of strings."""

from __future__ import annotations

import re

from .tables import names

_MAX_TEXT = 128 * 1024
# One alternative per kind of token; no part of a string or comment is taken for a word.
_TOKEN = re.compile(
    r"""--[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.|'')*(?:'|\\?\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)"""
    r"""|^[ \t]*[\\.][^\n]*|\w+|;""",
    re.DOTALL | re.MULTILINE,
)
_DROPPED = names("database schema table tablespace keyspace user role owned collection")


def destructive(text: str) -> str:
    """The first statement that drops or empties something, in a few words; "" for none."""
    words: list[str] = []
    for match in _TOKEN.finditer(text[:_MAX_TEXT]):
        token = match.group()
        if token == ";":
            found = _judge(words)
            if found:
                return found
            words.clear()
        elif token[0] in '"`':
            words.append('"name"')
        elif token[0].isalnum() or token[0] == "_":
            words.append(token.lower())
    return _judge(words)


def _judge(words: list[str]) -> str:
    for index, word in enumerate(words):
        following = words[index + 1 : index + 4]
        if word == "drop" and following[:1] and following[0] in _DROPPED:
            return f"DROP {following[0].upper()}"
        if word == "truncate" and index == 0:
            return "TRUNCATE"
        if word == "delete" and following[:1] == ["from"] and "where" not in words[index:]:
            return "DELETE without WHERE"
    return ""
