"""Looking for a pattern in a process that can be ended."""

from __future__ import annotations

import selectors

import pytest

from tinyhost_plugins._shared import matching
from tinyhost_plugins._shared.matching import Matcher, check
from tinyhost_plugins._shared.pace import Pace
from tinyhost_sdk import HandlerError, ToolContext

# Takes longer than the universe lasts, where nothing ends it.
CATASTROPHE = "(a+)+$"


def test_a_search_goes_through_batches_in_order_and_leaves_no_process() -> None:
    lines = [f"line {number} \u2028 \ud800" for number in range(5000)]
    with Matcher("7 ", "pattern", Pace(ToolContext(), 60)) as matcher:
        found = list(matcher.select(lines, str))
        assert list(matcher.select([], str)) == []
        assert list(matcher.select(["x7 "], str)) == ["x7 "]
    assert found == [text for text in lines if "7 " in text]
    assert matcher._process.returncode is not None


def test_a_search_ends_when_the_caller_gives_up() -> None:
    class GivenUp(ToolContext):
        cancelled = True

    with (
        Matcher(CATASTROPHE, "pattern", Pace(GivenUp(), 60)) as matcher,
        pytest.raises(HandlerError, match="cancelled while looking for the pattern"),
    ):
        list(matcher.select(["a" * 60 + "!"], str))


def test_an_answer_that_is_there_counts_when_this_process_stood_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class StoodStill(selectors.DefaultSelector):
        """Finds nothing at first; when it looks again, the time is over and the answer there."""

        looked = False

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            if self.looked:
                return super().select(20)
            self.looked = True
            monkeypatch.setattr(matching.time, "monotonic", lambda: 1e9)
            return []

    with Matcher("x", "pattern", Pace(ToolContext(), 60)) as matcher:
        monkeypatch.setattr(matching.selectors, "DefaultSelector", StoodStill)
        assert list(matcher.select(["x"], str)) == ["x"]


def test_a_search_that_cannot_begin_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/none/python")
    with pytest.raises(HandlerError, match="pattern: no process to search with: No such file"):
        Matcher("x", "pattern", Pace(ToolContext(), 60))


def test_a_search_whose_process_has_died_is_an_error() -> None:
    with Matcher("x", "pattern", Pace(ToolContext(), 60)) as matcher:
        matcher._process.kill()
        matcher._process.wait()
        with pytest.raises(HandlerError, match="ended unexpectedly"):
            list(matcher.select(["x"], str))


def test_the_place_of_the_first_match_in_each_line_is_told() -> None:
    lines = ["none", "an é and an e, ee", "e"]
    with Matcher("e+", "pattern", Pace(ToolContext(), 60)) as matcher:
        found = list(matcher.find(lines, str))
    assert found == [("none", (3, 4)), (lines[1], (12, 13)), ("e", (0, 1))]


def test_a_pattern_that_is_not_valid_or_too_long_is_an_error() -> None:
    for pattern, said in (("(", "x is no valid regular expression"), ("a" * 501, "x is longer")):
        with pytest.raises(HandlerError, match=said):
            check(pattern, "x")
