"""Reading what a client sent: each member checked, and a clear word on what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidCall

_MISSING: Any = object()


class Params:
    """The members of an object. All methods raise InvalidCall for what has the wrong form.

    Null counts as absent.
    """

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def _get(self, name: str, default: Any) -> Any:
        value = self._members.get(name)
        if value is None:
            if default is _MISSING:
                raise InvalidCall(f"{name} is missing")
            return default
        return value

    def text(self, name: str, default: str = _MISSING) -> str:
        """A string."""
        value = self._get(name, default)
        if not isinstance(value, str):
            raise InvalidCall(f"{name} must be a string")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self._get(name, default)
        if not isinstance(value, bool):
            raise InvalidCall(f"{name} must be true or false")
        return value

    def number(self, name: str, default: int = _MISSING) -> int:
        """A whole number, 0 or more."""
        value = self._get(name, default)
        if type(value) is not int or value < 0:
            raise InvalidCall(f"{name} must be a whole number, 0 or more")
        return value

    def texts(self, name: str) -> list[str] | None:
        """A list of strings; None when it is absent."""
        value = self._get(name, None)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidCall(f"{name} must be a list of strings")
        return value

    def mapping(self, name: str) -> dict[str, Any] | None:
        """An object; None when it is absent."""
        value = self._get(name, None)
        if value is not None and not isinstance(value, dict):
            raise InvalidCall(f"{name} must be an object")
        return value

    def strings(self, name: str) -> dict[str, str] | None:
        """An object whose values are strings, such as variables; None when it is absent."""
        value = self.mapping(name)
        if value is not None and not all(isinstance(item, str) for item in value.values()):
            raise InvalidCall(f"the values in {name} must be strings")
        return value

    def value(self, name: str) -> Any:
        """Anything; None when it is absent."""
        return self._members.get(name)
