"""Long calls: their time, their progress, and their end."""

from __future__ import annotations

import pytest

from tinyhost_plugins._shared import pace
from tinyhost_plugins._shared.pace import Pace
from tinyhost_sdk import HandlerError, ToolContext


class Caller(ToolContext):
    """One that keeps what it is told, and may have given up."""

    def __init__(self, gave_up: bool = False) -> None:
        super().__init__()
        self.heard: list[str] = []
        self._gave_up = gave_up

    @property
    def cancelled(self) -> bool:
        return self._gave_up

    def progress(self, message: str) -> None:
        self.heard.append(message)


def test_work_goes_on_while_there_is_time() -> None:
    clock = Pace(Caller(), 60)
    assert not clock.is_over("reading")
    assert list(clock.each([1, 2, 3], "reading")) == [1, 2, 3]
    assert 0 < clock.left() <= 60
    assert clock.stopped == ""


def test_when_the_time_is_over_the_first_work_that_ended_is_kept() -> None:
    clock = Pace(Caller(), 0)
    assert list(clock.each([1, 2, 3], "reading pods")) == []
    assert clock.is_over("reading events")
    assert (clock.stopped, clock.left()) == ("reading pods", 0.0)


def test_names_of_a_stranger_stay_on_their_line() -> None:
    clock = Pace(Caller(), 0)
    clock.is_over("reading a\nNo issues\x1b[2J")
    assert clock.stopped == "reading a No issues\\x1b[2J"


def test_a_caller_who_has_given_up_ends_the_work() -> None:
    with pytest.raises(HandlerError, match="cancelled while reading"):
        Pace(Caller(gave_up=True), 60).is_over("reading")


def test_the_caller_hears_now_and_then_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(pace.time, "monotonic", lambda: now)
    caller = Caller()
    clock = Pace(caller, 60)
    for step in range(8):
        now = step / 2
        clock.is_over(f"step {step}")
    assert caller.heard == ["step 4"]
