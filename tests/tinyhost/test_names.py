from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.errors import InvalidCall
from tinyhost.names import check_name, name_problem


@pytest.mark.parametrize("name", ["a", "9", "safety-net", "a.b_c-d", "x" * 64])
def test_a_good_name_is_returned(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/a",
        "a..b",
        "-a",
        "_a",
        ".a",
        "A",
        "é",
        "a b",
        "a\n",
        "x" * 65,
    ],
)
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidCall, match="plugin name"):
        check_name(name)


@pytest.mark.parametrize("name", [None, 3, ["a"]])
def test_a_name_of_another_type_has_a_problem(name: object) -> None:
    assert name_problem(name) == "a plugin name must be a string"


@given(st.text(alphabet="abz09._-/A\n", max_size=70))
def test_every_accepted_name_is_one_plain_path_component(name: str) -> None:
    good = re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name) and ".." not in name
    assert (name_problem(name) is None) == bool(good)
