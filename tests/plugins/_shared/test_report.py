"""Answers that are bounded and say how to see more."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tinyhost_plugins._shared.report import (
    CHARACTERS,
    MORE_CHARACTERS,
    MOST_ROWS,
    Report,
    View,
    named,
    view_of,
)
from tinyhost_sdk import HandlerError

MORE = "call again with limit (up to 1000)"


def test_a_call_that_asks_for_more_rows_gets_more_text_too() -> None:
    assert view_of(0, 50) == View(50, CHARACTERS)
    assert view_of(1, 50) == View(1, MORE_CHARACTERS)
    for wrong in (-1, MOST_ROWS + 1):
        with pytest.raises(HandlerError, match=f"limit has to be from 0 to 1000, not {wrong}"):
            view_of(wrong, 50)


def test_an_answer_has_its_parts_in_order() -> None:
    report = Report(View(5), "2 nodes")
    report.add("")
    report.table(("NAME", "CPU"), [("a", 1), ("b", 20)])
    report.section("Reasons")
    report.list(["x", "y"])
    assert report.text() == "2 nodes\n\nNAME  CPU\na       1\nb      20\n\nReasons\nx\ny"


def test_rows_that_are_not_shown_are_counted() -> None:
    report = Report(View(1), "many")
    report.table(("NAME",), [("a",), ("b",)])
    report.list(["x", "y", "z"])
    assert report.text().split("\n") == [
        *("many", "NAME", "a", f"1 more row; {MORE}"),
        *("x", f"2 more; {MORE}"),
    ]


def test_what_was_gathered_adds_no_lines() -> None:
    report = Report(View(5), "a\nb")
    report.add("c\r\nd")
    report.list(["\x1b[2J"])
    assert report.text() == "a\\nb\nc\\r\\nd\n\\x1b[2J"


def test_an_ending_adds_no_lines_of_a_stranger() -> None:
    class Strange(Report):
        def ending(self) -> Iterable[str]:
            yield "Not read: a\nNo issues"

    assert Strange(View(5), "x").text() == "x\nNot read: a\\nNo issues"


def test_a_plugin_with_long_names_may_have_wide_cells() -> None:
    class Wide(Report):
        widest = 70

    name, report = "n" * 70, Wide(View(5), "x")
    report.table(("NAME",), [(name,), (name + "n",)])
    assert report.text().split("\n")[2:] == [name, "n" * 69 + "…"]


class Ending(Report):
    instead = "ask for less, or "

    def ending(self) -> Iterable[str]:
        yield "Not read: x"


def test_a_long_answer_is_cut_between_lines_and_keeps_its_ending() -> None:
    report = Ending(View(10, 20), "first")
    for number in range(9):
        report.add(f"line {number}")
    assert report.text().split("\n") == [
        *("first", "line 0", "line 1"),
        f"... 7 more lines; ask for less, or {MORE}",
        "Not read: x",
    ]


def test_rows_that_are_not_shown_count_also_where_an_answer_is_cut() -> None:
    report = Report(View(5, 20), "first")
    report.list([f"line {number}" for number in range(100)])
    report.table(("NAME",), [(f"n{number}",) for number in range(50)])
    # Of the list 98, a header, and the 50 rows of the table.
    assert report.text().split("\n") == ["first", "line 0", "line 1", f"... 149 more lines; {MORE}"]


def test_nobody_is_told_to_ask_for_more_than_there_can_be() -> None:
    report = Ending(View(MOST_ROWS, 10), "first")
    report.add("a line that is too long")
    assert "... 1 more lines; that is as much as a call shows\n" in report.text()


def test_files_are_named_with_reasons_the_first_ones_by_name() -> None:
    assert named({}) == ""
    assert named({"b": "large", "a": "no\nJSON"}) == "a (no JSON), b (large)"
    files = {f"f{number}": "x" for number in range(7)}
    assert named(files).endswith("f4 (x) and 2 more")
    assert named(files, 300).endswith("f4 (x) and 295 more")
