"""Tables of plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins._shared.table import WIDEST, cell, is_line, table


def test_columns_are_aligned_and_numbers_stand_to_the_right() -> None:
    text = table(
        ["Tool", "Calls", "Share", "Note"],
        [["bash", 12, "7.5%", "x"], ["read_file", 1200, "92.5%", None], ["ls", None, "-", "5a"]],
    )
    assert text.splitlines() == [
        "Tool       Calls  Share  Note",
        "bash          12   7.5%  x",
        "read_file   1200  92.5%",
        "ls                    -  5a",
    ]


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("-1", True),
        ("1,234.5", True),
        (2.5, True),
        ("nan", False),
        ("inf", False),
        ("1.2.3", False),
    ],
)
def test_a_column_is_one_of_numbers_when_all_its_values_are(value: object, right: bool) -> None:
    last = table(["A column"], [[value]]).splitlines()[1]
    assert last.startswith(" ") is right
    assert table(["A column"], [[value], ["word"]]).splitlines()[1] == str(value)


def test_rows_beyond_the_most_are_counted_and_how_to_see_them_is_said() -> None:
    rows = ([number] for number in range(100))
    assert table(["n"], rows, most=2, more="ask for fewer days").splitlines() == [
        "n",
        "0",
        "1",
        "98 more rows; ask for fewer days",
    ]
    assert table(["n"], [[1], [2]], most=1).splitlines() == ["n", "1", "1 more row"]
    assert table(["n"], [[1], [2]], most=2, more="never said").splitlines() == ["n", "1", "2"]
    assert len(table(["n"], [[1]] * 60).splitlines()) == 52


def test_a_table_without_rows_is_its_headers() -> None:
    assert table(["a", "b"], []) == "a  b"


@pytest.mark.parametrize("row", [["one"], ["one", "two", "three"], []])
def test_a_row_with_another_number_of_cells_is_an_error(row: list[str]) -> None:
    with pytest.raises(ValueError, match="does not have 2 cells"):
        table(["a", "b"], [["one", "two"], row])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (True, "True"),
        ("two\nlines\tand\x1b[31mred", "two\\nlines\\tand\\x1b[31mred"),
        ("left\u202eright\u2028\udc80", "left\\u202eright\\u2028\\udc80"),
        ("no\u00a0break", "no break"),
        ("日本\u3000語 👩\u200d💻", "日本 語 👩\u200d💻"),
        ("x" * WIDEST, "x" * WIDEST),
        ("x" * (WIDEST + 1), "x" * (WIDEST - 1) + "…"),
        ("\n" * 40, "\\n" * 29 + "\\…"),
        ("é漢字", "é漢字"),
    ],
)
def test_a_cell_is_one_safe_and_short_line(value: object, expected: str) -> None:
    assert cell(value) == expected


@pytest.mark.parametrize(
    "text", ["", "a b", "日本\u3000語", "a\u00a0b", "👩\u200d💻", "\u0645\u06cc\u200c\u062e"]
)
def test_blanks_and_joiners_of_ordinary_texts_may_stand_in_a_line(text: str) -> None:
    assert is_line(text)


@pytest.mark.parametrize(
    "text", ["a\nb", "\t", "\x1b", "\u2028", "\u202e", "\ufeff", "\udc80", "\x85"]
)
def test_breaks_and_what_steers_may_not(text: str) -> None:
    assert not is_line(text)


@given(st.lists(st.lists(st.text(), min_size=3, max_size=3), max_size=8), st.integers(0, 9))
def test_every_row_is_one_printable_line(rows: list[list[str]], most: int) -> None:
    lines = table(["a", "b", "c"], rows, most=most).split("\n")
    assert len(lines) == 1 + min(most, len(rows)) + (len(rows) > most)
    assert all(map(is_line, lines))
    assert all(line.replace("\u200c", "").replace("\u200d", "").isprintable() for line in lines)
    assert all(len(line) <= 3 * WIDEST + 4 for line in lines)
