"""Reading values of a manifest: every problem is kept, with its path, and reading goes on."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..errors import cut
from .package import Problem

MAX_SIZE = 4 * 1024 * 1024  # bytes of a manifest
_SHOWN = 60  # characters of a bad value


class Object(dict[str, Any]):
    """A JSON object that remembers which of its keys were repeated."""

    repeated: Sequence[str] = ()


def parse(data: bytes) -> Any:
    """Strict JSON from bytes: UTF-8, no comments, no NaN. Raises ValueError."""
    if len(data) > MAX_SIZE:
        raise ValueError(f"the file is longer than {MAX_SIZE} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_float
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> Object:
    found = Object(pairs)
    if len(found) < len(pairs):
        count = Counter(key for key, _ in pairs)
        found.repeated = [key for key in found if count[key] > 1]
    return found


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _refuse(name: str) -> float:
    raise ValueError(f"not JSON, or too large: {cut(name, _SHOWN)}")


def join(path: str, key: str) -> str:
    """The path of a member; a key that is not plain is quoted."""
    plain = key.replace("-", "").replace("_", "").isalnum() and key.isascii()
    step = key if plain else json.dumps(cut(key, _SHOWN))
    return f"{path}.{step}" if path else step


def shown(value: Any) -> str:
    """A bad value in a message."""
    try:
        return cut(json.dumps(value), _SHOWN)
    except RecursionError:
        return kind_of(value)


def kind_of(value: Any) -> str:
    """A value's kind in words."""
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list) else kinds.get(type(value), "something else")


class Reader:
    """One object of the manifest. Methods return a value, or a stand-in after a problem."""

    def __init__(
        self,
        problems: list[Problem],
        value: Any,
        path: str,
        known: Collection[str] = (),
    ) -> None:
        self.problems = problems
        self.path = path
        self.value: Mapping[str, Any] = {}
        if not isinstance(value, dict):
            self.say(None, f"is {kind_of(value)}, not an object")
            return
        self.value = value
        for key in getattr(value, "repeated", ()):
            self.say(key, "is repeated")
        if known:
            self.only(known)

    def only(self, known: Collection[str]) -> None:
        """Keep a problem of each member that is not among those."""
        for key in self.value:
            if key not in known:
                self.say(key, "is not a key that is known here")

    def say(self, key: str | None, reason: str) -> None:
        """Keep a problem of a member, or of the object itself."""
        path = self.path if key is None else join(self.path, key)
        self.problems.append(Problem(path, reason))

    def at(self, key: str) -> str:
        """A member's path."""
        return join(self.path, key)

    def has(self, key: str) -> bool:
        """Whether the member is there, be it null."""
        return key in self.value

    def text(self, key: str, *, required: bool = False, filled: bool = True) -> str | None:
        """A string; filled: it must not be blank. None when it is missing, null or bad."""
        value = self.value.get(key)
        if value is None:
            if required:
                self.say(key, "is null, not a string" if self.has(key) else "is required")
            return None
        if type(value) is not str:
            self.say(key, f"is {kind_of(value)}, not a string")
        elif any("\ud800" <= char <= "\udfff" for char in value):
            self.say(key, "holds half a character (a lone surrogate)")
        elif filled and not value.strip():
            self.say(key, "must not be blank")
        else:
            return value
        return None

    def choice(self, key: str, choices: Sequence[str]) -> str | None:
        """One of several words; None when it is missing, null or bad."""
        value = self.value.get(key)
        if value is None or (type(value) is str and value in choices):
            return value
        self.say(key, f"is {shown(value)}, not one of {', '.join(choices)}")
        return None

    def whole(self, key: str, least: int, most: int | None = None) -> int | None:
        """A whole number within bounds; None when it is missing, null or bad."""
        value = self.value.get(key)
        if value is None:
            return None
        if type(value) is not int or value < least or (most is not None and value > most):
            bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
            self.say(key, f"is {shown(value)}, not a whole number {bounds}")
            return None
        return value

    def number(self, key: str) -> float | None:
        """A number; None when it is missing, null or bad."""
        value = self.value.get(key)
        if value is None or type(value) in (int, float):
            return value
        self.say(key, f"is {kind_of(value)}, not a number")
        return None

    def flag(self, key: str) -> bool | None:
        """true or false; None when it is missing, null or bad."""
        value = self.value.get(key)
        if value is None or type(value) is bool:
            return value
        self.say(key, f"is {kind_of(value)}, not true or false")
        return None

    def array(self, key: str) -> list[Any]:
        """An array, empty when it is missing. Null is bad."""
        value = self.value.get(key, [])
        if isinstance(value, list):
            return value
        self.say(key, f"is {kind_of(value)}, not an array")
        return []

    def texts(self, key: str) -> list[str]:
        """An array of strings."""
        found = []
        for index, value in enumerate(self.array(key)):
            if type(value) is str:
                found.append(value)
            else:
                where = f"{self.at(key)}[{index}]"
                self.problems.append(Problem(where, f"is {kind_of(value)}, not a string"))
        return found

    def members(self, key: str) -> Mapping[str, Any]:
        """An object's members, none when it is missing. Null is bad."""
        return Reader(self.problems, self.value[key], self.at(key)).value if self.has(key) else {}
