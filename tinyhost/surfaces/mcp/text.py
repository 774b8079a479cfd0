"""Texts that every encoder takes."""

from __future__ import annotations

from typing import Any


def sound(value: Any) -> Any:
    """A JSON value whose texts have no lone surrogates, which UTF-8 has no bytes for."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {sound(key): sound(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sound(item) for item in value]
    return value
