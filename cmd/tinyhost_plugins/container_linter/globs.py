"""Taking what matches a pattern off the beginning or end of a value, in bounded time."""

from __future__ import annotations

import functools

STAR, ANY = "*", "?"


def trim(value: str, pattern: str, *, from_end: bool, longest: bool) -> str:
    """As ${value#pattern} and its kin: * is any text, ? any character, a backslash quotes."""
    parts = _parts(pattern)
    if from_end:
        kept = trim_parts(value[::-1], parts[::-1], longest)
        return kept[::-1]
    return trim_parts(value, parts, longest)


def trim_parts(value: str, parts: list[tuple[str, bool]], longest: bool) -> str:
    """Take the shortest or longest beginning off that the parts match."""
    # Bit n of `ends` says that the parts up to here can match the first n characters.
    everything = (1 << (len(value) + 1)) - 1
    ends = 1
    places = functools.cache(functools.partial(_where, value))
    for char, special in parts:
        if special and char == STAR:
            ends = everything & ~((ends & -ends) - 1) if ends else 0
        else:
            ends = (ends & places(char, special)) << 1
    if not ends:
        return value
    return value[(ends if longest else ends & -ends).bit_length() - 1 :]


def _where(value: str, char: str, special: bool) -> int:
    if special:
        return (1 << len(value)) - 1
    return sum(1 << at for at, there in enumerate(value) if there == char)


def _parts(pattern: str) -> list[tuple[str, bool]]:
    """Each character, and whether it stands for others."""
    parts: list[tuple[str, bool]] = []
    chars = iter(pattern)
    for char in chars:
        if char == "\\":
            parts.append((next(chars, char), False))
        else:
            parts.append((char, char in (STAR, ANY)))
    return parts
