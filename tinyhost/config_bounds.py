"""Values of config.json that bound what a plugin may use and reach."""

from __future__ import annotations

import math
from collections.abc import Callable

from tinyhost import durations, sizes
from tinyhost.config_values import Form, Place, one_of, read_list
from tinyhost.jsonc import Node

# Lifts a limit that "*" sets.
UNLIMITED = "unlimited"
LEAST_MEMORY = 8 * 2**20  # a shell and a small program; less ends in riddles
MOST = 2**31 - 1
LAZIEST = 19
ENGINES = ("auto", "bubblewrap", "landlock")


def _read_memory(node: Node, place: Place) -> float | None:
    try:
        size = sizes.parse_size(node.value)
    except ValueError as error:
        place.error(node, f'{error}, or "{UNLIMITED}"')
        return None
    if size < LEAST_MEMORY:
        place.error(node, f"must be at least {sizes.format_size(LEAST_MEMORY)}")
        return None
    return size


def _read_cpu(node: Node, place: Place) -> float | None:
    try:
        return durations.parse_duration(node.value)
    except ValueError as error:
        place.error(node, f'{error}, or "{UNLIMITED}"')
        return None


def _or_unlimited(read: Callable[[Node, Place], float | None]) -> Callable[[Node, Place], object]:
    def read_either(node: Node, place: Place) -> object:
        return math.inf if node.value == UNLIMITED else read(node, place)

    return read_either


def _whole(least: int, most: int) -> Callable[[Node, Place], int | None]:
    def read(node: Node, place: Place) -> int | None:
        if type(node.value) is int and least <= node.value <= most:
            return node.value
        place.error(node, f"must be a whole number from {least} to {most}")
        return None

    return read


def _read_boolean(node: Node, place: Place) -> bool | None:
    if type(node.value) is bool:
        return node.value
    place.error(node, "must be true or false")
    return None


def _read_path(node: Node, place: Place) -> str | None:
    if node.kind == "string" and node.value and "\0" not in node.value:
        return str(node.value)
    place.error(node, "must be a path")
    return None


MEMORY = Form(
    {
        "anyOf": [
            {"const": UNLIMITED},
            {"type": "string", "pattern": f"^{sizes.PATTERN}$"},
            {"type": "integer", "minimum": LEAST_MEMORY, "maximum": sizes.LARGEST},
        ]
    },
    _or_unlimited(_read_memory),
)
CPU = Form(
    {
        "anyOf": [
            {"const": UNLIMITED},
            {"type": "string", "pattern": f"^{durations.PATTERN}$"},
            {"type": "number", "minimum": durations.SHORTEST, "maximum": durations.LONGEST},
        ]
    },
    _or_unlimited(_read_cpu),
)


def _count(least: int) -> Form:
    schema = {"type": "integer", "minimum": least, "maximum": MOST}
    return Form({"anyOf": [{"const": UNLIMITED}, schema]}, _or_unlimited(_whole(least, MOST)))


# Fewer open files than these, and not even a loader gets through its start.
OPEN_FILES = _count(8)
PROCESSES = _count(1)
# Days, or sessions, of the journal.
KEPT = Form({"type": "integer", "minimum": 1, "maximum": MOST}, _whole(1, MOST))
NICE = Form({"type": "integer", "minimum": 0, "maximum": LAZIEST}, _whole(0, LAZIEST))
BOOLEAN = Form({"type": "boolean"}, _read_boolean)
ENGINE = Form({"enum": list(ENGINES)}, lambda node, place: one_of(ENGINES, node, place))
PATHS = Form(
    {"type": "array", "items": {"type": "string", "minLength": 1}},
    lambda node, place: read_list(node, place, _read_path),
)
