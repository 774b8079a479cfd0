"""Ranges of user ids that overlap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins._shared.report import View
from tinyhost_plugins.insights import namespaces
from tinyhost_plugins.insights.loading import Loaded
from tinyhost_plugins.insights.namespaces import Range, overlapping, parse_range

LoadFiles = Callable[[dict[str, Any]], Loaded]
VIEW = View(50, 28_000)


def space(name: str, ids: str | None) -> dict[str, Any]:
    notes = {} if ids is None else {"openshift.io/sa.scc.uid-range": ids}
    return {"metadata": {"name": name, "annotations": notes}}


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [("1000/10", 1000, 1009), ("1000-1010", 1000, 1010), (" 5/1 ", 5, 5), ("7-7", 7, 7)],
)
def test_both_forms_of_a_range_are_read(given: str, first: int, last: int) -> None:
    found = parse_range("a", given)
    assert found is not None
    assert (found.first, found.last) == (first, last)


@pytest.mark.parametrize(
    "given", ["", "x", "1", "1/0", "1/-5", "-1/5", "5-4", "1/2/3", "1/", "/1", "1/ 2", "1" * 50]
)
def test_what_is_no_range_is_none(given: str) -> None:
    assert parse_range("a", given) is None


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12))
def test_groups_hold_exactly_the_ranges_that_overlap_another(pairs: list[tuple[int, int]]) -> None:
    ranges = [Range(a, a + n - 1, str(i), "") for i, (a, n) in enumerate(pairs)]
    groups = overlapping(ranges)
    grouped = {found.namespace for group in groups for found in group}
    together = [
        (a, b) for a, b in combinations(ranges, 2) if a.first <= b.last and b.first <= a.last
    ]
    assert grouped == {found.namespace for pair in together for found in pair}
    home = {found.namespace: number for number, group in enumerate(groups) for found in group}
    assert all(home[a.namespace] == home[b.namespace] for a, b in together)


def test_the_groups_that_the_operator_has_found_are_shown(loaded: LoadFiles) -> None:
    files = {namespaces.COMPUTED: [["b", "a"], [], "odd", ["d", 1, "c"]]}
    said = namespaces.answer(loaded(files), VIEW)
    assert said.startswith("4 namespaces have overlapping UID ranges, in 2 groups\n")
    assert "- a, b\n- c, d\n" in said


def test_ranges_of_namespaces_are_compared(loaded: LoadFiles) -> None:
    items = [space("a", "1000/100"), space("b", "1050-1060"), space("c", "2000/10")]
    items += [space("d", None), space("e", "many")]
    said = namespaces.answer(loaded({"config/namespaces.json": {"items": items}}), VIEW)
    assert said.startswith("2 namespaces have overlapping UID ranges, in 1 group\n")
    assert "- a 1000/100, b 1050-1060\n" in said
    assert "without the annotation: 1 namespace" in said
    assert "with one that is no range: e many" in said


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({namespaces.COMPUTED: []}, "No namespaces have overlapping UID ranges."),
        ({namespaces.COMPUTED: None}, "No namespaces have overlapping UID ranges."),
        ({"config/id": "x"}, "This archive says nothing about UID ranges"),
        ({namespaces.COMPUTED: "[["}, "This archive says nothing about UID ranges"),
    ],
)
def test_no_overlap_and_no_knowledge_are_told_apart(
    loaded: LoadFiles, files: dict[str, Any], said: str
) -> None:
    assert namespaces.answer(loaded({"config/id": "1"} | files), VIEW).startswith(said)
