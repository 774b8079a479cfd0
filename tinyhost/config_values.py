"""The values of config.json: how each kind is written, and the checks that read it.

A reader reports what it finds wrong and returns None, and the key then counts as not set.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from tinyhost import durations, names, patterns
from tinyhost.jsonc import Node, plain

DIALECTS = ("tinycode", "zuno", "bingo")
FAILED_GUARD_POLICIES = ("ask", "deny", "skip")
FAILED_OUTPUT_POLICIES = ("pass", "withhold")
PERMISSION_MODES = ("standard", "strict")
MAX_RULES = 1000  # of one list
MIN_LINE_BYTES = 1024
MAX_LINE_BYTES = 1024 * 1024 * 1024
MAX_COMMAND = 128 * 1024  # bytes; Linux refuses longer arguments of a program
MATCH_KEYS = ("tool", "session")
NAME_SCHEMA: Mapping[str, Any] = {
    "type": "string",
    "pattern": rf"^(?!.*\.\.){names.PATTERN}$",
}

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_T = TypeVar("_T")


@attrs.frozen
class Problem:
    """One thing wrong with a configuration file.

    severity: "error" (the entry is not used) or "warning" (it is, or it does nothing).
    key: the dotted path of the entry; line and column count from 1.
    harmless: nothing is lost with the entry that could have denied a call or asked about it.
    """

    severity: str
    message: str
    file: str
    key: str
    line: int
    column: int
    harmless: bool = False

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}"
        key = f"{self.key}: " if self.key else ""
        return f"{where}: {self.severity}: {key}{self.message}"


@attrs.frozen
class Place:
    """Where in the file a reader is, and where it reports problems."""

    file: str
    problems: list[Problem]
    key: str = ""

    def at(self, step: str | int) -> Place:
        """The place one step deeper: a key, or an index of an array."""
        if isinstance(step, int):
            return attrs.evolve(self, key=f"{self.key}[{step}]")
        return attrs.evolve(self, key=f"{self.key}.{step}" if self.key else step)

    def error(self, node: Node, message: str) -> None:
        """Report that an entry is not used."""
        self._report("error", node, message)

    def warning(self, node: Node, message: str) -> None:
        """Report something that looks like a mistake."""
        self._report("warning", node, message)

    def _report(self, severity: str, node: Node, message: str) -> None:
        self.problems.append(
            Problem(severity, message, self.file, self.key, node.line, node.column)
        )


@attrs.frozen
class Form:
    """How a value is written: its JSON Schema, and the reader that checks it.

    The reader gets a node and its place; it reports problems and returns None for a value
    that cannot be used.
    """

    schema: Mapping[str, Any]
    read: Callable[[Node, Place], Any]


@attrs.frozen
class PluginEntry:
    """One entry of a plugin list; options is None where none are written."""

    name: str
    options: Mapping[str, Any] | None
    node: Node


@attrs.frozen
class PatternEntry:
    """One permission rule of a list, and where it is written."""

    pattern: patterns.Pattern
    node: Node
    file: str


def _read_text(node: Node, place: Place) -> str | None:
    if node.kind == "string" and node.value:
        return str(node.value)
    place.error(node, "must be a string that is not empty")
    return None


def _read_duration(node: Node, place: Place) -> float | None:
    try:
        # Objects and arrays have no value and so fail like any other wrong type.
        return durations.parse_duration(node.value)
    except ValueError as error:
        place.error(node, str(error))
        return None


def _read_line_bytes(node: Node, place: Place) -> int | None:
    if type(node.value) is int and MIN_LINE_BYTES <= node.value <= MAX_LINE_BYTES:
        return node.value
    place.error(node, f"must be a whole number from {MIN_LINE_BYTES} to {MAX_LINE_BYTES}")
    return None


def _read_policy(node: Node, place: Place) -> str | None:
    return one_of(FAILED_GUARD_POLICIES, node, place)


def _read_output_policy(node: Node, place: Place) -> str | None:
    return one_of(FAILED_OUTPUT_POLICIES, node, place)


def _read_dialects(node: Node, place: Place) -> list[str] | None:
    return read_list(node, place, lambda item, at: one_of(DIALECTS, item, at))


def _read_pass_env(node: Node, place: Place) -> list[str] | None:
    return read_list(node, place, _read_pass_name)


def _read_pass_name(node: Node, place: Place) -> str | None:
    if node.kind == "string" and re.fullmatch(rf"{_VARIABLE}\*?", node.value):
        return str(node.value)
    if node.value == "*":
        place.error(node, "'*' alone would hand on every variable; name those that are needed")
    else:
        place.error(node, 'must be the name of a variable, or its beginning as in "AWS_*"')
    return None


def _read_env(node: Node, place: Place) -> dict[str, str] | None:
    if node.kind != "object":
        place.error(node, 'must be an object such as {"NAME": "value"}')
        return None
    found = {}
    for member in node.members:
        name, value = member.key.value, member.value
        at = place.at(name)
        if not re.fullmatch(_VARIABLE, name):
            at.error(member.key, "is not the name of a variable")
        elif value.kind != "string" or "\0" in value.value:
            at.error(value, "must be a string")
        else:
            found[name] = value.value
    return found


def _read_command(node: Node, place: Place) -> str | None:
    text = node.value
    if node.kind != "string" or not text.strip() or "\0" in text:
        place.error(node, "must be a shell command")
    elif len(text.encode("utf-8", "replace")) >= MAX_COMMAND:
        place.error(node, f"must be shorter than {MAX_COMMAND} bytes; put it into a script")
    else:
        return str(text)
    return None


def _read_match(node: Node, place: Place) -> dict[str, str] | None:
    """Patterns by lower-case key. What is wrong is kept as a key that matches nothing."""
    if node.kind != "object":
        place.error(node, 'must be an object such as {"tool": "bash"}; the command never runs')
        return {"": ""}
    found = {}
    for member in node.members:
        key, at = member.key.value.lower(), place.at(member.key.value)
        if key not in MATCH_KEYS:
            at.warning(
                member.key,
                "unknown key, so the command never runs"
                + (nearest(key, MATCH_KEYS) or "; known: " + ", ".join(MATCH_KEYS)),
            )
        if member.value.kind == "string":
            found[key] = str(member.value.value)
        else:
            at.error(member.value, "must be a string; the command never runs")
            found[""] = ""
    return found


def _read_mode(node: Node, place: Place) -> str | None:
    return one_of(PERMISSION_MODES, node, place)


def _read_patterns(node: Node, place: Place) -> list[PatternEntry] | None:
    if len(node.items) > MAX_RULES:
        place.error(node, f"has {len(node.items)} rules; at most {MAX_RULES} are taken")
        return None
    return read_list(node, place, _read_pattern)


def _read_pattern(node: Node, place: Place) -> PatternEntry | None:
    if node.kind != "string":
        place.error(node, 'must be a string such as "bash(git push*)"')
        return None
    try:
        return PatternEntry(patterns.parse_pattern(node.value), node, place.file)
    except ValueError as error:
        place.error(node, str(error))
        return None


def read_categories(node: Node, place: Place) -> list[str] | None:
    """Read a list of permission categories."""
    return read_list(node, place, _read_category)


def _read_category(node: Node, place: Place) -> str | None:
    if node.kind == "string" and re.fullmatch(patterns.CATEGORY_NAME, node.value):
        return str(node.value)
    place.error(node, 'must be the name of a category, such as "read"')
    return None


def _read_plugins(node: Node, place: Place) -> list[PluginEntry] | None:
    # tinycode takes a null list for an empty one.
    return [] if node.kind == "null" else read_list(node, place, read_plugin_entry)


def read_plugin_entry(node: Node, place: Place) -> PluginEntry | None:
    """Read "name", ["name"] or ["name", {options}]; null options are none."""
    if node.kind == "string":
        return _named(node, None, node, place)
    if node.kind != "array":
        place.error(node, 'must be "name" or ["name", {options}]')
    elif len(node.items) not in (1, 2):
        place.error(node, f"has {len(node.items)} elements; a name, and options, are expected")
    elif node.items[0].kind != "string":
        place.error(node.items[0], "the name must be a string")
    elif len(node.items) == 1 or node.items[1].kind == "null":
        return _named(node.items[0], None, node, place)
    elif node.items[1].kind != "object":
        place.error(node.items[1], "the options must be an object")
    else:
        return _named(node.items[0], plain(node.items[1]), node, place)
    return None


def _named(
    name: Node, options: Mapping[str, Any] | None, node: Node, place: Place
) -> PluginEntry | None:
    if problem := names.name_problem(name.value):
        place.error(name, problem)
        return None
    return PluginEntry(name.value, options, node)


def one_of(words: Sequence[str], node: Node, place: Place) -> str | None:
    """Read one of some words."""
    if node.kind == "string" and node.value in words:
        return str(node.value)
    listed = ", ".join(f'"{word}"' for word in words)
    place.error(node, f"must be one of {listed}{nearest(node.value, words)}")
    return None


def read_list(
    node: Node, place: Place, read: Callable[[Node, Place], _T | None]
) -> list[_T] | None:
    """Read an array; what cannot be used in it is left out."""
    if node.kind != "array":
        place.error(node, "must be an array")
        return None
    values = [read(item, place.at(index)) for index, item in enumerate(node.items)]
    return [value for value in values if value is not None]


def nearest(word: object, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1) if isinstance(word, str) else []
    return f'; did you mean "{close[0]}"?' if close else ""


TEXT = Form({"type": "string", "minLength": 1}, _read_text)
DURATION = Form(
    {
        "anyOf": [
            {"type": "string", "pattern": f"^{durations.PATTERN}$"},
            {"type": "number", "minimum": durations.SHORTEST, "maximum": durations.LONGEST},
        ]
    },
    _read_duration,
)
LINE_BYTES = Form(
    {"type": "integer", "minimum": MIN_LINE_BYTES, "maximum": MAX_LINE_BYTES}, _read_line_bytes
)
POLICY = Form({"enum": list(FAILED_GUARD_POLICIES)}, _read_policy)
OUTPUT_POLICY = Form({"enum": list(FAILED_OUTPUT_POLICIES)}, _read_output_policy)
COMPAT = Form({"type": "array", "items": {"enum": list(DIALECTS)}}, _read_dialects)
PASS_ENV = Form(
    {"type": "array", "items": {"type": "string", "pattern": rf"^{_VARIABLE}\*?$"}}, _read_pass_env
)
ENV = Form(
    {
        "type": "object",
        "propertyNames": {"pattern": f"^{_VARIABLE}$"},
        "additionalProperties": {"type": "string"},
    },
    _read_env,
)
_ENTRY_SCHEMA = {
    "anyOf": [
        {"$ref": "#/$defs/pluginName"},
        {
            "type": "array",
            "minItems": 1,
            "prefixItems": [{"$ref": "#/$defs/pluginName"}, {"type": ["object", "null"]}],
            "items": False,
        },
    ]
}
ENTRIES = Form({"type": ["array", "null"], "items": _ENTRY_SCHEMA}, _read_plugins)
COMMAND = Form({"type": "string", "minLength": 1, "pattern": r"[^\s]"}, _read_command)
MATCH = Form(
    {
        "type": "object",
        "propertyNames": {"pattern": "^([Tt][Oo][Oo][Ll]|[Ss][Ee][Ss][Ss][Ii][Oo][Nn])$"},
        "additionalProperties": {"type": "string"},
    },
    _read_match,
)
# Keys whose content is checked elsewhere.
ANY = Form({}, lambda node, _place: node)
MODE = Form({"enum": list(PERMISSION_MODES)}, _read_mode)
PATTERNS = Form(
    {
        "type": "array",
        "maxItems": MAX_RULES,
        "items": {
            "type": "string",
            "maxLength": patterns.MAX_PATTERN,
            # Not "$", which some readers let stand before a last line break.
            "pattern": rf"^{patterns.PATTERN}(?![\s\S])",
        },
    },
    _read_patterns,
)
CATEGORIES_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {"type": "string", "pattern": rf"^{patterns.CATEGORY_NAME}(?![\s\S])"},
}
