"""HAProxy's times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ingress_inspect.durations import is_longer, microseconds, say


@pytest.mark.parametrize(
    ("text", "long"),
    [
        *(("30s", False), ("5m", False), ("6m", True), ("300000", False), ("300001", True)),
        *(("10m", True), ("", False), ("1h", True), ("1d", True), ("300000ms", False)),
        *(("300000001us", True), ("300000000us", False), ("301s", True), ("1h30m", False)),
        *(("never", False), ("-5m", False), ("5 m", False), ("\u0665m", False), ("6M", False)),
    ],
)
def test_a_time_above_five_minutes_is_long_and_what_is_no_time_is_not(
    text: str, long: bool
) -> None:
    assert is_longer(text, 300) is long


@given(
    st.integers(0, 10**15),
    st.sampled_from([("", 1000), ("us", 1), ("ms", 1000), ("s", 10**6), ("d", 864 * 10**8)]),
)
def test_every_unit_has_its_length(number: int, unit: tuple[str, int]) -> None:
    assert microseconds(f"{number}{unit[0]}") == number * unit[1]


@given(st.text(max_size=30))
def test_no_text_makes_it_fail(text: str) -> None:
    value = microseconds(text)
    assert value is None or value >= 0


def test_times_are_said_in_the_largest_unit_that_fits() -> None:
    assert [say(n) for n in (1, 90, 300, 60, 3600, 7200)] == [
        *("1 second", "90 seconds", "5 minutes", "1 minute", "1 hour", "2 hours"),
    ]
