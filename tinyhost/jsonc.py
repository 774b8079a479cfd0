"""JSON with comments and trailing commas, parsed into nodes that know where they stand.

The syntax is strict JSON plus `//` and `/* */` comments and one trailing comma in arrays
and objects. Every value keeps its place in the text, so that a message can point at it
and an edit can leave everything else as it was.
"""

from __future__ import annotations

import bisect
import re
from typing import Any, NoReturn

import attrs

MAX_SIZE = 1024 * 1024
MAX_DEPTH = 128

_BLANK = re.compile(r"[ \t\r\n]*")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LINE_COMMENT = re.compile(r"//[^\r\n]*")
_WORD = re.compile(r"[A-Za-z0-9_+.\-]+")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING_CHARS = re.compile(r'[^"\\\x00-\x1f]+')
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"true": ("boolean", True), "false": ("boolean", False), "null": ("null", None)}


class JsoncError(ValueError):
    """The text is not what it should be. `line` and `column` count from 1."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        self.reason, self.line, self.column = reason, line, column
        super().__init__(f"line {line}, column {column}: {reason}")


@attrs.frozen(eq=False)
class Member:
    """One key of an object, and its value."""

    key: Node
    value: Node

    @property
    def start(self) -> int:
        return self.key.start

    @property
    def end(self) -> int:
        return self.value.end


@attrs.frozen(eq=False)
class Node:
    """One value and its place: text[start:end], beginning at line and column (from 1).

    kind: "object", "array", "string", "number", "boolean" or "null".
    value: the Python value of the last four; None for objects and arrays.
    items, members: what an array or an object holds, in the order of the text.
    commas: offsets of the commas that follow them; a trailing one makes it as long.
    """

    kind: str
    value: Any
    start: int
    end: int
    line: int
    column: int
    items: tuple[Node, ...] = ()
    members: tuple[Member, ...] = ()
    commas: tuple[int, ...] = ()

    def get(self, key: str) -> Node | None:
        """The value of a key of an object, or None; the last one where a key is repeated."""
        for member in reversed(self.members):
            if member.key.value == key:
                return member.value
        return None


@attrs.frozen(eq=False)
class Document:
    """A parsed text. `duplicates` holds the keys that repeat an earlier one of their object."""

    text: str
    root: Node
    duplicates: tuple[Node, ...]


def decode(data: bytes) -> str:
    """Turn a file's bytes into text. Raises JsoncError for bytes that are not UTF-8."""
    _check_size(len(data))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = _Lines(before).place(len(before))
        raise JsoncError("this is not UTF-8 text", line, column) from None


def parse(text: str) -> Document:
    """Parse a whole text of at most 1 MiB and 128 levels. Raises JsoncError and nothing else."""
    # Encoding is only needed where characters could take more than one byte.
    _check_size(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))
    return _Parser(text).document()


def plain(node: Node) -> Any:
    """The Python value of a node; the last one wins where a key is repeated."""
    if node.kind == "object":
        return {member.key.value: plain(member.value) for member in node.members}
    if node.kind == "array":
        return [plain(item) for item in node.items]
    return node.value


def _check_size(size: int) -> None:
    if size > MAX_SIZE:
        raise JsoncError(f"the text is larger than {MAX_SIZE} bytes", 1, 1)


