from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.durations import parse_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("500ms", 0.5),
        ("1ms", 0.001),
        ("30s", 30.0),
        ("2m", 120.0),
        ("1h", 3600.0),
        ("24h", 86400.0),
        ("1.5s", 1.5),
        ("30", 30.0),
        (" 5s ", 5.0),
        (30, 30.0),
        (0.25, 0.25),
    ],
)
def test_a_duration_is_read_in_seconds(written: object, seconds: float) -> None:
    assert parse_duration(written) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "s",
        "-1s",
        "+1s",
        "1 s",
        "1d",
        "1S",
        "1e3",
        "٣s",
        "1.s",
        ".5s",
        "nan",
        True,
        None,
        [],
        {},
    ],
)
def test_anything_else_is_refused_with_the_forms(written: object) -> None:
    with pytest.raises(ValueError, match='"500ms"'):
        parse_duration(written)


@pytest.mark.parametrize("written", [0, "0s", -1, "25h", 10**400, float("nan"), float("inf")])
def test_a_duration_out_of_bounds_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="between 1ms and 24h"):
        parse_duration(written)


@given(st.text() | st.integers() | st.floats())
def test_a_duration_is_in_bounds_or_a_value_error(written: object) -> None:
    try:
        seconds = parse_duration(written)
    except ValueError:
        return
    assert 0.001 <= seconds <= 86400
