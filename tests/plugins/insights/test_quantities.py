"""Kubernetes quantities."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.insights.quantities import in_bytes, parse, size


@pytest.mark.parametrize(
    ("given", "value"),
    [
        *(("0", 0), ("1024", 1024), (1024, 1024), ("16409932Ki", 16409932 * 1024)),
        *(("512Mi", 512 * 2**20), ("1Gi", 2**30), ("1.5Gi", 3 * 2**29), ("2Ti", 2**41)),
        *(("1Pi", 2**50), ("1Ei", 2**60), ("500M", 500 * 10**6), ("1G", 10**9), ("1k", 1000)),
        *(("2T", 2 * 10**12), ("1P", 10**15), ("1E", 10**18), ("1e9", 10**9), ("1E3", 1000)),
        *(("100m", 1), ("1500m", 2), ("1u", 1), ("+5", 5), (" 5 ", 5), (".5Ki", 512), (1.5, 2)),
    ],
)
def test_a_quantity_is_whole_bytes_rounded_up(given: object, value: int) -> None:
    assert in_bytes(given) == value


@pytest.mark.parametrize(
    "given",
    [
        *("", "Mi", "abc", "1 Gi", "1GiB", "1Kii", "-1", "1e", "1mm", "NaN", "inf", "1_000"),
        *("9e99", "1" * 65, "\uff11", None, True, [], {}, float("inf"), "0x10"),
    ],
)
def test_what_is_no_quantity_is_none(given: object) -> None:
    assert parse(given) is None


@given(st.integers(0, 10**15), st.sampled_from(["", "k", "M", "Ki", "Mi"]))
def test_whole_numbers_keep_their_value(number: int, suffix: str) -> None:
    factor = {"": 1, "k": 10**3, "M": 10**6, "Ki": 2**10, "Mi": 2**20}[suffix]
    value = number * factor
    assert parse(f"{number}{suffix}") == (Decimal(value) if value < 2**63 else None)


@given(st.text(alphabet="0123456789.+-eEkKMGTPinum ", max_size=12))
def test_no_text_makes_it_fail(text: str) -> None:
    value = parse(text)
    assert value is None or 0 <= value < 2**63


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "-"), (0, "0"), (1023, "1023"), (2**29, "512Mi"), (3 * 2**29, "1.5Gi"), (2**50, "1Pi")],
)
def test_sizes_are_written_short(count: int | None, text: str) -> None:
    assert size(count) == text
