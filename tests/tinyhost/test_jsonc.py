from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.jsonc import MAX_DEPTH, MAX_SIZE, JsoncError, Node, decode, parse, plain

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_what_json_writes_is_read_back(value: Any, indent: Any, ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    found = plain(parse(text).root)
    assert found == value
    assert json.dumps(found) == json.dumps(value)


@given(VALUES)
def test_every_node_covers_its_own_text(value: Any) -> None:
    text = json.dumps(value, indent=2)

    def check(node: Node) -> None:
        assert json.loads(text[node.start : node.end]) == plain(node)
        before = text[: node.start]
        assert node.line == before.count("\n") + 1
        assert node.column == node.start - (before.rfind("\n") + 1) + 1
        for item in node.items:
            check(item)
        for member in node.members:
            check(member.key)
            check(member.value)

    check(parse(text).root)


PIECES = ['"', "\\", "\\u", "d83d", "{", "}", "[", "]", ",", ":", "//", "/*", "*/", "\n", "\r", " "]
PIECES += ["1", "-", "0", ".", "e9", "true", "null", "NaN", '"a"', "\ud800", "\0", "é", "\ufeff"]


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_parses_or_raises_the_one_error(text: str) -> None:
    try:
        document = parse(text)
    except JsoncError as error:
        place = (error.line, error.column)
    else:
        place = (document.root.line, document.root.column)
        json.dumps(plain(document.root), ensure_ascii=False).encode("utf-8")
    assert min(place) >= 1


@given(st.binary())
def test_any_bytes_decode_or_raise_the_one_error(data: bytes) -> None:
    try:
        text = decode(data)
    except JsoncError:
        with pytest.raises(UnicodeDecodeError):
            data.decode("utf-8")
    else:
        assert text.encode("utf-8") == data


def test_comments_and_trailing_commas_are_allowed() -> None:
    text = """\ufeff// first
    {
        "a": [1, 2, /* two */ 3,], // not a comment: "//"
        "b": "/* text */ // text",
        /* last */
    } // end"""
    assert plain(parse(text).root) == {"a": [1, 2, 3], "b": "/* text */ // text"}


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("", 1, 1, "empty"),
        ("// only a comment\n", 2, 1, "empty"),
        ('{"a": }', 1, 7, "expected a value"),
        ('{"a" 1}', 1, 6, "':'"),
        ("{a: 1}", 1, 2, "double quotes"),
        ("{,}", 1, 2, "double quotes"),
        ('{"a": 1 "b": 2}', 1, 9, "','"),
        ("[1,,2]", 1, 4, "expected a value"),
        ("[1\n2]", 2, 1, "','"),
        ("[1, 2", 1, 6, "began at line 1, column 1"),
        ("[", 1, 2, "began at line 1, column 1"),
        ('\r\n\r\n  "abc', 3, 3, "no end"),
        ('"a\nb"', 1, 1, "no end"),
        ('"a\tb"', 1, 3, "control character"),
        (r'"\x"', 1, 2, "unknown escape"),
        (r'"\u12"', 1, 2, "four hexadecimal"),
        (r'"\ud800"', 1, 1, "surrogate"),
        (r'"\ud800\u0041"', 1, 1, "surrogate"),
        ("/* open", 1, 1, "comment has no end"),
        ("{} {}", 1, 4, "nothing may follow"),
        ("[NaN]", 1, 2, "NaN is not"),
        ("[-Infinity]", 1, 2, "Infinity is not"),
        ("[01]", 1, 2, "not a JSON value"),
        ("[1.]", 1, 2, "not a JSON value"),
        ("[+1]", 1, 2, "not a JSON value"),
        ("[yes]", 1, 2, "double quotes"),
        ("[1e999]", 1, 2, "too large"),
        ("[" + "1" * 5000 + "]", 1, 2, "too many digits"),
        ("'a'", 1, 1, "expected a value"),
    ],
)
def test_an_error_names_its_place_and_reason(
    text: str, line: int, column: int, reason: str
) -> None:
    with pytest.raises(JsoncError) as caught:
        parse(text)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (line, column)


def test_big_integers_and_float_spellings_keep_their_value() -> None:
    assert plain(parse("[18446744073709551617, 1.0, -0.0, 1E2]").root) == [
        2**64 + 1,
        1.0,
        -0.0,
        100.0,
    ]
    assert type(plain(parse("1.0").root)) is float


def test_surrogate_pairs_become_one_character() -> None:
    assert plain(parse(r'"\ud83d\ude00"').root) == "\U0001f600"


def test_a_repeated_key_is_reported_and_the_last_value_wins() -> None:
    document = parse('{"a": 1,\n "a": 2, "b": {"a": 3}}')
    assert plain(document.root) == {"a": 2, "b": {"a": 3}}
    assert [(key.value, key.line, key.column) for key in document.duplicates] == [("a", 2, 2)]
    found = document.root.get("a")
    assert found is not None
    assert found.value == 2


def test_depth_is_capped() -> None:
    parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(JsoncError, match="deeper"):
        parse("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


def test_size_is_capped_in_bytes() -> None:
    parse('"' + "x" * (MAX_SIZE - 2) + '"')
    with pytest.raises(JsoncError, match="larger"):
        parse('"' + "x" * (MAX_SIZE - 1) + '"')
    with pytest.raises(JsoncError, match="larger"):
        parse('"' + "é" * (MAX_SIZE // 2) + '"')
    with pytest.raises(JsoncError, match="larger"):
        decode(b" " * (MAX_SIZE + 1))


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(JsoncError) as caught:
        decode(b'{\n "\xc3\xa9\xff"}')
    assert (caught.value.line, caught.value.column) == (2, 4)
