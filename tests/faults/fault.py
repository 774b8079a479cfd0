"""One row of the fault matrix: a fault, what must come of it, and how soon."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from tinyhost import PluginDied


@attrs.frozen
class Bound:
    """How soon a fault must be dealt with: in words, and in seconds before any slack."""

    words: str
    seconds: float


# Deadlines are 60 s unless a row says otherwise, so that "at once" is far from any of them.
AT_ONCE = Bound("at once", 0)
DEATH = Bound("1 s", 1)
CLOSED = Bound("0.5 s + 1 s", 1.5)
DEADLINE = Bound("the deadline", 1)
CAP = Bound("the cap of progress", 2)
WEDGED = Bound("three deadlines", 3)
GRACES = Bound("the graces + 1 s", 1.6)
SHORT: Mapping[str, Any] = {"timeouts": {"tool": "1s", "hook": "1s", "handshake": "1s"}}
SMALL_LINES: Mapping[str, Any] = {"maxLineBytes": 65536}

LIVES = "it lives on"
RESTARTS = "the next call starts it again"
LOADS = "nothing is left, and it can be loaded again"
ENDS = "nothing is left"


@attrs.frozen
class Answers:
    """The call is answered; content None means that any will do."""

    content: str | None = "ok"

    def __str__(self) -> str:
        return "answered" if self.content == "ok" else "answered, with the text as it was"


@attrs.frozen
class Fails:
    """The call, or the load, raises this error, and its text matches."""

    error: type[Exception]
    match: str
    words: str = ""

    def check(self, error: Exception) -> None:
        """Raises AssertionError when it is not that error."""
        assert type(error) is self.error or self.error is PluginDied, repr(error)
        assert re.search(self.match, str(error)), str(error)

    def __str__(self) -> str:
        return f"`{self.error.__name__}`: {self.words or self.match}"


@attrs.frozen
class Stops:
    """The plugin is unloaded, and no error comes of it."""

    def __str__(self) -> str:
        return "stopped"


@attrs.frozen
class Row:
    """One fault.

    switches: of the rogue plugin, by moment. act: "load", "tool", "hook", "stop" or "guard".
    then: what holds afterwards. counts: counters, each with the least that it must show.
    calls: how often the call is made, one after the other; each ends as expected.
    """

    fault: str
    switches: Mapping[str, Any]
    expect: Answers | Fails | Stops
    then: str = LIVES
    bound: Bound = AT_ONCE
    act: str = "tool"
    counts: Mapping[str, int] = attrs.field(factory=dict)
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    calls: int = 1
    args: Any = None

    @property
    def outcome(self) -> str:
        """What comes of it, in words."""
        counted = ", counted" if self.counts else ""
        return f"{self.expect}{counted}; {self.then}"
