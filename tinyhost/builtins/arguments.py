"""Reading a builtin tool's arguments: each reader checks a kind and says what is wrong.

An argument that is absent or null has its default. All readers raise ToolFailed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import ToolFailed


def refuse_unknown(args: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Refuse arguments that the tool's JSON Schema does not list: they would be lost."""
    known = parameters["properties"]
    unknown = sorted(str(name) for name in args if name not in known)
    if unknown:
        names = ", ".join(f"{name:.40}" for name in unknown[:5])
        raise ToolFailed(f"unknown argument: {names}; there are: {', '.join(known)}")


def text(args: Mapping[str, Any], name: str, default: str = "") -> str:
    """A string of whole characters."""
    value = args.get(name)
    return default if value is None else _checked(value, name)


def texts(args: Mapping[str, Any], name: str) -> list[str]:
    """A list of strings; empty by default."""
    value = args.get(name)
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise ToolFailed(f"{name} must be a list of strings")
    return [_checked(item, f"{name}[{index}]") for index, item in enumerate(value)]


def flag(args: Mapping[str, Any], name: str) -> bool:
    """True or false; false by default."""
    value = args.get(name)
    if value is None:
        return False
    if type(value) is not bool:
        raise ToolFailed(f"{name} must be true or false")
    return value


def number(args: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """A whole number from 0 to `most`."""
    value = args.get(name)
    if value is None:
        return default
    if type(value) is not int or not 0 <= value <= most:
        raise ToolFailed(f"{name} must be a whole number from 0 to {most}")
    return value


def _checked(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ToolFailed(f"{name} must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ToolFailed(f"{name} holds half of a character (a lone surrogate)") from None
    return value
