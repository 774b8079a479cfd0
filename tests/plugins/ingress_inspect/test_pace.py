"""The time of a call."""

from __future__ import annotations

import itertools

import pytest

from tinyhost_plugins._shared import pace as clocks
from tinyhost_plugins.ingress_inspect import pace
from tinyhost_sdk import ToolContext


def test_lines_without_an_end_are_read_only_as_long_as_a_call_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = itertools.count()
    monkeypatch.setattr(clocks.time, "monotonic", lambda: next(clock))
    lines = pace.Pace(ToolContext(), 5).paced(itertools.repeat("x"), "reading")
    with pytest.raises(pace.TooSlow, match="more than 5 seconds; raise the plugin's option"):
        for _line in itertools.islice(lines, 10**6):
            pass


def test_lines_come_through_unchanged() -> None:
    assert list(pace.Pace(ToolContext(), 60).paced([b"a", b"b"], "reading")) == [b"a", b"b"]
