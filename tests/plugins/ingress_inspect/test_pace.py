"""The time of a call."""

from __future__ import annotations

import itertools

import pytest

from tinyhost_plugins.ingress_inspect import pace


def test_lines_without_an_end_are_read_only_as_long_as_a_call_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = itertools.count()
    monkeypatch.setattr(pace.time, "monotonic", lambda: next(clock))
    lines = pace.Pace(5).paced(itertools.repeat("x"))
    with pytest.raises(pace.TooSlow, match="more than 5 seconds; raise the plugin's option"):
        for _line in itertools.islice(lines, 10**6):
            pass


def test_lines_come_through_unchanged() -> None:
    assert list(pace.Pace(60).paced([b"a", b"b"])) == [b"a", b"b"]
