"""How counts, sizes and foreign texts are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins._shared import texts


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        *((0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB")),
        *((1024**2 - 1, "1.0 MiB"), (5 * 1024**2, "5.0 MiB"), (2 << 30, "2.0 GiB")),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_sizes_have_one_decimal(count: int, shown: str) -> None:
    assert texts.size(count) == shown


def test_counts_have_their_noun() -> None:
    assert texts.counted(1, "key") == "1 key"
    assert texts.counted(1234, "key") == "1,234 keys"
    assert texts.counted(0, "entry", "entries") == "0 entries"
    assert texts.counted(2000, "event") == "2,000 events"


@given(st.text(), st.integers(1, 300))
def test_a_foreign_text_is_one_line_of_bounded_length(value: str, most: int) -> None:
    shown = texts.line(value, most)
    assert len(shown) <= most
    assert shown.isprintable()


def test_blanks_and_line_breaks_become_single_blanks() -> None:
    assert texts.line(" a\n\tb  c ") == "a b c"
    assert texts.line("a " * 300, 10) == "a a a a a…"
