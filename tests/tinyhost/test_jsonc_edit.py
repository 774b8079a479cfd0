from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.jsonc import JsoncError, parse, plain
from tinyhost.jsonc_edit import append_item, remove_item, set_item, set_key

GAPS = st.lists(
    st.sampled_from([" ", "\n", "\r\n", "\t", "  ", "/* c, ] */", "// d ] ,\n", "/* m\n n */"]),
    max_size=3,
).map("".join)
ITEMS = st.lists(st.sampled_from(["1", '"two"', "[3, 3]", '{"four": 4}', "null"]), max_size=4)


@st.composite
def arrays(draw: st.DrawFn) -> str:
    """An array text with blanks, comments and perhaps a trailing comma anywhere."""
    items = draw(ITEMS)
    text = "[" + draw(GAPS)
    for index, item in enumerate(items):
        text += item + draw(GAPS)
        if index < len(items) - 1 or draw(st.booleans()):
            text += "," + draw(GAPS)
    return text + "]"


@st.composite
def files(draw: st.DrawFn) -> str:
    return draw(GAPS) + '{"before": 0, "list":' + draw(arrays()) + draw(GAPS) + "}" + draw(GAPS)


def is_subsequence(small: str, large: str) -> bool:
    rest = iter(large)
    return all(char in rest for char in small)


def comments(text: str) -> list[str]:
    return re.findall(r"/\*.*?\*/|//[^\r\n]*", text, re.DOTALL)


@given(files(), st.sampled_from(["x", ["n", {"o": 1}], 7]))
def test_appending_adds_one_item_and_changes_nothing_else(text: str, value: Any) -> None:
    new = append_item(text, ["list"], value)
    expected = plain(parse(text).root)
    expected["list"].append(value)
    assert plain(parse(new).root) == expected
    assert comments(new) == comments(text)
    assert is_subsequence(text, new)
    head = text.index('"list":')
    assert new[:head] == text[:head]
    assert new.endswith(text[parse(text).root.members[1].end - 1 :])


@given(files().filter(lambda text: plain(parse(text).root)["list"]), st.data())
def test_removing_takes_one_item_and_changes_nothing_else(text: str, data: st.DataObject) -> None:
    expected = plain(parse(text).root)
    index = data.draw(st.integers(0, len(expected["list"]) - 1))
    new = remove_item(text, ["list"], index)
    del expected["list"][index]
    assert plain(parse(new).root) == expected
    assert comments(new) == comments(text)
    assert is_subsequence(new, text)
    assert new.endswith(text[parse(text).root.members[1].end - 1 :])


@given(files(), st.sampled_from(["list", "before", "added"]))
def test_setting_a_key_changes_only_that_key(text: str, key: str) -> None:
    new = set_key(text, [key], {"set": True})
    assert plain(parse(new).root) == plain(parse(text).root) | {key: {"set": True}}
    if key == "added":
        assert comments(new) == comments(text)
        assert is_subsequence(text, new)


@given(arrays(), st.lists(st.integers(0, 3), max_size=6))
def test_an_appended_item_can_be_removed_again(array: str, values: list[int]) -> None:
    text = f'{{"list": {array}}}'
    count = len(plain(parse(text).root)["list"])
    for value in values:
        text = append_item(text, ["list"], value)
    for _ in values:
        text = remove_item(text, ["list"], count)
    assert len(plain(parse(text).root)["list"]) == count


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{"l": ["x"]}'),
        ("{\n}\n", '{\n  "l": ["x"]\n}\n'),
        ('{"l": null}', '{"l": ["x"]}'),
        ('{"l": []}', '{"l": ["x"]}'),
        ('{"l": [\n  ]}', '{"l": [\n    "x"\n  ]}'),
        ('{"l": [1]}', '{"l": [1, "x"]}'),
        ('{"l": [1,]}', '{"l": [1, "x",]}'),
        ('{\n  "l": [\n    1\n  ]\n}', '{\n  "l": [\n    1,\n    "x"\n  ]\n}'),
        ('{"l": [\n\t1, // one\n]}', '{"l": [\n\t1, // one\n\t"x",\n]}'),
        ('{"l": [\n  1 // one\n]}', '{"l": [\n  1, // one\n  "x"\n]}'),
        ('{"l": [\r\n  1\r\n]}', '{"l": [\r\n  1,\r\n  "x"\r\n]}'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "l": ["x"]\n}'),
    ],
)
def test_an_appended_item_follows_the_layout(before: str, after: str) -> None:
    assert append_item(before, ["l"], "x") == after


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("[1]", 0, "[]"),
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[1, 2,]", 1, "[1, ]"),
        ("[\n  1,\n  2\n]", 0, "[\n  2\n]"),
        ("[\n  1,\n  2\n]", 1, "[\n  1\n]"),
        ("[\n  1, // one\n  2 // two\n]", 1, "[\n  1 // one\n  // two\n]"),
        ("[\r\n  1,\r\n  2\r\n]", 1, "[\r\n  1\r\n]"),
        ("[\n  1\n  , 2\n]", 0, "[\n  2\n]"),
    ],
)
def test_removing_an_item_leaves_a_tidy_layout(before: str, index: int, after: str) -> None:
    assert remove_item(f'{{"l": {before}}}', ["l"], index) == f'{{"l": {after}}}'


def test_missing_objects_on_the_way_are_created() -> None:
    text = set_key('{"a": {"b": 1}}', ["a", "c", "d"], 2)
    assert text == '{"a": {"b": 1, "c": {"d": 2}}}'


def test_an_item_is_replaced_in_place() -> None:
    assert set_item('{"l": [1, /* c */ 2]}', ["l"], 1, ["x", {}]) == '{"l": [1, /* c */ ["x", {}]]}'


def test_the_last_of_repeated_keys_is_edited() -> None:
    assert append_item('{"l": [1], "l": [2]}', ["l"], 3) == '{"l": [1], "l": [2, 3]}'


@pytest.mark.parametrize(
    "edit",
    [
        lambda: append_item('{"l": 3}', ["l"], 1),
        lambda: append_item('{"l": 3}', ["l", "m"], 1),
        lambda: set_key("[]", ["l"], 1),
        lambda: remove_item('{"l": [1]}', ["l"], 1),
        lambda: remove_item('{"l": [1]}', ["m"], 0),
        lambda: set_item('{"l": {}}', ["l"], 0, 1),
        lambda: append_item("{", ["l"], 1),
        lambda: json.dumps(append_item("", [], 1)),
    ],
)
def test_an_impossible_edit_raises_the_one_error(edit: Any) -> None:
    with pytest.raises(JsoncError):
        edit()
