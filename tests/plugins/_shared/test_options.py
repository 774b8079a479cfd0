"""Options that are right, and what is said about those that are not."""

from __future__ import annotations

import pytest

from tinyhost_plugins._shared.options import (
    OptionError,
    check_names,
    check_url,
    number,
    one_of,
    texts,
)
from tinyhost_sdk import HandlerError

RANGES = {"rows": (1, 50, 1000)}


def test_a_wrong_option_is_told_to_the_host_in_its_own_words() -> None:
    assert issubclass(OptionError, HandlerError)


def test_a_name_that_is_not_known_is_refused_and_those_that_are_there_are_named() -> None:
    check_names({"rows": 1}, ("rows", "names"))
    with pytest.raises(OptionError, match='there is no option "row"; there are rows, names'):
        check_names({"row": 1}, ("rows", "names"))


@pytest.mark.parametrize(("value", "taken"), [(None, 50), (1, 1), (1000, 1000)])
def test_a_number_in_its_range_is_taken(value: object, taken: int) -> None:
    assert number({"rows": value}, "rows", RANGES) == taken
    assert number({}, "rows", RANGES) == 50


@pytest.mark.parametrize("value", [0, 1001, 1.0, True, "5", [5]])
def test_another_number_is_refused(value: object) -> None:
    with pytest.raises(OptionError, match='"rows" has to be a whole number from 1 to 1000'):
        number({"rows": value}, "rows", RANGES)


def test_texts_are_taken_in_their_order_and_may_have_a_default() -> None:
    assert texts({"names": ["b", "a"]}, "names", ("z",)) == ("b", "a")
    assert texts({"names": []}, "names", ("z",)) == ()
    assert texts({"names": None}, "names", ("z",)) == ("z",)
    assert texts({}, "names") == ()


@pytest.mark.parametrize("value", ["a", ("a",), [""], [" "], [1], {"a": 1}, False])
def test_other_lists_of_texts_are_refused(value: object) -> None:
    with pytest.raises(OptionError, match='"names" has to be a list of texts, none of them empty'):
        texts({"names": value}, "names")


def test_a_choice_is_one_of_those_that_there_are() -> None:
    assert one_of("mode", "note", ("note", "deny")) == "note"
    for value in ("Note", 1, None, []):
        with pytest.raises(OptionError, match='option "mode" has to be one of note, deny'):
            one_of("mode", value, ("note", "deny"))


def test_a_url_has_a_scheme_of_the_web_and_no_user() -> None:
    check_url("url", "https://example.com")
    check_url("url", "http://127.0.0.1:8080")
    for value in ("", "example.com", "ftp://example.com", "https://me:hunter2@example.com"):
        with pytest.raises(OptionError, match='option "url" has to be a URL') as caught:
            check_url("url", value)
        assert "hunter2" not in str(caught.value)
