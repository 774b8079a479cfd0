"""Arguments are checked for what the schemas say, and a bit more."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.pilot.arguments import ArgumentError, checked, labels_of
from tinyhost_plugins.pilot.schemas import COMMENT, CREATE, LIST, TOOLS, UPDATE

SCHEMAS = {name: schema for name, _, schema in TOOLS}
REPO = {"owner": "o", "repo": "r"}


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        (LIST, {"owner": "o"}, "repo is missing"),
        (LIST, {"owner": None, "repo": " "}, "owner is missing; repo is empty"),
        (LIST, {**REPO, "state": "opened"}, "state has to be one of open, closed, all"),
        (LIST, {**REPO, "page": 0}, "page has to be a whole number from 1 on"),
        (LIST, {**REPO, "page": -1}, "page has to be a whole number from 1 on"),
        (LIST, {**REPO, "per_page": 101}, "per_page has to be a whole number from 1 to 100"),
        (LIST, {**REPO, "labels": ["a"]}, "labels has to be text"),
        (LIST, {**REPO, "limit": 5}, "there is no limit, there are owner, repo, state, labels"),
        (CREATE, {**REPO, "title": ""}, "title is empty"),
        (CREATE, {**REPO, "title": "x" * 1025}, "title has 1025 characters, more than 1024"),
        (CREATE, {**REPO, "title": "x", "labels": "a"}, "labels has to be a list"),
        (CREATE, {**REPO, "title": "x", "labels": ["a", 1]}, "labels [1] has to be text"),
        (CREATE, {**REPO, "title": "x", "labels": ["a"] * 51}, "labels has 51 items"),
        (UPDATE, {**REPO, "issue_number": 1.5, "title": "x"}, "issue_number has to be a whole"),
        (UPDATE, {**REPO, "issue_number": "1"}, "issue_number has to be a whole number"),
        (UPDATE, {**REPO, "issue_number": True}, "issue_number has to be a whole number"),
        (UPDATE, {**REPO, "issue_number": 2**60}, "issue_number has to be a whole number"),
        (UPDATE, {**REPO, "issue_number": 1, "state": "all"}, "state has to be one of open, c"),
        (COMMENT, {**REPO, "issue_number": 1}, "body is missing"),
        (COMMENT, {**REPO, "issue_number": 1, "body": " \n"}, "body is empty"),
    ],
)
def test_what_is_wrong_is_told(tool: str, args: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        checked(args, SCHEMAS[tool])
    assert text in str(caught.value)


def test_null_is_as_if_it_was_not_there_and_a_whole_float_is_a_number() -> None:
    args = {**REPO, "issue_number": 3.0, "title": None, "body": ""}
    given = checked(args, SCHEMAS[UPDATE])
    assert given == {**REPO, "issue_number": 3, "body": ""}
    assert type(given["issue_number"]) is int


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 200),
    st.floats(-3, 200),
    st.sampled_from(["o", "r", "open", "closed", "all", "a,b", "x" * 300]),
    st.lists(st.sampled_from(["bug", "x", 1]), max_size=3),
)
NAMES = st.sampled_from(
    ["owner", "repo", "title", "body", "state", "labels", "page", "per_page", "issue_number", "z"]
)


@given(st.sampled_from(sorted(SCHEMAS)), st.dictionaries(NAMES, VALUES, max_size=8))
def test_the_check_and_the_schema_agree(tool: str, args: dict[str, Any]) -> None:
    without_null = {name: value for name, value in args.items() if value is not None}
    fits = jsonschema.Draft202012Validator(SCHEMAS[tool]).is_valid(without_null)
    try:
        checked(args, SCHEMAS[tool])
    except ArgumentError:
        assert not fits
    else:
        assert fits


def test_the_name_of_an_argument_is_shown_without_control_characters() -> None:
    with pytest.raises(ArgumentError, match=r"there is no \\x1b\[31m, there are owner, repo"):
        checked({"owner": "o", "repo": "r", "\x1b[31m": 1}, SCHEMAS["pilot_issues_list"])


def test_labels_are_split_at_commas() -> None:
    assert labels_of(" a, b c ,,a,") == ["a", "b c"]
    assert labels_of("") == []
