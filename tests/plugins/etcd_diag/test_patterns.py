"""Patterns: what they match, and which are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.etcd_diag.patterns import matcher
from tinyhost_sdk import HandlerError


@pytest.mark.parametrize(
    "pattern",
    [
        "/pods/",
        r"^/registry/.*/web-\d+$",
        "(pods|events)/shop",
        "web-[0-9]{1,3}",
        r"a\+\)*",
        "[)*]+b",
    ],
)
def test_a_plain_expression_is_taken(pattern: str) -> None:
    assert matcher(pattern)[1]


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+$", "(a|a)*b", "(?:a*)*", "(a){2,}", ".*.*.*.*x", "a?" * 9, r"(a)\1", "(?=a)b"),
        *("x" * 201, ""),
    ],
)
def test_an_expression_that_may_take_long_is_refused(pattern: str) -> None:
    with pytest.raises(HandlerError):
        matcher(pattern)


def test_what_does_not_compile_is_looked_for_as_it_is() -> None:
    matches, is_expression = matcher("web-1[")
    assert not is_expression
    assert matches("/pods/web-1[x]")
    assert not matches("/pods/web-1")


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_text_is_taken_or_refused(pattern: str, key: str) -> None:
    try:
        matches, _ = matcher(pattern)
    except HandlerError:
        return
    assert matches(key) in (True, False)
