"""Patterns: what they match, and which are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.pace import Pace
from tinyhost_plugins.etcd_diag.patterns import find, is_expression
from tinyhost_sdk import HandlerError, ToolContext

KEYS = ["/registry/pods/shop/web-1", "/registry/events/shop/web-22", "/pods/web-1[x]"]


def found(pattern: str, keys: list[str] = KEYS, seconds: float = 60) -> list[str]:
    return [key for key, _span in find(pattern, keys, str, Pace(ToolContext(), seconds))]


@pytest.mark.parametrize(
    ("pattern", "number"),
    [
        *(("/pods/", 2), (r"^/registry/.*/web-\d+$", 2), ("(pods|events)/shop", 2)),
        *(("web-[0-9]{2,3}", 1), (r"(\d)\1", 1), ("(?i)PODS", 2), ("web-.$", 1), ("none", 0)),
    ],
)
def test_an_expression_finds_what_it_matches(pattern: str, number: int) -> None:
    assert is_expression(pattern)
    assert len(found(pattern)) == number


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)" * 30 + "$", "(a|)" * 25 + "$", ".*.*.*" + ".?" * 8 + "!"]
)
def test_a_search_that_would_take_for_ever_is_ended(pattern: str) -> None:
    with pytest.raises(HandlerError, match=r"the search took longer than 0\.1 seconds"):
        found(pattern, ["a" * 400 + "b"], 0.1)


@pytest.mark.parametrize("pattern", ["x" * 201, ""])
def test_no_pattern_and_one_that_is_too_long_are_refused(pattern: str) -> None:
    with pytest.raises(HandlerError):
        found(pattern)


def test_what_does_not_compile_is_looked_for_as_it_is() -> None:
    assert not is_expression("web-1[")
    assert found("web-1[") == ["/pods/web-1[x]"]


@pytest.mark.parametrize("pattern", ["web-1[", "web-1", r"web-1\[?"])
def test_the_place_of_the_match_is_told(pattern: str) -> None:
    spans = [span for _key, span in find(pattern, KEYS, str, Pace(ToolContext(), 60))]
    assert spans[-1] == (6, 12 if "[" in pattern else 11)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30), st.text(max_size=60))
def test_any_text_is_taken_or_refused(pattern: str, key: str) -> None:
    if pattern:
        assert found(pattern, [key]) in ([], [key])
