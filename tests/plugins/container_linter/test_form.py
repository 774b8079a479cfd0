"""Flags and arrays of JSON."""

from __future__ import annotations

import pytest

from tinyhost_plugins.container_linter.form import FormError, json_words, split_flags
from tinyhost_plugins.container_linter.instruction import parse, split_words
from tinyhost_plugins.container_linter.lines import Line


@pytest.mark.parametrize(
    ("text", "flags", "rest"),
    [
        ("a b", (), "a b"),
        ("--from=x --link a b", ("--from=x", "--link"), "a b"),
        ("  --a=1\t b --c", ("--a=1",), "b --c"),
        ('--chown="a b" x', ("--chown=a b",), "x"),
        (r"--a=\"b\  x", ('--a="b ',), "x"),
        ("-- --a", (), "--a"),
        ("-a b", (), "-a b"),
        ("--a", ("--a",), ""),
        ("--a='b c", ("--a=b c",), ""),
        ("--a=b\\", ("--a=b\\",), ""),
    ],
)
def test_flags_stand_before_the_arguments(text: str, flags: tuple[str, ...], rest: str) -> None:
    assert split_flags(text) == (flags, rest)


def test_the_exec_form_is_an_array_of_strings() -> None:
    assert json_words('["a b", "c"]') == ("a b", "c")
    assert json_words("[]") == ()
    for shell in ("a", "[ -f x ]", '["a"] b', "['a']", "[" * 100_000):
        assert json_words(shell) is None
    with pytest.raises(FormError):
        json_words('["a", 1]')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b", ["a", "b"]),
        ("a='b c' d=\"e f\"", ["a='b c'", 'd="e f"']),
        (r"a=b\ c d", [r"a=b\ c", "d"]),
        (r"a='b\' c", [r"a='b\'", "c"]),
        ("a=b\\", ["a=b"]),
        ("'a b", ["'a b"]),
        ("", []),
    ],
)
def test_words_keep_quotes_and_escapes(text: str, words: list[str]) -> None:
    assert split_words(text, "\\") == words


def test_a_flag_of_an_instruction_can_be_asked_for() -> None:
    instruction = parse(Line(3, 3, "COPY --From=b --link x y"), "\\")
    assert (instruction.name, instruction.line, instruction.words) == ("COPY", 3, ("x", "y"))
    assert instruction.flag("from") == "b"
    assert instruction.flag("link") == ""
    assert instruction.flag("chown") is None
