"""Restart bookkeeping, with numbers instead of a clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.supervise import BACKOFF_MAX, Supervisor


def test_the_waits_between_starts_grow_to_the_maximum() -> None:
    supervisor = Supervisor()
    now, waits = 0.0, []
    for _ in range(8):
        supervisor.record_death(now)
        waits.append(supervisor.wait(now))
        now += 50  # far enough apart for the breaker, close enough for the backoff
    assert waits == [0, 1, 2, 4, 8, 16, BACKOFF_MAX, BACKOFF_MAX]
    assert not supervisor.failed


def test_the_wait_passes_with_time() -> None:
    supervisor = Supervisor()
    supervisor.record_death(100)
    supervisor.record_death(100)
    assert supervisor.wait(100.25) == 0.75
    assert supervisor.wait(102) == 0


@pytest.mark.parametrize(("gap", "failed"), [(15.0, True), (15.1, False)])
def test_the_fifth_death_within_sixty_seconds_is_one_too_many(gap: float, failed: bool) -> None:
    supervisor = Supervisor()
    for death in range(5):
        assert not supervisor.failed
        supervisor.record_death(death * gap)
    assert supervisor.failed is failed


def test_a_long_healthy_time_is_a_new_beginning() -> None:
    supervisor = Supervisor()
    for now in (0, 1, 2):
        supervisor.record_death(now)
    supervisor.record_death(100)
    assert supervisor.wait(100) == 0


def test_a_reset_forgets_everything() -> None:
    supervisor = Supervisor()
    for _ in range(5):
        supervisor.record_death(1)
    supervisor.reset()
    assert not supervisor.failed
    assert supervisor.wait(1) == 0
    assert supervisor.recent_deaths(1) == 0


@given(st.lists(st.floats(0, 200), max_size=30))
def test_failed_means_five_deaths_within_a_minute(gaps: list[float]) -> None:
    supervisor = Supervisor()
    now, deaths = 0.0, []
    for gap in gaps:
        now += gap
        deaths.append(now)
        supervisor.record_death(now)
    expected = any(deaths[i + 4] - deaths[i] <= 60 for i in range(len(deaths) - 4))
    assert supervisor.failed is expected
