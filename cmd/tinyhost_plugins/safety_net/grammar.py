"""Shell text to a syntax tree. The parser is loaded when it is first needed."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser


_BRACES = re.compile(r"\{([^{}\s]+)\}")
# The grammar's scanner looks characters up in the C library's tables, which end long before
# these do, and the process with it. To the shell they are letters like any other sign.
_FAR = re.compile("[\U00010000-\U0010ffff]")


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> Node:
    """The root of the tree. Text that is not shell gives a tree with ERROR nodes in it.

    Characters beyond the basic plane are U+FFFD in it.
    """
    return _parser().parse(_FAR.sub("\ufffd", text).encode()).root_node


def text_of(node: Node) -> str:
    raw = node.text
    return raw.decode("utf-8", "replace") if raw else ""


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, from left to right."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def fallback_commands(text: str) -> list[tuple[str, ...]]:
    """A rough split of text that does not parse: at separators and blanks, without quotes."""
    text = _BRACES.sub(lambda match: match[1].replace(",", " "), text)
    for separator in ";|&()`{}":
        text = text.replace(separator, "\n")
    lines = (line.replace('"', "").replace("'", "").split() for line in text.split("\n"))
    return [tuple(words) for words in lines if words]