class _Lines:
    """Turns offsets into lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class _Parser:
    """Recursive descent; the depth cap keeps it far from Python's own."""

    def __init__(self, text: str) -> None:
        self._text, self._pos, self._lines = text, 0, _Lines(text)
        self._duplicates: list[Node] = []

    def document(self) -> Document:
        if self._text.startswith("\ufeff"):
            self._pos = 1
        self._skip()
        if self._pos == len(self._text):
            self._fail("the text is empty; an empty object is written {}")
        root = self._value(1)
        self._skip()
        if self._pos < len(self._text):
            self._fail("nothing may follow the end of the value")
        return Document(self._text, root, tuple(self._duplicates))

    def _fail(self, reason: str, offset: int | None = None) -> NoReturn:
        raise JsoncError(reason, *self._lines.place(self._pos if offset is None else offset))

    def _skip(self) -> None:
        """Step over blanks and comments."""
        text = self._text
        while True:
            self._pos = _match_end(_BLANK, text, self._pos)
            if text.startswith("//", self._pos):
                self._pos = _match_end(_LINE_COMMENT, text, self._pos)
            elif text.startswith("/*", self._pos):
                end = text.find("*/", self._pos + 2)
                if end < 0:
                    self._fail("this comment has no end: '*/' is missing")
                self._pos = end + 2
            else:
                return

    def _peek(self) -> str:
        return self._text[self._pos : self._pos + 1]

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self._fail(f"nested deeper than {MAX_DEPTH} levels")
        char = self._peek()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char == '"':
            return self._string()
        return self._word()

    def _node(self, kind: str, start: int, value: Any = None, **parts: Any) -> Node:
        line, column = self._lines.place(start)
        return Node(kind, value, start, self._pos, line, column, **parts)

    def _object(self, depth: int) -> Node:
        start = self._pos
        members: list[Member] = []
        commas: list[int] = []
        seen: set[str] = set()
        self._pos += 1
        self._skip()
        while self._peek() != "}":
            if self._peek() != '"':
                self._fail(self._expected("a key in double quotes", "}", start))
            key = self._string()
            if key.value in seen:
                self._duplicates.append(key)
            seen.add(key.value)
            self._skip()
            if self._peek() != ":":
                self._fail("expected ':' after the key")
            self._pos += 1
            self._skip()
            members.append(Member(key, self._value(depth + 1)))
            self._comma(commas, "}", start)
        self._pos += 1
        return self._node("object", start, members=tuple(members), commas=tuple(commas))

    def _array(self, depth: int) -> Node:
        start = self._pos
        items: list[Node] = []
        commas: list[int] = []
        self._pos += 1
        self._skip()
        while self._peek() != "]":
            if self._peek() == "":
                self._fail(self._expected("a value", "]", start))
            items.append(self._value(depth + 1))
            self._comma(commas, "]", start)
        self._pos += 1
        return self._node("array", start, items=tuple(items), commas=tuple(commas))

    def _comma(self, commas: list[int], close: str, start: int) -> None:
        """Step over the comma after an item; without one the closing bracket must follow."""
        self._skip()
        if self._peek() == ",":
            commas.append(self._pos)
            self._pos += 1
            self._skip()
        elif self._peek() != close:
            self._fail(self._expected("','", close, start))

    def _expected(self, what: str, close: str, start: int) -> str:
        text = f"expected {what} or '{close}'"
        if self._pos < len(self._text):
            return text
        line, column = self._lines.place(start)
        return f"the text ends inside what began at line {line}, column {column}: {text}"

    def _string(self) -> Node:
        start, parts = self._pos, []
        self._pos += 1
        while (char := self._peek()) != '"':
            if char == "\\":
                parts.append(self._escape())
            elif match := _STRING_CHARS.match(self._text, self._pos):
                parts.append(match[0])
                self._pos = match.end()
            elif char in ("", "\n", "\r"):
                self._fail("this string has no end: '\"' is missing", start)
            else:
                self._fail(f"a control character in a string is written \\u{ord(char):04x}")
        self._pos += 1
        value = "".join(parts)
        if _SURROGATE.search(value):
            self._fail("this string holds half of a surrogate pair", start)
        return self._node("string", start, value)

    def _escape(self) -> str:
        letter = self._text[self._pos + 1 : self._pos + 2]
        if letter == "u":
            code = self._hex(self._pos)
            if 0xD800 <= code < 0xDC00 and self._text.startswith("\\u", self._pos):
                before = self._pos
                low = self._hex(before)
                if 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
                self._pos = before
            return chr(code)
        if letter not in _ESCAPES or not letter:
            self._fail(f"unknown escape '\\{letter}' in a string; a backslash is written \\\\")
        self._pos += 2
        return _ESCAPES[letter]

    def _hex(self, at: int) -> int:
        match = _HEX4.match(self._text, at + 2)
        if not match:
            self._fail("'\\u' needs four hexadecimal digits", at)
        self._pos = match.end()
        return int(match[0], 16)

    def _word(self) -> Node:
        start = self._pos
        match = _WORD.match(self._text, start)
        if not match:
            self._fail("expected a value")
        word = match[0]
        if word in _CONSTANTS:
            self._pos = match.end()
            kind, value = _CONSTANTS[word]
            return self._node(kind, start, value)
        if word.lstrip("+-") in ("NaN", "Infinity"):
            self._fail(f"{word} is not a JSON value")
        number = self._number(word)
        self._pos = match.end()
        return self._node("number", start, number)

    def _number(self, word: str) -> int | float:
        match = _NUMBER.fullmatch(word)
        if not match:
            # The word is not shown: it may be a password that lacks its quotes.
            self._fail("this is not a JSON value; text needs double quotes")
        try:
            number = float(word) if match[2] or match[3] else int(word)
        except ValueError:  # Python limits the digits of an integer
            self._fail("this number has too many digits")
        if number in (float("inf"), float("-inf")):
            self._fail("this number is too large")
        return number


def _match_end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    match = pattern.match(text, pos)
    return match.end() if match else pos
