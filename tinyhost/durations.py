"""Spans of time as people write them: "500ms", "30s", "2m", "1h", or a number of seconds."""

from __future__ import annotations

import re

SHORTEST = 0.001
LONGEST = 86400.0
PATTERN = r"[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h)?"

_DURATION = re.compile(r"(?P<number>[0-9]{1,9}(\.[0-9]{1,9})?)(?P<unit>ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


def parse_duration(value: object) -> float:
    """Return the span in seconds, between 1 ms and 24 h; a plain number counts seconds.

    Raises ValueError with a text for the person who wrote the value.
    """
    seconds = _seconds(value)
    if not SHORTEST <= seconds <= LONGEST:
        raise ValueError("a duration must be between 1ms and 24h")
    return seconds


def _seconds(value: object) -> float:
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        if match:
            return float(match["number"]) * _SECONDS[match["unit"]]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return float("inf")
    raise ValueError('a duration is written as "500ms", "30s", "2m", "1h" or a number of seconds')
