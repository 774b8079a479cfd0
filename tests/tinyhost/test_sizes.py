from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.sizes import LARGEST, format_size, parse_size


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("1", 1),
        ("1B", 1),
        ("64kB", 64_000),
        ("64KiB", 65_536),
        ("512MiB", 536_870_912),
        ("1.5GiB", 1_610_612_736),
        ("1.5GB", 1_500_000_000),
        ("1TiB", 2**40),
        ("2TB", 2 * 10**12),
        (" 8MiB ", 8 * 2**20),
        ("1.9B", 1),
        (4096, 4096),
    ],
)
def test_a_size_is_read_in_bytes(written: object, size: int) -> None:
    assert parse_size(written) == size


@pytest.mark.parametrize(
    "written",
    [
        *("", "MiB", "-1MiB", "1 MiB", "1mib", "1M", "1K", "1e3", "٣MiB", "1.", ".5GiB"),
        *("unlimited", 1.5, float("nan"), True, None, [], {}),
    ],
)
def test_anything_else_is_refused_with_the_forms(written: object) -> None:
    with pytest.raises(ValueError, match='"512MiB"'):
        parse_size(written)


@pytest.mark.parametrize("written", [0, "0MiB", "0.5B", -1, "1025TiB", LARGEST + 1, 10**400])
def test_a_size_out_of_bounds_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="between 1B and 1024TiB"):
        parse_size(written)


@given(st.text() | st.integers() | st.floats())
def test_a_size_is_in_bounds_or_a_value_error(written: object) -> None:
    try:
        size = parse_size(written)
    except ValueError:
        return
    assert type(size) is int
    assert 1 <= size <= LARGEST


@given(st.integers(1, LARGEST))
def test_a_size_is_written_as_it_is_read(size: int) -> None:
    assert parse_size(format_size(size)) == size


@given(st.integers(1, 999), st.sampled_from(["KiB", "MiB", "GiB", "TiB"]))
def test_a_whole_number_of_units_is_written_in_them(number: int, unit: str) -> None:
    assert format_size(parse_size(f"{number}{unit}")) == f"{number}{unit}"
