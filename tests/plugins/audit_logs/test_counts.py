"""Counts that stay bounded."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.audit_logs.counts import Counts, listed, share


@given(st.lists(st.sampled_from("abcdefgh")), st.integers(1, 10))
def test_nothing_is_lost_and_what_came_first_is_exact(keys: list[str], most: int) -> None:
    counts: Counts[str] = Counts(most)
    for key in keys:
        counts.add(key)
    first = list(dict.fromkeys(keys))[:most]
    wanted = Counter(key for key in keys if key in first)
    assert dict(counts.in_order()) == wanted
    assert counts.in_order() == sorted(wanted.items())
    assert counts.total == len(keys)
    assert counts.others == len(keys) - wanted.total()
    assert len(counts) <= most


@given(st.lists(st.sampled_from("abcd")))
def test_the_largest_come_first_and_equal_ones_by_name(keys: list[str]) -> None:
    counts: Counts[str] = Counts(10)
    for key in keys:
        counts.add(key)
    top = counts.top(10)
    assert top == sorted(top, key=lambda item: (-item[1], item[0]))
    assert counts.top(2) == top[:2]


def test_long_keys_are_cut_and_still_counted_together() -> None:
    counts: Counts[tuple[str, ...]] = Counts(1)
    for _ in range(3):
        counts.add(("x" * 10_000, "y"), 2)
    assert counts.top(5) == [(("x" * 256, "y"), 6)]


def test_numbers_in_words() -> None:
    assert share(1, 4) == 25.0
    assert share(0, 0) == 0.0
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed(["a", "b"], 2) == "a, b"
