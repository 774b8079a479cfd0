"""Durations as Go programs write them."""

from __future__ import annotations

import re

_UNITS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}
_PART = r"\d{1,18}(?:\.\d{1,18})?(?:ns|us|µs|μs|ms|s|m|h)"
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"(?:{_PART}){{1,4}}")
# Where a line of text has one: "(12ms)", "took 1.2s", "sync duration of 1s", "[104ms for 1 entries]".
_WITHIN = re.compile(rf"(?:[(\[]|took |duration of )((?:{_PART}){{1,4}})(?![\w.])")


def milliseconds(value: object) -> float | None:
    """A duration such as "1m2.5s" in milliseconds. A number is taken as seconds; None for others."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value * 1e3 if 0 <= value < 1e9 else None
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(value))
    return None


def within(line: str) -> float | None:
    """The first duration in a line of text that stands where etcd puts one, in milliseconds."""
    found = _WITHIN.search(line)
    return milliseconds(found[1]) if found else None
