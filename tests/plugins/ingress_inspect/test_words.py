"""Lines as words, by HAProxy's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.ingress_inspect.words import words


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        *(("", []), ("   \t", []), ("# all", []), ("  #", []), ("a b", ["a", "b"])),
        *(("\ta\v b\r\n", ["a", "b"]), ("a#b c", ["a"]), ("a #b", ["a"]), ("a\\#b", ["a#b"])),
        *((r"a\ b c", ["a b", "c"]), (r"a\\ b", ["a\\", "b"]), (r"\"a\'", ["\"a'"])),
        *((r"\x41\x4b2", ["AK2"]), (r"\xZZ", [r"\xZZ"]), (r"a\q", [r"a\q"]), ("a\\", ["a\\"])),
        *((r"\n\r\t", ["\n\r\t"]), (r"a\$b", [r"a\$b"]), ("$HOME", ["$HOME"])),
        *(('"a # b" c', ["a # b", "c"]), ('"a\\"b"', ['a"b']), ('"\\$x"', ["$x"])),
        *(('"${HOME}/x"', ["${HOME}/x"]), ('"a\\\\" b', ["a\\", "b"]), ('"\'"', ["'"])),
        *(("'a \\# \"b'", ['a \\# "b']), ("a'b c'd", ["ab cd"]), ("a\"b\"'c'd", ["abcd"])),
        *(('""', [""]), ("'' a", ["", "a"]), ('"open # x', ["open # x"]), ("'open", ["open"])),
        *(('"open\\"', ['open"']), ('"\\q"', ["\\q"]), ("a\xa0b", ["a", "b"])),
    ],
)
def test_quotes_escapes_and_comments_are_read_as_haproxy_reads_them(
    line: str, expected: list[str]
) -> None:
    assert words(line) == expected


def test_all_spellings_of_a_format_are_the_same() -> None:
    lines = [
        r"log-format %{+Q}o\ %t\ %s\ %{-Q}r",
        'log-format "%{+Q}o %t %s %{-Q}r"',
        "log-format '%{+Q}o %t %s %{-Q}r'",
        "log-format \"%{+Q}o %t\"' %s %{-Q}r'",
        "log-format \"%{+Q}o %t\"' %s'\\ %{-Q}r",
    ]
    assert {tuple(words(line)) for line in lines} == {("log-format", "%{+Q}o %t %s %{-Q}r")}


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n\0"), max_size=20)


def strong(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def weak(text: str) -> str:
    return '"' + "".join("\\" + sign if sign in '"\\$' else sign for sign in text) + '"'


@given(st.lists(st.tuples(TEXT, st.sampled_from([strong, weak]))))
def test_what_is_quoted_comes_back_as_it_was(texts: list[tuple[str, object]]) -> None:
    line = "  ".join(quote(text) for text, quote in texts)  # type: ignore[operator]
    assert words(line + " # 'the \"end") == [text for text, _quote in texts]


@given(st.text(alphabet="ab \t\"'\\#x4$\u00e9", max_size=60))
def test_any_line_has_words_without_more_characters_than_it(line: str) -> None:
    assert sum(map(len, words(line))) <= len(line)


@pytest.mark.parametrize("piece", ["\\", '"', "'", '"\\', "\\x", "a'b' ", '"\\"', "a\\ "])
def test_a_hostile_line_takes_no_long_time(piece: str) -> None:
    assert words(piece * 200_000) is not None
