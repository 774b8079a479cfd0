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


@given(st.text(max_size=60), st.integers(1, 100), st.text(max_size=300), st.integers(80, 600))
def test_what_was_found_is_in_the_part_that_is_shown(
    part: str, times: int, after: str, most: int
) -> None:
    before = part * times
    shown = texts.around(f"{before}f\no\x00und{after}", (len(before), len(before) + 7), most)
    assert len(shown) <= most
    assert shown.isprintable()
    assert "f o\\x00und" in shown


def test_a_match_far_behind_is_shown_after_the_beginning_of_its_text() -> None:
    value = "Mar 01 10:00:00 cp-0 " + "x" * 900 + " found it " + "y" * 900
    start = value.index("found it")
    shown = texts.around(value, (start, start + 8), 300)
    assert len(shown) <= 300
    assert shown.startswith("Mar 01 10:00:00 cp-0 xxx")
    assert "x … x" in shown
    assert "x found it y" in shown
    assert shown.endswith("y…")
    assert texts.around(value, (22, 30), 300) == texts.line(value, 300)


def test_of_a_long_match_the_end_is_shown_when_it_begins_with_the_text() -> None:
    value = "a" * 400 + "b" * 400 + "c" * 400
    assert "ab" not in texts.around(value, (0, 800), 100)
    assert "bc" in texts.around(value, (0, 800), 100)
    assert "ab" in texts.around(value, (400, 1200), 100)


def test_blanks_and_escapes_before_a_match_do_not_hide_it() -> None:
    for before in (" " * 5000, "\x1b" * 300, "\U0010ffff" * 99):
        value = f"{before}found"
        span = (len(before), len(value))
        assert texts.around(value, span, 100).endswith("found")
