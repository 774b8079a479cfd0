"""Words of the syntax tree as text with marks: quotes removed, variables filled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import marks
from .grammar import text_of
from .limits import MAX_EXPANDED, TooMuch, joined
from .outputs import unescape
from .tables import names

if TYPE_CHECKING:
    from tree_sitter import Node

# Set in nearly every environment, to something that is not the empty text.
_USUALLY_SET = names(
    "CI COLUMNS EDITOR HOSTNAME HOSTTYPE LANG LINES LOGNAME MACHTYPE MAIL OLDPWD OSTYPE PATH PPID"
    " RANDOM SECONDS SHELL SHLVL TERM TMPDIR UID EUID USER VIRTUAL_ENV"
)
_EXPANSIONS = names(
    "simple_expansion expansion command_substitution process_substitution arithmetic_expansion"
)


@dataclass(slots=True)
class Scope:
    """What a command can see: variables, functions, positional parameters, its directory."""

    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    positional: tuple[str, ...] | None = None
    cwd: str = "."

    def copy(self) -> Scope:
        return Scope(dict(self.variables), dict(self.functions), self.positional, self.cwd)


Substitute = Callable[["Node", Scope], str]


class Words:
    """Turns word nodes into text. `substitute` runs $( ) and <( ) and gives their output."""

    def __init__(self, substitute: Substitute) -> None:
        self._substitute = substitute
        self._expanded = 0

    def _joined(self, pieces: list[str]) -> str:
        self._expanded += sum(map(len, pieces))
        if self._expanded > MAX_EXPANDED:
            raise TooMuch(f"more than {MAX_EXPANDED} characters of words to follow")
        return joined(pieces)

    def fields(self, node: Node, scope: Scope) -> list[str]:
        """The words that one node becomes: none for an empty variable, several for a{b,c}."""
        value = self.value(node, scope)
        if not value:
            return [""] if node.type in ("string", "raw_string") else []
        words: list[str] = []
        for choice in marks.expand_braces(value):
            words.extend(marks.split_words(choice))
        return words

    def text(self, node: Node, scope: Scope) -> str:
        """The value of a node where the shell does not split: assignments, redirections."""
        return "".join(marks.expand_braces(self.value(node, scope))[:1])

    def value(self, node: Node, scope: Scope, first: bool = True) -> str:
        kind = node.type
        if kind in ("concatenation", "command_name"):
            parts = node.children
            return self._joined([self.value(part, scope, not at) for at, part in enumerate(parts)])
        if kind == "string":
            return self.interpolate(node, scope, node.start_byte + 1, node.end_byte - 1)
        if kind == "raw_string":
            return text_of(node)[1:-1]
        if kind == "ansi_c_string":
            return marks.clean(unescape(text_of(node)[2:-1]))
        if kind == "translated_string":
            return "".join(self.value(part, scope) for part in node.named_children)
        if kind == "array":
            values = [self.fields(part, scope) for part in node.named_children]
            return self._joined([word + marks.SPLIT for words in values for word in words])
        if kind == "brace_expression":
            return marks.ANY
        if kind in _EXPANSIONS:
            value = self._expand(node, scope)
            return value if value.startswith(marks.PROCESS) else marks.unquoted(value)
        return _plain(text_of(node), first)

    def interpolate(self, node: Node, scope: Scope, start: int, end: int) -> str:
        """Text between two byte offsets of a node, with the expansions in it filled in.

        The grammar gives no node for some of the text in strings and here-documents, so
        all that is not an expansion counts as text.
        """
        source = node.text or b""
        pieces: list[str] = []
        at = start
        for part in _expansions(node):
            if part.start_byte < at:
                continue
            pieces.append(_quoted(source[at - node.start_byte : part.start_byte - node.start_byte]))
            pieces.append(self._expand(part, scope))
            at = part.end_byte
        pieces.append(_quoted(source[at - node.start_byte : max(end, at) - node.start_byte]))
        return self._joined(pieces)

    def _expand(self, node: Node, scope: Scope) -> str:
        if node.type in ("command_substitution", "process_substitution"):
            return self._substitute(node, scope)
        if node.type == "arithmetic_expansion":
            for part in _expansions(node):
                self._expand(part, scope)
            return marks.ANY
        if node.type == "simple_expansion":
            return lookup(text_of(node)[1:], scope)
        return self._parameter(node, scope)

    def _parameter(self, node: Node, scope: Scope) -> str:
        """${name}, with what may stand around the name."""
        operators = [text_of(part) for part in node.children if not part.is_named]
        named = [part for part in node.named_children if part.type != "comment"]
        if not named:
            return marks.ANY
        if "#" in operators[:2]:
            return marks.ANY
        name = text_of(named[0]).partition("[")[0]
        value = lookup(name, scope)
        if "!" in operators[:2]:
            return lookup(value, scope)
        default = "".join(self.value(part, scope) for part in named[1:2])
        if value in ("", marks.MAYBE):
            if ":-" in operators or "-" in operators or ":=" in operators or "=" in operators:
                return default
            if ":?" in operators or "?" in operators:
                return marks.ANY
        if ":+" in operators or "+" in operators:
            return default
        return value


def lookup(name: str, scope: Scope) -> str:
    """A variable's value; a mark when it is not known."""
    if name in scope.variables:
        return scope.variables[name]
    if name == "HOME":
        return marks.HOME
    if name == "PWD":
        return scope.cwd
    if name == "IFS":
        return " "
    if name in ("@", "*"):
        return marks.ANY if scope.positional is None else marks.SPLIT.join(scope.positional[1:])
    if name.isdigit():
        if scope.positional is None:
            return marks.ANY
        index = int(name[:6])
        return scope.positional[index] if index < len(scope.positional) else ""
    if not name.isidentifier() or name in _USUALLY_SET or name.startswith(("XDG_", "GITHUB_")):
        return marks.ANY
    return marks.MAYBE


def _expansions(node: Node) -> list[Node]:
    found: list[Node] = []
    waiting = list(reversed(node.children))
    while waiting:
        part = waiting.pop()
        if part.type in _EXPANSIONS:
            found.append(part)
        else:
            waiting.extend(reversed(part.children))
    return found


def _quoted(raw: bytes) -> str:
    """Text inside double quotes: a backslash counts before some characters only."""
    text = raw.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    text = text.replace("\\\\", "\0").replace("\\\n", "")
    for char in '$`"':
        text = text.replace("\\" + char, char)
    return text.replace("\0", "\\")


_UNQUOTED = {
    "*": marks.STAR,
    "?": marks.QUESTION,
    "[": marks.BRACKET,
    "{": marks.BRACE_OPEN,
    ",": marks.BRACE_COMMA,
    "}": marks.BRACE_CLOSE,
}


def _plain(text: str, first: bool) -> str:
    """Text outside of quotes. `first`: it starts the word, so that ~ means a home."""
    done: list[str] = []
    if first and text.startswith("~"):
        name = text[1:].partition("/")[0]
        if name == "+":
            return "." + _plain(text[2:], False)
        if name.replace("-", "").replace("_", "").isalnum() or not name:
            done.append(marks.HOME)
            text = text[1 + len(name) :]
    characters = iter(text)
    for char in characters:
        if char == "\\":
            escaped = next(characters, "")
            done.append("" if escaped == "\n" else escaped)
        else:
            done.append(_UNQUOTED.get(char, char))
    return "".join(done)
